// Owns where Qwen Code is: its package is one bundle, whose pieces are named anew in each version.

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const FOLDER = path.dirname(
  createRequire(import.meta.url).resolve('@qwen-code/qwen-code/package.json'),
);

/** The CLI itself. */
export const QWEN = path.join(FOLDER, 'cli-entry.js');

/** The piece of the bundle in which the class is. */
export const QWEN_CLIENT = (() => {
  const chunks = path.join(FOLDER, 'chunks');
  const has = (name) => fs.readFileSync(path.join(chunks, name)).includes('class _IdeClient ');
  const found = fs.readdirSync(chunks).filter((name) => name.endsWith('.js') && has(name));
  if (found.length !== 1) throw new Error(`the class IdeClient is in ${found.length} pieces`);
  return path.join(chunks, found[0]);
})();

/** The folder of a user who has used Qwen Code, `home` being theirs. */
export function qwenHome({ home }) {
  const folder = path.join(home, '.qwen');
  fs.mkdirSync(folder, { recursive: true });
  return folder;
}

/** The discovery files in the folder of Qwen Code, each with its content. */
export function locks(home) {
  const folder = path.join(home, 'ide');
  if (!fs.existsSync(folder)) return [];
  const names = fs.readdirSync(folder).filter((name) => name.endsWith('.lock'));
  return names.map((name) => path.join(folder, name));
}

/** What a lock file says. */
export const lock = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));

const SETTINGS = {
  security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } },
  tools: { approvalMode: 'default' },
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
};

/** Writes settings into the folder `home`, by which the CLI runs without an account. */
export function prepare(home, { ide = { enabled: true }, tools } = {}) {
  const settings = {
    ...SETTINGS,
    ide: { hasSeenNudge: true, ...ide },
    tools: { ...SETTINGS.tools, ...tools },
  };
  fs.writeFileSync(path.join(home, 'settings.json'), JSON.stringify(settings));
}

/** What it needs in its environment. Nothing listens at the proxy, so nothing leaves the machine. */
export const environment = (model) => ({
  OPENAI_API_KEY: 'none',
  OPENAI_BASE_URL: model,
  OPENAI_MODEL: 'script',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  HTTP_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1',
});

/** What the model says: to read a file, to write it, then that it has. */
export const overwrites = (file_path, content) => [
  { name: 'read_file', args: { file_path } },
  { name: 'write_file', args: { file_path, content } },
  'That was all.',
];
