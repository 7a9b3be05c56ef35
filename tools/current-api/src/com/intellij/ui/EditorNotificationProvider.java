// platform/platform-api/src/com/intellij/ui/EditorNotificationProvider.java, 2021.3
package com.intellij.ui;

import com.intellij.openapi.fileEditor.FileEditor;
import com.intellij.openapi.project.PossiblyDumbAware;
import com.intellij.openapi.project.Project;
import com.intellij.openapi.vfs.VirtualFile;
import java.util.function.Function;
import javax.swing.JComponent;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

public interface EditorNotificationProvider extends PossiblyDumbAware {
  @Nullable Function<? super FileEditor, ? extends JComponent> collectNotificationData(
    @NotNull Project project, @NotNull VirtualFile file);
}
