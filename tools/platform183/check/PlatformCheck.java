// Proves that a built platform works: opens a project, edits a file, hears of it, compares two texts.

import com.intellij.diff.DiffContentFactory;
import com.intellij.diff.DiffManager;
import com.intellij.diff.DiffRequestPanel;
import com.intellij.diff.requests.SimpleDiffRequest;
import com.intellij.openapi.Disposable;
import com.intellij.openapi.application.ApplicationStarter;
import com.intellij.openapi.command.WriteCommandAction;
import com.intellij.openapi.editor.Editor;
import com.intellij.openapi.editor.EditorFactory;
import com.intellij.openapi.editor.EditorKind;
import com.intellij.openapi.editor.event.CaretEvent;
import com.intellij.openapi.editor.event.CaretListener;
import com.intellij.openapi.fileEditor.FileEditorManager;
import com.intellij.openapi.fileEditor.FileEditorManagerListener;
import com.intellij.openapi.fileEditor.TextEditor;
import com.intellij.openapi.project.Project;
import com.intellij.openapi.util.Disposer;
import com.intellij.openapi.vfs.LocalFileSystem;
import com.intellij.openapi.vfs.VirtualFile;
import com.intellij.platform.PlatformProjectOpenProcessor;
import com.intellij.psi.PsiManager;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import org.jetbrains.annotations.NotNull;

public final class PlatformCheck implements ApplicationStarter {
  private final List<String> events = new ArrayList<>();

  @Override
  public String getCommandName() {
    return "check";
  }

  @Override
  public void premain(String[] args) {
  }

  /** Called on the UI thread; the second argument is the project's folder. */
  @Override
  public void main(String[] args) {
    int status = 1;
    try {
      check(LocalFileSystem.getInstance().refreshAndFindFileByPath(args[1]));
      System.out.println("the platform works");
      status = 0;
    }
    catch (Throwable problem) {
      problem.printStackTrace(System.out);
    }
    // Leaves no time to save or to ask.
    Runtime.getRuntime().halt(status);
  }

  private void check(VirtualFile folder) {
    expect(kotlin.KotlinVersion.CURRENT.isAtLeast(2, 2), "Kotlin's library is " + kotlin.KotlinVersion.CURRENT);
    Project project = PlatformProjectOpenProcessor.doOpenProject(
      folder, null, -1, null, EnumSet.noneOf(PlatformProjectOpenProcessor.Option.class));
    Disposable listeners = Disposer.newDisposable();
    listen(project, listeners);

    VirtualFile file = folder.findChild("a.json");
    Editor editor = ((TextEditor)FileEditorManager.getInstance(project).openFile(file, true)[0]).getEditor();
    editor.getCaretModel().moveToOffset(1);
    WriteCommandAction.runWriteCommandAction(project, () -> editor.getDocument().insertString(0, " "));
    // A caret that only moves along with the text is no event.
    expect(events.equals(Arrays.asList("opened a.json", "caret 1")), "events: " + events);
    expect(editor.getCaretModel().getOffset() == 2, "the caret is at " + editor.getCaretModel().getOffset());
    String language = PsiManager.getInstance(project).findFile(file).getLanguage().getID();
    expect(language.equals("JSON"), "the language of a.json is " + language);

    DiffContentFactory contents = DiffContentFactory.getInstance();
    DiffRequestPanel diff = DiffManager.getInstance().createRequestPanel(project, listeners, null);
    diff.setRequest(new SimpleDiffRequest(
      "check", contents.create(project, "a\n"), contents.create(project, "b\n"), "left", "right"));
    long sides = Arrays.stream(EditorFactory.getInstance().getAllEditors())
      .filter(side -> side.getEditorKind() == EditorKind.DIFF).count();
    expect(sides == 2, "the diff has " + sides + " editors");
    Disposer.dispose(listeners);
  }

  private void listen(Project project, Disposable listeners) {
    project.getMessageBus().connect(listeners).subscribe(
      FileEditorManagerListener.FILE_EDITOR_MANAGER,
      new FileEditorManagerListener() {
        @Override
        public void fileOpened(@NotNull FileEditorManager source, @NotNull VirtualFile file) {
          events.add("opened " + file.getName());
        }
      });
    EditorFactory.getInstance().getEventMulticaster().addCaretListener(new CaretListener() {
      @Override
      public void caretPositionChanged(CaretEvent event) {
        events.add("caret " + event.getNewPosition().column);
      }
    }, listeners);
  }

  private static void expect(boolean holds, String problem) {
    if (!holds) throw new AssertionError(problem);
  }
}
