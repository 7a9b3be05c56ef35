// platform/platform-api/src/com/intellij/openapi/wm/StatusBarWidget.java, install by default: 2022.3
package com.intellij.openapi.wm;

import com.intellij.openapi.Disposable;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

public interface StatusBarWidget extends Disposable {
  @NotNull String ID();

  default @Nullable WidgetPresentation getPresentation() {
    return null;
  }

  default void install(@NotNull StatusBar statusBar) {
  }

  @Override
  default void dispose() {
  }

  interface WidgetPresentation {
  }
}
