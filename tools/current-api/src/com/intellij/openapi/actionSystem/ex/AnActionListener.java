// platform/editor-ui-api/src/com/intellij/openapi/actionSystem/ex/AnActionListener.java, with the result: 2021.3
package com.intellij.openapi.actionSystem.ex;

import com.intellij.openapi.actionSystem.AnAction;
import com.intellij.openapi.actionSystem.AnActionEvent;
import com.intellij.openapi.actionSystem.AnActionResult;
import com.intellij.util.messages.Topic;
import org.jetbrains.annotations.NotNull;

public interface AnActionListener {
  Topic<AnActionListener> TOPIC = new Topic<>("action changes", AnActionListener.class);

  default void beforeActionPerformed(@NotNull AnAction action, @NotNull AnActionEvent event) {
  }

  default void afterActionPerformed(@NotNull AnAction action, @NotNull AnActionEvent event, @NotNull AnActionResult result) {
  }
}
