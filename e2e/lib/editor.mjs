// Simulates an editor: shows proposals, decides like a user, and finds diagnostics in JSON.

import fs from 'node:fs';

import { Inbox } from './inbox.mjs';

/** Returns a diagnostic at the beginning of a line. */
export function problem(line, message, more) {
  const start = { line, character: 1 };
  return { severity: 'error', message, range: { start, end: start }, source: 'JSON', ...more };
}

/** Returns an error if the file on the disk is not JSON. */
function jsonProblems(path) {
  const text = fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : '{}';
  try {
    JSON.parse(text);
    return [];
  } catch {
    return [problem(1, 'a value is expected')];
  }
}

export class Editor {
  /** The proposals that were shown, as `{filePath, newContent}`. */
  opened = new Inbox('a diff view');
  /** The paths whose views were closed on request. */
  closed = new Inbox('the end of a diff view');
  /** The error for every further proposal. */
  refusal;
  /** Returns the diagnostics of a file, by its path. */
  diagnose = jsonProblems;
  /** When the model gets the reason of a rejection, by the path of the proposal. */
  reasons = new Map();
  /** The number of the newest diff, by the path of the proposal. */
  diffs = new Map();
  /** The files that are not saved. */
  unsaved = [];
  #companion;
  #views = new Map();
  /** The proposals whose CLI writes the file itself. */
  #replayed = new Set();

  constructor(companion) {
    this.#companion = companion;
    companion.onRequest((method, params) => this.#answer(method, params));
  }

  #answer(method, params) {
    const { filePath, kind, private: isPrivate, cli, newContent, paths } = params;
    if (method === 'editor/diagnostics') {
      return { files: paths.map((path) => ({ path, diagnostics: this.diagnose(path) })) };
    }
    if (method === 'editor/unsaved') return { paths: this.unsaved };
    if (method === 'diff/open') {
      this.reasons.set(filePath, params.reason);
      this.diffs.set(filePath, params.diff);
      if (this.refusal) throw new Error(this.refusal);
      this.#views.set(filePath, newContent);
      if (params.replaysEdits) this.#replayed.add(filePath);
      else this.#replayed.delete(filePath);
      this.opened.push({ filePath, kind, private: isPrivate, cli, newContent });
      return {};
    }
    const content = this.#views.get(filePath);
    if (content === undefined) throw new Error('no such view');
    switch (method) {
      case 'diff/close':
        this.#views.delete(filePath);
        this.closed.push(filePath);
        return { content };
      case 'diff/accept':
        if (!this.#replayed.has(filePath)) fs.writeFileSync(filePath, content);
        this.accept(filePath);
        return {};
      case 'diff/reject':
        this.reject(filePath);
        return {};
      default:
        throw new Error(`unknown method ${method}`);
    }
  }

  /** Waits until a proposal for the file is shown. */
  view(filePath) {
    return this.opened.next((view) => view.filePath === filePath);
  }

  /** Changes the proposal like a user. */
  edit(filePath, content) {
    this.#views.set(filePath, content);
  }

  accept(filePath, content = this.#views.get(filePath)) {
    this.#views.delete(filePath);
    this.#companion.notify('diff/accepted', { filePath, content });
  }

  reject(filePath, reason) {
    this.#views.delete(filePath);
    this.#companion.notify('diff/rejected', { filePath, reason });
  }
}
