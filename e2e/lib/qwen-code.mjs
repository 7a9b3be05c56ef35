// Finds and sets up Qwen Code. Its package is one bundle, whose parts have new names in each
// version.

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const FOLDER = path.dirname(
  createRequire(import.meta.url).resolve('@qwen-code/qwen-code/package.json'),
);

/** The CLI. */
export const QWEN = path.join(FOLDER, 'cli-entry.js');

/** The part of the bundle with the client's class. */
export const QWEN_CLIENT = (() => {
  const chunks = path.join(FOLDER, 'chunks');
  const has = (name) => fs.readFileSync(path.join(chunks, name)).includes('class _IdeClient ');
  const found = fs.readdirSync(chunks).filter((name) => name.endsWith('.js') && has(name));
  if (found.length !== 1) throw new Error(`the class IdeClient is in ${found.length} pieces`);
  return path.join(chunks, found[0]);
})();

/** Creates the folder of a Qwen Code user in `home`. */
export function qwenHome({ home }) {
  const folder = path.join(home, '.qwen');
  fs.mkdirSync(folder, { recursive: true });
  return folder;
}

/** Returns the discovery files in Qwen Code's folder, each with its content. */
export function locks(home) {
  const folder = path.join(home, 'ide');
  if (!fs.existsSync(folder)) return [];
  const names = fs.readdirSync(folder).filter((name) => name.endsWith('.lock'));
  return names.map((name) => path.join(folder, name));
}

/** Returns the content of a lock file. */
export const lock = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));

const SETTINGS = {
  security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } },
  tools: { approvalMode: 'default' },
  general: { enableAutoUpdate: false },
  // A suggestion is another question to the model, and shows the answer in the terminal.
  ui: { enableFollowupSuggestions: false },
  // After each turn it asks the model what to remember, and repeats that for 20 s without an answer.
  memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false, enableAutoSkill: false },
  privacy: { usageStatisticsEnabled: false },
};

/** Writes settings into the folder `home`, so that the CLI runs without an account. */
export function prepare(home, { ide = { enabled: true }, tools, memory = SETTINGS.memory } = {}) {
  const settings = {
    ...SETTINGS,
    memory,
    ide: { hasSeenNudge: true, ...ide },
    tools: { ...SETTINGS.tools, ...tools },
  };
  fs.writeFileSync(path.join(home, 'settings.json'), JSON.stringify(settings));
}

/**
 * Returns the CLI's environment. No program listens at the proxy, so nothing leaves the machine.
 */
export const environment = (model) => ({
  OPENAI_API_KEY: 'none',
  OPENAI_BASE_URL: model,
  OPENAI_MODEL: 'script',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  HTTP_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1',
});

/** Returns the model's answers: calls to read and to write a file, then a text. */
export const overwrites = (file_path, content) => [
  { name: 'read_file', args: { file_path } },
  { name: 'write_file', args: { file_path, content } },
  'That was all.',
];
