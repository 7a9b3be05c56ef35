// Stands in for `gemini-companion serve`: connects stdin and stdout with the socket of the check.

import net from 'node:net';

const [path, ...args] = process.argv.slice(2);
// An editor may run other commands before, such as --version.
if (args[0] !== 'serve') process.exit(0);
const socket = net.connect(path);
socket.write(`${JSON.stringify(args)}\n`);
process.stdin.pipe(socket);
socket.pipe(process.stdout);
for (const stream of [process.stdout, socket]) stream.on('error', () => {});
// A companion whose stdin has not ended has crashed.
socket.on('close', () => process.exit(process.stdin.readableEnded ? 0 : 1));
