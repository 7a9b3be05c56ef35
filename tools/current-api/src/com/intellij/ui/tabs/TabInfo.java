// platform/platform-api/src/com/intellij/ui/tabs/TabInfo.kt, isPinned: 2021
package com.intellij.ui.tabs;

import javax.swing.JComponent;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

public final class TabInfo {
  public TabInfo(@NotNull JComponent component) {
  }

  public native boolean isPinned();

  public native @Nullable Object getObject();

  public native @NotNull JComponent getComponent();

  public native @NotNull String getText();
}
