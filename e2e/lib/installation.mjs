// Creates a made-up installation of an IDE that `gemini-companion setup` finds.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const ZIP = `
import io, os, sys, zipfile
_, zip, version = sys.argv
jar = io.BytesIO()
xml = f"<idea-plugin><id>dev.companion.gemini</id><version>{version}</version></idea-plugin>"
with zipfile.ZipFile(jar, "w") as file:
    file.writestr("META-INF/plugin.xml", xml)
with zipfile.ZipFile(zip, "w") as file:
    file.writestr("companion-for-gemini-cli/lib/x.jar", jar.getvalue())
    file.writestr("companion-for-gemini-cli/native/x.so", os.urandom(200_000))
`;

/** Creates an IDE with that product information; returns its folder. */
export function installation(sandbox, product, home = sandbox.folder('opt', 'idea')) {
  fs.writeFileSync(path.join(home, 'product-info.json'), JSON.stringify(product));
  return home;
}

/** Creates an IDE and a zip to install into it; returns the arguments with both. */
export function installIde(sandbox, version = '1.0', folder = undefined) {
  const product = {
    name: 'IntelliJ IDEA',
    version: '2025.1',
    buildNumber: '251.23774.435',
    productCode: 'IU',
    dataDirectoryName: 'IntelliJIdea2025.1',
  };
  const home = installation(sandbox, product, folder);
  const zip = path.join(sandbox.root, 'plugin.zip');
  execFileSync('python3', ['-c', ZIP, zip, version]);
  return [home, '--plugin', zip];
}
