// platform/vcs-api/src/com/intellij/openapi/vcs/AbstractVcs.java, without a type parameter: 2019.3
package com.intellij.openapi.vcs;

import com.intellij.openapi.options.Configurable;
import com.intellij.openapi.project.Project;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

public abstract class AbstractVcs {
  public AbstractVcs(@NotNull Project project, String name) {
  }

  public abstract @NotNull String getDisplayName();

  public @Nullable Configurable getConfigurable() {
    return null;
  }
}
