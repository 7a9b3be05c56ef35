// Writes a program that sends scripted lines to Neovim in place of the companion, and keeps what Neovim
// answers.

import fs from 'node:fs';
import path from 'node:path';

import { until } from './inbox.mjs';
import { exampleOf } from './protocol-page.mjs';

/** A message that opens a proposal. */
export const OPEN = (id, filePath, newContent = 'new\n') => ({
  id,
  method: 'diff/open',
  params: { ...exampleOf('diff/open'), filePath, newContent },
});

export const ready = { method: 'companion/ready', params: exampleOf('companion/ready') };

const toLine = (message) =>
  `${typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;

export class ScriptedProgram {
  #lines;
  #answers;
  /** The user's options in Lua. */
  setup;

  /** Neovim gets all messages in one chunk. They are objects, or lines as they are. */
  constructor(sandbox, ...messages) {
    const program = path.join(sandbox.root, 'program');
    this.#lines = path.join(sandbox.root, 'lines');
    this.#answers = path.join(sandbox.root, 'answers');
    this.send(...messages);
    fs.writeFileSync(
      program,
      `#!/bin/sh\n[ "$1" = --version ] && exit\ntail --pid=$$ -s 0.05 -f -c +1 '${this.#lines}' &\nexec cat > '${this.#answers}'\n`,
      { mode: 0o755 },
    );
    this.setup = `{ cmd = [[${program}]] }`;
  }

  /** Sends more messages in one chunk. */
  send(...messages) {
    fs.appendFileSync(this.#lines, messages.map(toLine).join(''));
  }

  /** Returns what Neovim has sent so far. */
  #received() {
    const text = fs.existsSync(this.#answers) ? fs.readFileSync(this.#answers, 'utf8') : '';
    return text.split('\n').slice(0, -1).map((line) => JSON.parse(line));
  }

  /** Returns the answers so far, by their ids. */
  answers() {
    const answers = this.#received().filter(({ method }) => !method);
    return Object.fromEntries(answers.map((message) => [message.id, message]));
  }

  /** Waits for the answer to a request. */
  answer(id) {
    return until(
      () => `no answer to ${id}: ${JSON.stringify(this.answers())}`,
      () => this.answers()[id],
    );
  }

  /** Returns Neovim's requests of that method so far. */
  requests(method) {
    return this.#received().filter((message) => message.method === method);
  }

  /** Waits for Neovim's next request of that method, after `count` earlier ones. */
  request(method, count = 0) {
    return until(method, () => this.requests(method)[count]);
  }
}
