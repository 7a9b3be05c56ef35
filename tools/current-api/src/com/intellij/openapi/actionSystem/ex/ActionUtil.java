// platform/platform-api/src/com/intellij/openapi/actionSystem/ex/ActionUtil.java, performActionDumbAwareWithCallbacks(AnAction, AnActionEvent): 2021.3
package com.intellij.openapi.actionSystem.ex;

import com.intellij.openapi.actionSystem.AnAction;
import com.intellij.openapi.actionSystem.AnActionEvent;
import org.jetbrains.annotations.NotNull;

public final class ActionUtil {
  private ActionUtil() {
  }

  public static native void performActionDumbAwareWithCallbacks(@NotNull AnAction action, @NotNull AnActionEvent e);
}
