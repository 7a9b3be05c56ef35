// Adds the code of the GUI designer's forms to the compiled classes, as the IDE's own build does.

import com.intellij.compiler.instrumentation.InstrumentationClassFinder;
import com.intellij.compiler.instrumentation.InstrumenterClassWriter;
import com.intellij.uiDesigner.compiler.AlienFormFileException;
import com.intellij.uiDesigner.compiler.AsmCodeGenerator;
import com.intellij.uiDesigner.compiler.FormErrorInfo;
import com.intellij.uiDesigner.compiler.NestedFormLoader;
import com.intellij.uiDesigner.compiler.Utils;
import com.intellij.uiDesigner.lw.CompiledClassPropertiesProvider;
import com.intellij.uiDesigner.lw.LwRootContainer;
import org.objectweb.asm.ClassWriter;

import java.io.File;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

public final class FormsCompiler {
  private final File classes;
  private final InstrumentationClassFinder finder;
  /** The forms by the path that other forms name them by. */
  private final Map<String, Path> forms = new TreeMap<>();
  private int errors;

  /** Arguments: the folder with the classes, their class path, and the source roots. */
  public static void main(String[] args) throws Exception {
    FormsCompiler compiler = new FormsCompiler(new File(args[0]), args[1]);
    for (int i = 2; i < args.length; i++) compiler.collect(Paths.get(args[i]));
    for (Path form : compiler.forms.values()) compiler.compile(form);
    System.out.println(compiler.forms.size() + " forms, " + compiler.errors + " errors");
    if (compiler.errors > 0) System.exit(1);
  }

  private FormsCompiler(File classes, String classPath) throws Exception {
    this.classes = classes;
    List<URL> path = new ArrayList<>();
    path.add(classes.toURI().toURL());
    for (String jar : classPath.split(File.pathSeparator)) path.add(new File(jar).toURI().toURL());
    URL jdk = InstrumentationClassFinder.createJDKPlatformUrl(System.getProperty("java.home"));
    finder = new InstrumentationClassFinder(new URL[]{jdk}, path.toArray(new URL[0]));
  }

  private void collect(Path root) throws Exception {
    try (Stream<Path> files = Files.walk(root)) {
      files.filter(file -> file.toString().endsWith(".form"))
        .forEach(file -> forms.put(root.relativize(file).toString(), file));
    }
  }

  private void compile(Path form) throws Exception {
    LwRootContainer root;
    try {
      root = load(form);
    }
    catch (AlienFormFileException e) {
      return; // Another tool's file of the same ending
    }
    String className = root.getClassToBind();
    if (className == null) return; // Only used inside of other forms
    File classFile = new File(classes, binaryName(className) + ".class");
    InstrumenterClassWriter writer = new InstrumenterClassWriter(ClassWriter.COMPUTE_FRAMES, finder);
    AsmCodeGenerator generator = new AsmCodeGenerator(root, finder, new NestedForms(), false, writer);
    generator.patchFile(classFile);
    for (FormErrorInfo error : generator.getErrors()) {
      System.out.println("error: " + form + ": " + error.getErrorMessage());
      errors++;
    }
  }

  private LwRootContainer load(Path form) throws Exception {
    return Utils.getRootContainer(form.toUri().toURL(), new CompiledClassPropertiesProvider(finder.getLoader()));
  }

  /** A form names an inner class with dots: tries package/Outer/Inner, then package/Outer$Inner. */
  private String binaryName(String className) {
    String name = className.replace('.', '/');
    while (!new File(classes, name + ".class").exists()) {
      int slash = name.lastIndexOf('/');
      if (slash < 0) throw new IllegalStateException("no class " + className);
      name = name.substring(0, slash) + '$' + name.substring(slash + 1);
    }
    return name;
  }

  private final class NestedForms implements NestedFormLoader {
    @Override
    public LwRootContainer loadForm(String name) throws Exception {
      Path form = forms.get(name);
      if (form == null) throw new IllegalStateException("no form " + name);
      return load(form);
    }

    @Override
    public String getClassToBindName(LwRootContainer container) {
      return binaryName(container.getClassToBind()).replace('/', '.');
    }
  }
}
