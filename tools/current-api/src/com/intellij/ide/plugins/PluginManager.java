// platform/core-impl/src/com/intellij/ide/plugins/PluginManager.java, 2020.1
package com.intellij.ide.plugins;

import com.intellij.openapi.extensions.PluginId;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

public final class PluginManager {
  public static native @NotNull PluginManager getInstance();

  public native @Nullable IdeaPluginDescriptor findEnabledPlugin(@NotNull PluginId id);
}
