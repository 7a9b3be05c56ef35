// platform/platform-impl/src/com/intellij/ide/impl/ProjectUtil.kt, openOrImport(Path, Project, boolean): 2020.2, focusProjectWindow: 2018.3
package com.intellij.ide.impl;

import com.intellij.openapi.project.Project;
import java.nio.file.Path;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

public final class ProjectUtil {
  private ProjectUtil() {
  }

  public static native @Nullable Project openOrImport(
    @NotNull Path path, @Nullable Project projectToClose, boolean forceOpenInNewFrame);

  public static native void focusProjectWindow(@Nullable Project project, boolean stealFocusIfAppInactive);
}
