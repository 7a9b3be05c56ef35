// platform/lvcs-api/src/com/intellij/history/LocalHistory.kt, putEventLabel: 2024.1
package com.intellij.history;

import com.intellij.openapi.project.Project;
import org.jetbrains.annotations.NotNull;

public abstract class LocalHistory {
  public static native @NotNull LocalHistory getInstance();

  public abstract @NotNull Label putEventLabel(
    @NotNull Project project, @NotNull String name, @NotNull ActivityId activityId);
}
