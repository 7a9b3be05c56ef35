// plugins/terminal/src/org/jetbrains/plugins/terminal/TerminalToolWindowManager.java, 2023.1
package org.jetbrains.plugins.terminal;

import com.intellij.openapi.project.Project;
import com.intellij.openapi.wm.ToolWindow;
import com.intellij.terminal.ui.TerminalWidget;
import com.intellij.ui.content.Content;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

public final class TerminalToolWindowManager {
  public static native TerminalToolWindowManager getInstance(@NotNull Project project);

  public static native @Nullable TerminalWidget findWidgetByContent(@NotNull Content content);

  public native ToolWindow getToolWindow();

  public native @NotNull TerminalWidget createShellWidget(
    @Nullable String workingDirectory,
    @Nullable String tabName,
    boolean requestFocus,
    boolean deferSessionStartUntilUiShown);
}
