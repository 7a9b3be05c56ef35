// plugins/terminal/src/org/jetbrains/plugins/terminal/TerminalToolWindowManager.java, 2023.1
package org.jetbrains.plugins.terminal;

import com.intellij.openapi.project.Project;
import com.intellij.terminal.ui.TerminalWidget;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

public final class TerminalToolWindowManager {
  public static native TerminalToolWindowManager getInstance(@NotNull Project project);

  public native @NotNull TerminalWidget createShellWidget(
    @Nullable String workingDirectory,
    @Nullable String tabName,
    boolean requestFocus,
    boolean deferSessionStartUntilUiShown);
}
