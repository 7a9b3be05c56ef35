// platform/projectModel-api/src/com/intellij/openapi/roots/ModuleRootListener.java, TOPIC: 2022.1
package com.intellij.openapi.roots;

import com.intellij.util.messages.Topic;
import java.util.EventListener;
import org.jetbrains.annotations.NotNull;

public interface ModuleRootListener extends EventListener {
  Topic<ModuleRootListener> TOPIC = Topic.create("ModuleRootListener", ModuleRootListener.class);

  default void rootsChanged(@NotNull ModuleRootEvent event) {
  }
}
