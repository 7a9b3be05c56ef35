// Runs the real IdeClient alone in a process, because it reads the working directory and the
// environment and holds singletons. The module `IDE_CLIENT_MODULE` replaces Gemini CLI's client by
// another. `ide-client.mjs` is the other end: it starts this process, or listens on the socket
// `IDE_CLIENT_SOCKET`.

import { Peer } from './peer.mjs';
import { runHook } from './run-hook.mjs';

const { IDE_CLIENT_MODULE: module, IDE_CLIENT_SOCKET: socket } = process.env;
const CORE = '@google/gemini-cli-core/dist/src';
const parts = ['ide/ide-client.js', 'ide/ideContext.js', 'utils/trust.js'];
const modules = module ? [module] : parts.map((part) => `${CORE}/${part}`);
const { IdeClient, ideContextStore, checkPathTrust } = Object.assign(
  {},
  ...(await Promise.all(modules.map((name) => import(name)))),
);
const other = socket ? await Peer.connect(socket) : process;

const client = await IdeClient.getInstance();
client.addStatusChangeListener((status) => other.send({ event: 'status', value: status }));
client.addTrustChangeListener((trusted) => other.send({ event: 'trust', value: trusted }));
ideContextStore.subscribe((context) => other.send({ event: 'context', value: context }));

const calls = {
  hook: runHook,
  async connect() {
    await client.connect({ logToConsole: false });
    return client.getConnectionStatus();
  },
  openDiff: (filePath, newContent) => client.openDiff(filePath, newContent),
  closeDiff: (filePath, options) => client.closeDiff(filePath, options),
  resolveDiffFromCli: (filePath, outcome) => client.resolveDiffFromCli(filePath, outcome),
  // The client exposes only the tools for diffs, but its connection has all tools.
  callTool: (name, args) => client.client.callTool({ name, arguments: args }),
  disconnect: () => client.disconnect(),
  status: () => client.getConnectionStatus(),
  context: () => ideContextStore.get(),
  isDiffingEnabled: () => client.isDiffingEnabled(),
  displayName: () => client.getDetectedIdeDisplayName(),
  trust: () => checkPathTrust({ path: process.cwd(), isFolderTrustEnabled: true }),
};

// A failed openDiff also leaves an unhandled rejected promise (`promise.finally(release)`).
// The CLI survives that; a plain Node process would not.
process.on('unhandledRejection', () => {});
other.on('disconnect', () => process.exit());
other.on('message', async ({ id, call, args }) => {
  try {
    other.send({ id, value: await calls[call](...args) });
  } catch (error) {
    other.send({ id, error: error.message });
  }
});
other.send({ event: 'started' });
