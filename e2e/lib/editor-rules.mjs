// The rules of docs/editor-protocol.md that an editor is checked by. Each throws a `Violation`.

import fs from 'node:fs';
import path from 'node:path';

import { Violation } from './checked-editor.mjs';
import { exampleOf, toEditor } from './protocol-page.mjs';

const show = (value) => {
  const json = JSON.stringify(value) ?? 'nothing';
  return json.length > 200 ? `${json.slice(0, 150)}… (${json.length} characters)` : json;
};

function require(condition, sentence) {
  if (!condition) throw new Violation(sentence);
}

/** The texts that editors tend to change. */
const TEXTS = {
  'an empty text': '',
  'one line ending': '\n',
  'a text without an end of its last line': 'a\nb',
  'a text with \\r\\n': 'a\r\nb\r\n',
  'a text with \\n and \\r\\n': 'a\r\nb\n',
  'a text with a byte order mark': '\uFEFFa\n',
  'a text with spaces at the ends': ' a \t\n\n \n',
  'a text with rare characters': '\u0001\u007F\u0085\u2028\u2029\uFFFF\u{10FFFF}😀e\u0301\n',
  'a text with a long line': `${'x'.repeat(100_000)}\n`,
};

/** The names of files that editors tend to change. */
const NAMES = ['with a space', 'e\u0301 文 😀', '100% %41', `"' $HOME`, 'a\\b', '[a-z]{1}*?', '-a', '#1'];

/** Opens proposals in an editor, and knows the texts of their files. */
export class Review {
  static #files = 0;
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
    const params = { ...exampleOf('diff/open'), filePath, kind, newContent, ...more };
    return { method: 'diff/open', params, isRequest: true };
  }

  async open(filePath, newContent, more) {
    const [{ error }] = await this.#editor.send(this.opening(filePath, newContent, more));
    require(!error, `The editor answered diff/open with the error ${show(error)}.`);
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

  hasText(filePath, text, when) {
    const now = fs.existsSync(filePath) ? fs.readFileSync(filePath, 'utf8') : undefined;
    require(now === text, `The file has ${show(now)} in place of ${show(text)} ${when}.`);
  }
}

