// platform/editor-ui-api/src/com/intellij/openapi/actionSystem/AnAction.java, getActionUpdateThread: 2022.1
package com.intellij.openapi.actionSystem;

import com.intellij.openapi.Disposable;
import com.intellij.openapi.project.PossiblyDumbAware;
import javax.swing.JComponent;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

public abstract class AnAction implements PossiblyDumbAware {
  public AnAction() {
  }

  public @NotNull ActionUpdateThread getActionUpdateThread() {
    return ActionUpdateThread.EDT;
  }

  public abstract void actionPerformed(@NotNull AnActionEvent e);

  public void update(@NotNull AnActionEvent e) {
  }

  public final native @NotNull Presentation getTemplatePresentation();

  public final native void registerCustomShortcutSet(
    @NotNull ShortcutSet shortcutSet, @Nullable JComponent component, @Nullable Disposable parentDisposable);

  public final native void registerCustomShortcutSet(
    @Nullable JComponent component, @Nullable Disposable parentDisposable);

  public final native @NotNull ShortcutSet getShortcutSet();
}
