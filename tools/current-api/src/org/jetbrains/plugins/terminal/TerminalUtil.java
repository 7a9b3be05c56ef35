// plugins/terminal/src/org/jetbrains/plugins/terminal/TerminalUtil.java, 2023.1
package org.jetbrains.plugins.terminal;

import com.jediterm.terminal.TtyConnector;
import org.jetbrains.annotations.NotNull;

public final class TerminalUtil {
  public static native boolean hasRunningCommands(@NotNull TtyConnector connector) throws IllegalStateException;
}
