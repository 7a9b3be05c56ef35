// Owns what Gemini CLI itself needs to run without an account: settings, and a script for a model.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const GEMINI = fileURLToPath(
  new URL('../node_modules/@google/gemini-cli/bundle/gemini.js', import.meta.url),
);

const SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
  ide: { enabled: true, hasSeenNudge: true },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
  privacy: { usageStatisticsEnabled: false },
  model: { name: 'gemini-2.5-flash' },
};

/** What it needs in its environment. Nothing listens at the proxy, so nothing leaves the machine. */
export const ENVIRONMENT = {
  GEMINI_API_KEY: 'none',
  GEMINI_CLI_NO_RELAUNCH: 'true',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  HTTP_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,host.docker.internal',
};

/** What the model says in turn: a text, or a tool's `{name, args}`. */
export const says = (steps) =>
  steps
    .map((step) => (typeof step === 'string' ? { text: step } : { functionCall: step }))
    .map((part) => ({ content: { role: 'model', parts: [part] }, finishReason: 'STOP' }))
    .map((candidate) => ({
      method: 'generateContentStream',
      response: [{ candidates: [candidate] }],
    }));

/** What the model says: to write a file, then that it has. */
export const writes = (file_path, content) =>
  says([{ name: 'write_file', args: { file_path, content } }, 'That was all.']);

/** Writes the settings into the home folder `home`, and what the model says into `script`. */
export function prepare(home, script, replies) {
  const folder = path.join(home, '.gemini');
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'settings.json'), JSON.stringify(SETTINGS));
  fs.writeFileSync(script, replies.map((reply) => JSON.stringify(reply)).join('\n'));
}

/** The messages of the user's side, each in its parts, in the session of `home`. */
function userMessages(home) {
  const sessions = path.join(home, '.gemini', 'tmp', 'project', 'chats');
  const [session, ...others] = fs.existsSync(sessions) ? fs.readdirSync(sessions) : [];
  if (session === undefined) return []; // nothing has been said yet
  if (others.length > 0) throw new Error(`there is more than one session: ${others}`);
  return fs
    .readFileSync(path.join(sessions, session), 'utf8')
    .split('\n')
    .slice(0, -1) // what follows the last line break is being written
    .map((line) => JSON.parse(line))
    .filter(({ type, content }) => type === 'user' && Array.isArray(content))
    .map(({ content }) => content);
}

/** What the user has said, with the files that were named, as the model is told it. */
export const asked = (home) =>
  userMessages(home).map((parts) => parts.map((part) => part.text ?? '').join(''));

/** What the model was told of each call of a tool, `{name, text}`, in the session of `home`. */
export function toolResults(home) {
  return userMessages(home)
    .flatMap((parts) => parts.flatMap((part) => part.functionResponse ?? []))
    .map(({ name, response }) => ({ name, text: response.output ?? response.error }));
}
