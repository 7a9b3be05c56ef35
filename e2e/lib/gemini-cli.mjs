// Sets up Gemini CLI to run without an account, with a scripted model.

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

/** The CLI's environment. No program listens at the proxy, so nothing leaves the machine. */
export const ENVIRONMENT = {
  GEMINI_API_KEY: 'none',
  GEMINI_CLI_NO_RELAUNCH: 'true',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  HTTP_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,host.docker.internal',
};

/** The model's answers in order: a text, a tool's `{name, args}`, or an array of these. */
export const says = (steps) =>
  steps
    .map((step) => [step].flat())
    .map((all) => all.map((one) => (typeof one === 'string' ? { text: one } : { functionCall: one })))
    .map((parts) => ({ content: { role: 'model', parts }, finishReason: 'STOP' }))
    .map((candidate) => ({
      method: 'generateContentStream',
      response: [{ candidates: [candidate] }],
    }));

/** Returns the model's answers: a call to write a file, then a text. */
export const writes = (file_path, content) =>
  says([{ name: 'write_file', args: { file_path, content } }, 'That was all.']);

/** Writes the settings into the home folder `home`, and the model's answers into `script`. */
export function prepare(home, script, replies) {
  const folder = path.join(home, '.gemini');
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'settings.json'), JSON.stringify(SETTINGS));
  fs.writeFileSync(script, replies.map((reply) => JSON.stringify(reply)).join('\n'));
}

/** Returns the user's messages in the session of `home`, each as its parts. */
function userMessages(home) {
  const sessions = path.join(home, '.gemini', 'tmp', 'project', 'chats');
  const [session, ...others] = fs.existsSync(sessions) ? fs.readdirSync(sessions) : [];
  if (session === undefined) return []; // there is no session yet
  if (others.length > 0) throw new Error(`there is more than one session: ${others}`);
  return fs
    .readFileSync(path.join(sessions, session), 'utf8')
    .split('\n')
    .slice(0, -1) // the text after the last line break is incomplete
    .map((line) => JSON.parse(line))
    .filter(({ type, content }) => type === 'user' && Array.isArray(content))
    .map(({ content }) => content);
}

/** Returns the user's messages with the named files, as the model gets them. */
export const asked = (home) =>
  userMessages(home).map((parts) => parts.map((part) => part.text ?? '').join(''));

/** Returns the answers of tools to the model, `{name, text}`, in the session of `home`. */
export function toolResults(home) {
  return userMessages(home)
    .flatMap((parts) => parts.flatMap((part) => part.functionResponse ?? []))
    .map(({ name, response }) => ({ name, text: response.output ?? response.error }));
}