/** A rule, and a function of the editor and a `Review` in it. */
export const RULES = {
  async 'starts a companion for its folder'(editor) {
    const { args, folder } = editor;
    const folders = args.flatMap((arg, index) =>
      args[index - 1] === '--workspace' ? [arg] : arg.match(/^--workspace=(.*)/s)?.slice(1) ?? [],
    );
    require(
      folders.some((each) => path.resolve(folder, each) === folder),
      `The editor named ${show(folders)} by --workspace, not the folder where it was started.`,
    );
  },

  async 'shows a proposal, and closes it with its text'(editor, review) {
    const file = await review.propose();
    await review.isOpen(file, 'new\n', 'after diff/open');
    await review.isEnded(file, 'after diff/close');
    review.hasText(file, 'old\n', 'after diff/close');
  },

  async 'accepts for another program, and writes the file'(editor, review) {
    const file = await review.propose('new\n', { replaysEdits: false });
    await review.accept(file, 'new\n', 'without replaysEdits');
    review.hasText(file, 'new\n', 'after diff/accept without replaysEdits');
    await review.isEnded(file, 'after diff/accept');
    const created = path.join(editor.folder, 'new', 'folder', 'a.txt');
    await review.open(created, 'new\n', { replaysEdits: false });
    await review.accept(created, 'new\n', 'for a new file in a new folder');
    review.hasText(created, 'new\n', 'after diff/accept for a new file');
  },

  async 'leaves the file to a CLI that replays edits'(editor, review) {
    const file = await review.propose();
    await review.accept(file, 'new\n', 'with replaysEdits');
    review.hasText(file, 'old\n', 'after diff/accept with replaysEdits, where the CLI writes');
  },

  async 'rejects for another program, and writes nothing'(editor, review) {
    const filePath = await review.propose();
    const { error } = await editor.request('diff/reject', { filePath });
    require(!error, `The editor answered diff/reject with the error ${show(error)}.`);
    review.hasDecided({ method: 'diff/rejected', filePath }, 'before it answered diff/reject');
    review.hasText(filePath, 'old\n', 'after diff/reject');
    await review.isEnded(filePath, 'after diff/reject');
  },

  async 'returns texts unchanged'(editor, review) {
    for (const [what, text] of Object.entries(TEXTS)) {
      const file = review.file();
      await review.open(file, text);
      await review.isOpen(file, text, `for ${what}`);
    }
  },

  async 'writes texts unchanged'(editor, review) {
    for (const [what, text] of Object.entries(TEXTS)) {
      if (what.includes('\\n and')) continue; // an editor may choose one line ending for them
      const file = review.file();
      await review.open(file, text, { replaysEdits: false });
      await review.accept(file, text, `for ${what}`);
      review.hasText(file, text, `for ${what}`);
    }
  },

  async 'handles a large text, in pieces'(editor, review) {
    const text = '文 😀 some text of a line\n'.repeat(100_000);
    const file = review.file('old\n');
    const { params, method } = review.opening(file, text);
    const expected = editor.expect(method);
    const bytes = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: expected.id, method, params })}\n`);
    const inside = bytes.indexOf(Buffer.from('😀')) + 2;
    for (const piece of [bytes.subarray(0, inside), bytes.subarray(inside)]) await editor.write(piece);
    const { error } = await expected.answer;
    require(!error, `The editor answered diff/open with the error ${show(error)} for a text of 3 MB.`);
    await review.isOpen(file, text, 'for a text of 3 MB');
  },

  async 'names files as the companion names them'(editor, review) {
    for (const name of NAMES) {
      const file = review.file('old\n', name);
      await review.open(file, 'new\n', { replaysEdits: false });
      await review.accept(file, 'new\n', `for the file name ${show(name)}`);
      review.hasText(file, 'new\n', `for the file name ${show(name)}`);
    }
  },

  async 'refuses requests about a file without a proposal'(editor, review) {
    await review.isEnded(review.file('old\n'), 'for a file that never had one');
  },

  async 'never overwrites a file that has changed, for another program'(editor, review) {
    for (const replaysEdits of [false, true]) {
      for (const [what, before, after] of [
        ['has other bytes of the same length', 'old\n', 'own\n'],
        ['has the proposed text already', 'old\n', 'new\n'],
        ['was emptied', 'old\n', ''],
        ['was deleted', 'old\n', undefined],
        ['was created', undefined, 'by hand\n'],
      ]) {
        const filePath = review.file(before);
        await review.open(filePath, 'new\n', { replaysEdits });
        if (after === undefined) fs.rmSync(filePath);
        else fs.writeFileSync(filePath, after);
        const when = `for a file that ${what} since diff/open${replaysEdits ? ', with replaysEdits' : ''}`;
        const { error } = await editor.request('diff/accept', { filePath });
        review.hasText(filePath, after, `after diff/accept ${when}`);
        require(error, `diff/accept succeeds ${when}; only the user may accept that.`);
        review.isUndecided(`for diff/accept ${when}`);
        await review.isOpen(filePath, 'new\n', `after diff/accept ${when}`);
      }
    }
  },

  async 'replaces a proposal by a newer one'(editor, review) {
    const file = await review.propose('first\n');
    await review.open(file, 'second\n');
    review.isUndecided('when a newer proposal replaced one');
    await review.isOpen(file, 'second\n', 'after a second diff/open for its path');
    await review.isEnded(file, 'after diff/close of two proposals for one path');
  },

  async 'takes requests about one path in order'(editor, review) {
    const filePath = await review.propose();
    const requests = ['diff/accept', 'diff/close'].map((method) => ({ method, params: { filePath }, isRequest: true }));
    const [accepted, closed] = await editor.send(...requests);
    require(!accepted.error, `diff/accept is an error if diff/close follows in its chunk: ${show(accepted.error)}`);
    require(closed.error, 'diff/close succeeds after a diff/accept in its chunk, which has ended the proposal.');
    review.hasDecided({ method: 'diff/accepted', filePath }, 'for a diff/accept before a diff/close');
  },

  async 'closes an abandoned proposal'(editor, review) {
    const filePath = await review.propose();
    const { error } = await editor.request('diff/close', { filePath, abandoned: true });
    require(!error, `The editor answered an abandoned diff/close with the error ${show(error)}.`);
    await review.isEnded(filePath, 'after an abandoned diff/close');
  },

  async 'survives every notification, known or not'(editor, review) {
    const file = await review.propose();
    const isNotification = ({ method }) => /^(companion\/(?!ready)|agent|comment|diff\/reasonLost)/.test(method);
    for (const { method, params } of toEditor.filter(isNotification)) {
      editor.notify(method, { ...params, unknown: 1 });
    }
    for (let count = 0; count < 1000; count++) editor.notify('check/unknown', { count });
    await review.isOpen(file, 'new\n', 'after notifications');
  },

  async 'ignores unknown fields'(editor, review) {
    const file = await review.propose('new\n', { unknown: { deep: [1] } });
    await review.isOpen(file, 'new\n', 'after diff/open with an unknown field');
  },

  async 'answers unknown requests with -32601'(editor) {
    const { error } = await editor.request('check/unknown', {});
    require(error?.code === -32601, `The editor answered an unknown request with ${show(error ?? 'a result')}.`);
  },

  async 'reports problems, or does not know the request'(editor, review) {
    const known = review.file('{\n', 'a.json');
    const paths = [known, path.join(editor.folder, 'missing.json')];
    const { result, error } = await editor.request('editor/diagnostics', { paths, severity: 'hint' });
    if (error?.code === -32601) return;
    const returned = `editor/diagnostics returned ${show(result ?? error)}`;
    require(Array.isArray(result?.files), `${returned}, without a list of files.`);
    for (const { path: file, diagnostics } of result.files) {
      require(paths.includes(file), `${returned}, with a path that was not asked for.`);
      for (const problem of diagnostics) {
        const places = [problem.range?.start, problem.range?.end].flatMap((place) => [place?.line, place?.character]);
        require(places.every((place) => place >= 1), `A problem has the range ${show(problem.range)}, not from 1.`);
        const levels = ['error', 'warning', 'information', 'hint'];
        require(levels.includes(problem.severity), `A problem has the severity ${show(problem.severity)}.`);
      }
    }
  },

  async 'lists unsaved files, or does not know the request'(editor) {
    const { result, error } = await editor.request('editor/unsaved', {});
    if (error?.code === -32601) return;
    const isList = Array.isArray(result?.paths) && result.paths.every((file) => path.isAbsolute(file));
    require(isList, `editor/unsaved returned ${show(result ?? error)}, without a list of absolute paths.`);
  },

  async 'ends, and ends the stdin of its companion'(editor, review) {
    await review.propose();
    await editor.quit();
    await editor.stdinClosed();
  },

  async 'survives the end of its companion'(editor, review) {
    await review.propose();
    const code = await editor.endCompanion();
    require([undefined, 0].includes(code), `The editor ended with ${code} when its companion had ended.`);
  },
};

/** Rules that need a user: functions of the editor, a `Review` in it, and its user. */
export const USER_RULES = {
  async 'reports a text that the user has emptied as an empty text'(editor, review, user) {
    for (const text of ['new\n', '\n', '']) {
      for (const replaysEdits of [true, false]) {
        const when = `when the user has emptied ${show(text)}`;
        const closed = await review.propose(text, { replaysEdits });
        await user.empties(closed);
        await review.isOpen(closed, '', when);
        const filePath = await review.propose(text, { replaysEdits });
        await user.empties(filePath);
        await user.accepts(filePath);
        await editor.request('diff/close', { filePath });
        review.hasDecided({ method: 'diff/accepted', filePath, content: '' }, when);
      }
      const written = await review.propose(text, { replaysEdits: false });
      await user.empties(written);
      await review.accept(written, '', 'for an emptied text');
      review.hasText(written, '', 'after diff/accept of an emptied text');
    }
  },

  async 'warns before the user accepts a proposal for a changed file'(editor, review, user) {
    const filePath = await review.propose();
    fs.writeFileSync(filePath, 'by hand\n');
    await user.accepts(filePath);
    await editor.request('editor/unsaved', {});
    review.isUndecided('when the user first accepted a proposal for a changed file');
    await user.insists(filePath);
    await editor.request('diff/close', { filePath });
    review.hasDecided({ method: 'diff/accepted', filePath, content: 'new\n' }, 'when the user insisted');
  },

  async 'never overwrites the user’s unsaved text, for another program'(editor, review, user) {
    const filePath = await review.propose('new\n', { replaysEdits: false });
    await user.changesFile(filePath);
    const { error } = await editor.request('diff/accept', { filePath });
    require(error, 'diff/accept succeeds for a file with unsaved text; only the user may accept that.');
    review.hasText(filePath, 'old\n', 'after diff/accept for a file with unsaved text');
    await review.isOpen(filePath, 'new\n', 'after diff/accept for a file with unsaved text');
  },

  async 'rejects with the user’s reason'(editor, review, user) {
    const filePath = await review.propose();
    await user.rejects(filePath, 'Use a list.');
    await editor.request('diff/close', { filePath });
    const expected = { method: 'diff/rejected', filePath, reason: 'Use a list.' };
    review.hasDecided(expected, 'when the user rejected with a reason');
  },
};
