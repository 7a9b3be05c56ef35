// Bundles Gemini CLI's IDE client into one file, because loading its hundreds of modules takes most
// of a second, and each process of a test loads it.

import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

const CORE = new URL('../node_modules/@google/gemini-cli-core/', import.meta.url);

/** The bundle. It lies in the client's package, so another version of the package has none yet. */
export const BUNDLE = fileURLToPath(new URL('ide-client-bundle.mjs', CORE));

const PARTS = ['ide/ide-client.js', 'ide/ideContext.js', 'utils/trust.js'];

/** Some of its modules are CommonJS. */
const REQUIRE = `import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);`;

/** Makes the bundle if there is none. Tests that run at the same time may all make it. */
export async function bundleClient() {
  if (fs.existsSync(BUNDLE)) return;
  // The client's own process needs only the name of the bundle.
  const { buildSync } = await import('esbuild-wasm');
  const part = `${BUNDLE}.${process.pid}`;
  buildSync({
    stdin: {
      contents: PARTS.map((name) => `export * from './dist/src/${name}';`).join('\n'),
      resolveDir: fileURLToPath(CORE),
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: part,
    banner: { js: REQUIRE },
    logLevel: 'error',
  });
  fs.renameSync(part, BUNDLE);
}
