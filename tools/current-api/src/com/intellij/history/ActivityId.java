// platform/lvcs-api/src/com/intellij/history/ActivityId.kt, 2024.1
package com.intellij.history;

import org.jetbrains.annotations.NotNull;

public final class ActivityId {
  public ActivityId(@NotNull String providerId, @NotNull String kind) {
  }
}
