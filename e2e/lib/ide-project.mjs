// Owns the settings of a project that the IDE finds when it opens it.

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

/** Makes all files of the folder belong to the project; and has schemas not looked for on the web. */
export function writeProjectSettings(project) {
  const folder = path.join(project, '.idea');
  fs.mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(SETTINGS)) {
    fs.writeFileSync(path.join(folder, name), text);
  }
}
