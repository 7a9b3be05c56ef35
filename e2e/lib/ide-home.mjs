// Starts an IDE: the platform of 2018.3, or an installed IDE of today.
//
// An installed IDE is started by its own launcher. The variables `<BASE>_PROPERTIES` and
// `<BASE>_VM_OPTIONS` name its files of properties and of JVM options. `product-info.json` contains
// BASE and the launcher.

import fs from 'node:fs';
import path from 'node:path';

/** Disables the dialogs of the first start, and all requests to the internet. */
const QUIET = {
  'jb.consents.confirmation.enabled': false,
  'jb.privacy.policy.text': '<!--999.999-->',
  'idea.suppress.statistics.report': true,
  'idea.trust.all.projects': true,
  'idea.initially.ask.config': 'never',
  'ide.show.tips.on.startup.default.value': false,
  'ide.newUsersOnboarding': false,
  'ide.no.platform.update': true,
  nosplash: true,
};

/** Returns the folder with product-info.json. On macOS it is deeper. */
function resources(home) {
  const mac = path.join(home, 'Contents/Resources');
  return fs.existsSync(mac) ? mac : home;
}

/** Returns the product information of an installed IDE, or nothing for the platform of 2018.3. */
export function productInfo(home) {
  const file = path.join(resources(home), 'product-info.json');
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : undefined;
}

/** Returns a part of the title of the project's window. */
export function windowTitle(home, project) {
  return productInfo(home) ? path.basename(project) : ' - IntelliJ Platform$';
}

/** Returns a program of the IDE's JDK. */
export function javaProgram(home, name) {
  const runtimes = ['jdk', 'jbr', 'Contents/jbr/Contents/Home', '../jbr/Contents/Home'];
  const found = runtimes
    .map((runtime) => path.join(home, runtime, 'bin', name))
    .find(fs.existsSync);
  return found ?? name;
}

/**
 * Returns the command that opens `project`, as `{program, args, env}`. Settings, caches and the log
 * are below the folder `profile`, plugins in the folder `plugins`. `java` are further arguments of
 * the JVM.
 */
export function launch(home, { profile, plugins, java, project }) {
  const info = productInfo(home);
  if (!info) {
    const args = ['--sandbox', profile, '--plugins', plugins];
    for (const argument of java) args.push('--java', argument);
    return { program: path.join(home, 'bin/idea.sh'), args: [...args, project], env: {} };
  }
  const [{ launcherPath }] = info.launch;
  const folders = { config: 'config', system: 'system', log: 'log' };
  const properties = Object.entries(folders).map(
    ([name, folder]) => `idea.${name}.path=${path.join(profile, folder)}`,
  );
  properties.push(`idea.plugins.path=${plugins}`);
  const options = Object.entries(QUIET).map(([name, value]) => `-D${name}=${value}`);
  fs.mkdirSync(profile, { recursive: true });
  const file = (name, lines) => {
    const written = path.join(profile, name);
    fs.writeFileSync(written, `${lines.join('\n')}\n`);
    return written;
  };
  const base = info.envVarBaseName ?? 'IDEA';
  return {
    program: path.join(resources(home), launcherPath),
    args: [project],
    env: {
      [`${base}_PROPERTIES`]: file('idea.properties', properties),
      [`${base}_VM_OPTIONS`]: file('idea.vmoptions', ['-Xmx1500m', ...options, ...java]),
    },
  };
}
