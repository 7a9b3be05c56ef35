// platform/platform-api/src/com/intellij/openapi/wm/StatusBarWidgetFactory.java, 2020.1
package com.intellij.openapi.wm;

import com.intellij.openapi.project.Project;
import org.jetbrains.annotations.NotNull;

public interface StatusBarWidgetFactory {
  @NotNull String getId();

  @NotNull String getDisplayName();

  default @NotNull StatusBarWidget createWidget(@NotNull Project project) {
    throw new AssertionError();
  }
}
