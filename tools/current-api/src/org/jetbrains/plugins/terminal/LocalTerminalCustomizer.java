// plugins/terminal/src/org/jetbrains/plugins/terminal/LocalTerminalCustomizer.java, 2021.2
package org.jetbrains.plugins.terminal;

import com.intellij.openapi.project.Project;
import java.util.Map;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

public abstract class LocalTerminalCustomizer {
  public String[] customizeCommandAndEnvironment(
    @NotNull Project project,
    @Nullable String workingDirectory,
    @NotNull String[] command,
    @NotNull Map<String, String> envs) {
    return command;
  }
}
