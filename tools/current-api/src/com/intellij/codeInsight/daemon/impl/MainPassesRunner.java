// platform/lang-impl/src/com/intellij/codeInsight/daemon/impl/MainPassesRunner.java, 2022.1
package com.intellij.codeInsight.daemon.impl;

import com.intellij.codeInspection.InspectionProfile;
import com.intellij.openapi.editor.Document;
import com.intellij.openapi.project.Project;
import com.intellij.openapi.vfs.VirtualFile;
import java.util.List;
import java.util.Map;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

public final class MainPassesRunner {
  public MainPassesRunner(
      @NotNull Project project, @NotNull String title, @Nullable InspectionProfile inspectionProfile) {
    throw new AssertionError();
  }

  public @NotNull Map<Document, List<HighlightInfo>> runMainPasses(
      @NotNull List<? extends VirtualFile> filesToCheck) {
    throw new AssertionError();
  }
}
