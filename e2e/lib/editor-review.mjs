// Opens proposals in an editor that is checked, and compares its answers with those that it must give.

import fs from 'node:fs';
import path from 'node:path';

import { Violation } from './checked-editor.mjs';
import { exampleOf } from './protocol-page.mjs';

/** Shows a value in a sentence. */
export const show = (value) => {
  const json = JSON.stringify(value) ?? 'nothing';
  return json.length > 200 ? `${json.slice(0, 150)}… (${json.length} characters)` : json;
};

/** Throws a `Violation` with the sentence, unless the condition is true. */
export function require(condition, sentence) {
  if (!condition) throw new Violation(sentence);
}

/** Opens proposals in an editor, and knows the texts of their files. */
export class Review {
  static #files = 0;
  static #diffs = 0;
  #editor;

  constructor(editor) {
    this.#editor = editor;
  }

  /** Returns the path of a file, which is new if it has no `text`. */
  file(text, name = `file-${++Review.#files}.txt`) {
    const file = path.join(this.#editor.folder, name);
    if (text !== undefined) fs.writeFileSync(file, text);
    return file;
  }

  /** Returns the message that opens a proposal. */
  opening(filePath, newContent, more) {
    const kind = fs.existsSync(filePath) ? 'change' : 'create';
    const diff = String(++Review.#diffs);
    const params = { ...exampleOf('diff/open'), diff, filePath, kind, newContent, ...more };
    return { method: 'diff/open', params, isRequest: true };
  }

  /** Opens a proposal, and returns its name and text, as in `diff/resume`. */
  async open(filePath, newContent, more) {
    const message = this.opening(filePath, newContent, more);
    const [{ error }] = await this.#editor.send(message);
    require(!error, `The editor answered diff/open with the error ${show(error)}.`);
    return { diff: message.params.diff, newContent };
  }

  /** Opens a proposal for an existing file, and returns the path. */
  async propose(newContent = 'new\n', more = {}) {
    const filePath = this.file('old\n');
    await this.open(filePath, newContent, more);
    return filePath;
  }

  /** Requires that the proposal is open with this text, and closes it. */
  async isOpen(filePath, text, when) {
    const { result, error } = await this.#editor.request('diff/close', { filePath });
    require(!error, `The proposal is not open any more ${when}.`);
    require(
      result?.content === text,
      `diff/close returned ${show(result?.content)} in place of ${show(text)} ${when}.`,
    );
  }

  /** Requires that no proposal is open for that path. */
  async isEnded(filePath, when) {
    for (const method of ['diff/accept', 'diff/reject', 'diff/close']) {
      const { error } = await this.#editor.request(method, { filePath });
      require(error, `${method} succeeds ${when}; it must be an error, because no proposal is open.`);
    }
    this.isUndecided(when);
  }

  /** Requires that the editor has sent no decision. */
  isUndecided(when) {
    const [decision] = this.#editor.takeDecisions();
    require(!decision, `The editor sent ${decision?.method} ${when}, though nobody has decided.`);
  }

  /** Requires that the editor has sent one decision. */
  hasDecided(expected, when) {
    const decisions = this.#editor.takeDecisions();
    const sent = decisions.length === 0 ? 'no decision' : `${decisions.length} decisions`;
    require(decisions.length === 1, `The editor sent ${sent} ${when}; it must send ${expected.method} once.`);
    for (const [name, value] of Object.entries(expected)) {
      const given = decisions[0][name];
      require(
        given === value,
        `The editor's decision has the ${name} ${show(given)} in place of ${show(value)} ${when}.`,
      );
    }
  }

  /** Accepts as another program does. */
  async accept(filePath, content, when) {
    const { error } = await this.#editor.request('diff/accept', { filePath });
    require(!error, `The editor answered diff/accept with the error ${show(error)} ${when}.`);
    this.hasDecided({ method: 'diff/accepted', filePath, content }, `before it answered diff/accept ${when}`);
  }

  /** Starts the next companion, and requires that the editor names these proposals. Returns the request. */
  async names(expected, when) {
    this.#editor.isReady();
    const request = await this.#editor.received('diff/resume');
    const fields = request.params.proposals.map(({ diff, newContent }) => ({ diff, newContent }));
    const named = show(fields.sort((one, other) => one.diff - other.diff));
    require(named === show(expected), `diff/resume names ${named} in place of ${show(expected)} ${when}.`);
    this.isUndecided(when);
    return request;
  }

  hasText(filePath, text, when) {
    const now = fs.existsSync(filePath) ? fs.readFileSync(filePath, 'utf8') : undefined;
    require(now === text, `The file has ${show(now)} in place of ${show(text)} ${when}.`);
  }
}
