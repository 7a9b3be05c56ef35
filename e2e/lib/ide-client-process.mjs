// Runs the real IdeClient alone in a process, because it reads the working directory and the
// environment and holds singletons. Loading it takes time, so the process may serve several
// clients, one after the other. The module `IDE_CLIENT_MODULE` replaces Gemini CLI's client by
// another. `ide-client.mjs` is the other end: it starts this process, or listens on the socket
// `IDE_CLIENT_SOCKET`.

import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';

import { BUNDLE } from './client-bundle.mjs';
import { Peer } from './peer.mjs';

const { IDE_CLIENT_MODULE: module = BUNDLE, IDE_CLIENT_SOCKET: socket } = process.env;
const { IdeClient, ideContextStore, checkPathTrust, resetTrustedFoldersForTesting } = await import(
  pathToFileURL(module)
);
const other = socket ? await Peer.connect(socket) : process;

let client;
let hasConnected;

const sendStatus = (status) => {
  hasConnected ||= status.status === 'connected';
  other.send({ event: 'status', value: status });
};
const sendTrust = (trusted) => other.send({ event: 'trust', value: trusted });

async function createClient() {
  hasConnected = false;
  client = await IdeClient.getInstance();
  client.addStatusChangeListener(sendStatus);
  client.addTrustChangeListener(sendTrust);
}

await createClient();
ideContextStore.subscribe((context) => other.send({ event: 'context', value: context }));

/** Runs a hook below a shell, as the CLIs do. Returns `{code, stdout, stderr}`. */
function runHook(program, moment, input, env) {
  const command = '"$0" hook "$1"; exit $?';
  const child = spawn('sh', ['-c', command, program, moment], { env: { ...process.env, ...env } });
  const output = { stdout: '', stderr: '' };
  for (const name of Object.keys(output)) {
    child[name].setEncoding('utf8').on('data', (text) => (output[name] += text));
  }
  child.stdin.on('error', () => {}); // it may exit before it has read everything
  child.stdin.end(input);
  return new Promise((resolve) => {
    child.on('close', (code, signal) => resolve({ code: code ?? signal, ...output }));
  });
}

const calls = {
  /** Disconnects the client, unless this leaves something behind. Returns whether it has done so. */
  async leave() {
    const isConnected = client.getConnectionStatus().status === 'connected';
    const isLost = hasConnected && !isConnected;
    const isBridged = process.env.GEMINI_CLI_IDE_SERVER_STDIO_COMMAND !== undefined;
    const isReplaceable = resetTrustedFoldersForTesting && client.diffResponses?.size === 0;
    if (isLost || isBridged || !isReplaceable) return false;
    client.removeStatusChangeListener(sendStatus);
    client.removeTrustChangeListener(sendTrust);
    const connection = client.client ?? {};
    await client.disconnect();
    // The end of the stream is an error, which would clear the context of the next client.
    for (const event of ['onclose', 'onerror']) delete connection[event];
    return true;
  },
  /** Replaces the client that has left by one in another folder and environment. */
  async replace(cwd, env) {
    process.chdir(cwd);
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, env);
    resetTrustedFoldersForTesting();
    IdeClient.instancePromise = null;
    await createClient();
  },
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
