// The rules of docs/editor-protocol.md that an editor is checked by. Each throws a `Violation`.

import fs from 'node:fs';
import path from 'node:path';

import { require, show } from './editor-review.mjs';
import { methodsFrom, toEditor } from './protocol-page.mjs';

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

/** The notifications that may come at any time. */
export const NOTIFICATIONS = /^(companion\/(?!ready)|cli|comment|diff\/((un)?written|reasonLost))/;

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
    for (const { method, params } of toEditor.filter(({ method }) => NOTIFICATIONS.test(method))) {
      editor.notify(method, { ...params, unknown: 1 });
    }
    for (let count = 0; count < 1000; count++) editor.notify('check/unknown', { count });
    editor.write('{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"unknown"}}\n');
    await review.isOpen(file, 'new\n', 'after notifications');
  },

  async 'keeps a proposal, whatever becomes of an earlier text'(editor, review) {
    const filePath = await review.propose('first\n');
    await review.accept(filePath, 'first\n', 'before another proposal');
    await review.open(filePath, 'second\n');
    for (const method of ['diff/unwritten', 'diff/written', 'diff/written']) editor.notify(method, { filePath });
    await review.isOpen(filePath, 'second\n', 'after diff/unwritten and diff/written about an earlier text');
    review.hasText(filePath, 'old\n', 'after diff/unwritten; only the user may write');
    review.isUndecided('after diff/unwritten and diff/written');
  },

  async 'goes on while its companion does not answer'(editor, review) {
    for (const method of methodsFrom) editor.answers[method] = () => undefined;
    const filePath = await review.propose();
    await review.accept(filePath, 'new\n', 'while the companion answers nothing');
    await review.isOpen(await review.propose(), 'new\n', 'while the companion answers nothing');
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

  async 'names its proposals to the next companion, if it keeps them'(editor, review) {
    if (!editor.keepsProposals) return;
    const when = 'after the end of a companion';
    const [open, ended, replaced] = [1, 2, 3].map(() => review.file('old\n'));
    const shown = [await review.open(open, 'first\n'), await review.open(ended, 'second\n')];
    await review.open(replaced, 'older\n');
    shown.push(await review.open(replaced, 'newer\n'));
    editor.answers['diff/resume'] = () => undefined;
    await editor.endCompanion();
    await editor.nextCompanion();
    require(editor.keepsProposals, 'The editor started its next companion without --keep-proposals.');
    require(editor.args.includes('--resume'), 'The editor started its next companion without --resume.');
    const { id } = await review.names(shown, when);
    await review.open(replaced, 'newest\n');
    editor.respond(id, { proposals: [{ diff: shown[0].diff, cli: 1, reason: 'nextPrompt' }] });
    await review.isOpen(open, 'first\n', when);
    await review.isOpen(replaced, 'newest\n', `${when}, and a diff/open before the answer to diff/resume`);
    await review.isEnded(ended, `${when}, if diff/resume does not list it`);
  },

  async 'survives the end of its companion'(editor, review) {
    await review.propose();
    const code = await editor.endCompanion();
    require([undefined, 0].includes(code), `The editor ended with ${code} when its companion had ended.`);
  },
};
