// Exchanges messages over a socket between two processes that did not start each other. The
// interface is the used part of a `process` of `node:child_process`.

import { EventEmitter, once } from 'node:events';
import net from 'node:net';
import readline from 'node:readline';
import v8 from 'node:v8';

import { within } from './inbox.mjs';

export class Peer extends EventEmitter {
  exitCode = null;
  signalCode = null;
  connected = true;
  #socket;

  constructor(socket) {
    super();
    this.#socket = socket.on('error', () => {}); // `close` follows
    readline.createInterface({ input: socket, crlfDelay: Infinity }).on('line', (line) => {
      this.emit('message', v8.deserialize(Buffer.from(line, 'base64')));
    });
    socket.on('close', () => {
      this.connected = false;
      this.exitCode = 0;
      this.emit('disconnect');
      this.emit('exit');
    });
  }

  /** Waits until a process connects to the socket at `path`. */
  static async accept(path, start) {
    const server = net.createServer().listen(path);
    try {
      await once(server, 'listening');
      const connection = once(server, 'connection');
      await start();
      const [socket] = await within(connection, 'a process that connects');
      return new Peer(socket);
    } finally {
      server.close();
    }
  }

  static async connect(path) {
    const socket = net.connect(path);
    await once(socket, 'connect');
    return new Peer(socket);
  }

  send(message) {
    this.#socket.write(`${v8.serialize(message).toString('base64')}\n`);
  }

  disconnect() {
    this.#socket.end();
  }

  kill() {
    this.#socket.destroy();
  }
}
