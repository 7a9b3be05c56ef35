// platform/platform-api/src/com/intellij/ui/components/ActionLink.kt, 2020.3
package com.intellij.ui.components;

import java.awt.event.ActionListener;
import javax.swing.JButton;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

public class ActionLink extends JButton {
  public ActionLink(@NotNull String text, @Nullable ActionListener listener) {
  }
}
