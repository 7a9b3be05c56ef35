// Writes the settings that the IDE reads when it starts and opens a project.

import fs from 'node:fs';
import path from 'node:path';

const SETTINGS = {
  'modules.xml': `<project version="4">
  <component name="ProjectModuleManager">
    <modules>
      <module fileurl="file://$PROJECT_DIR$/.idea/project.iml" filepath="$PROJECT_DIR$/.idea/project.iml"/>
    </modules>
  </component>
</project>
`,
  'project.iml': `<module type="EMPTY_MODULE" version="4">
  <component name="NewModuleRootManager">
    <content url="file://$MODULE_DIR$"/>
  </component>
</module>
`,
  'jsonCatalog.xml': `<project version="4">
  <component name="JsonSchemaCatalogProjectConfiguration">
    <remoteActivityEnabled>false</remoteActivityEnabled>
  </component>
</project>
`,
};

const DARK = {
  'laf.xml': `<application>
  <component name="LafManager">
    <laf class-name="com.intellij.ide.ui.laf.darcula.DarculaLaf"/>
  </component>
</application>
`,
  'colors.scheme.xml': `<application>
  <component name="EditorColorsManagerImpl">
    <global_color_scheme name="Darcula"/>
  </component>
</application>
`,
};

function write(folder, settings) {
  fs.mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(settings)) {
    fs.writeFileSync(path.join(folder, name), text);
  }
}

/** Sets the dark theme in an IDE's settings. */
export function writeDarkTheme(config) {
  write(path.join(config, 'options'), DARK);
}

/** Adds all files of the folder to the project, and disables the download of schemas. */
export function writeProjectSettings(project) {
  write(path.join(project, '.idea'), SETTINGS);
}
