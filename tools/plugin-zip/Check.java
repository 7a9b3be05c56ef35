// Reads the zip of a plugin as JetBrains Marketplace does on an upload, and fails with all that it finds wrong:
//
//     java -cp JARS Check.java ZIP

import com.jetbrains.plugin.structure.base.plugin.PluginCreationFail;
import com.jetbrains.plugin.structure.base.plugin.PluginCreationSuccess;
import com.jetbrains.plugin.structure.base.problems.PluginProblem;
import com.jetbrains.plugin.structure.intellij.plugin.IdePlugin;
import com.jetbrains.plugin.structure.intellij.plugin.IdePluginManager;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

class Check {
    public static void main(String[] args) {
        var problems = new ArrayList<PluginProblem>();
        var read = IdePluginManager.createManager().createPlugin(Path.of(args[0]));
        if (read instanceof PluginCreationFail<IdePlugin> fail) {
            problems.addAll(fail.getErrorsAndWarnings());
        } else if (read instanceof PluginCreationSuccess<IdePlugin> success) {
            problems.addAll(success.getWarnings());
            problems.addAll(success.getUnacceptableWarnings());
            IdePlugin plugin = success.getPlugin();
            System.out.println(plugin.getPluginId() + " " + plugin.getPluginVersion() + ", since " + plugin.getSinceBuild());
        }
        for (PluginProblem problem : problems) System.err.println(problem.getLevel() + ": " + problem.getMessage());
        System.exit(problems.isEmpty() ? 0 : 1);
    }
}
