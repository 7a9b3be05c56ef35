// The rules of docs/editor-protocol.md about an editor's user. Each throws a `Violation`.

import fs from 'node:fs';

import { require, show } from './editor-review.mjs';

/**
 * Rules that need a user: functions of the editor, a `Review` in it, and its user. The user `offers` returns the texts
 * for a file that the editor shows or lists, besides those of proposals that a CLI waits for.
 */
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

  async 'keeps the user’s edits if a proposal ends without a decision'(editor, review) {
    const abandoned = await review.edited('mine\n');
    await editor.request('diff/close', { filePath: abandoned, abandoned: true });
    await review.offers(abandoned, ['mine\n'], 'after an abandoned diff/close');
    const replaced = await review.edited('mine\n');
    await review.open(replaced, 'newer\n');
    await review.isOpen(replaced, 'newer\n', 'after a second diff/open for its path');
    await review.offers(replaced, ['mine\n'], 'when a newer proposal replaced theirs');
    const rejected = await review.edited('mine\n');
    await editor.request('diff/reject', { filePath: rejected });
    await review.offers(rejected, ['mine\n'], 'after diff/reject');
  },

  async 'offers back a text that the CLI has not written'(editor, review) {
    const filePath = review.file('old\n');
    await review.accepted(filePath, 'mine\n');
    await editor.request('editor/unsaved', {});
    await review.offers(filePath, [], 'before it knows whether the CLI writes it');
    editor.notify('diff/unwritten', { filePath });
    await review.offers(filePath, ['mine\n'], 'after diff/unwritten');
    editor.notify('diff/written', { filePath });
    await review.offers(filePath, [], 'after diff/written');
  },

  async 'knows which of several texts the CLI has written'(editor, review, user) {
    const filePath = review.file('old\n');
    for (const text of ['first\n', 'second\n']) await review.accepted(filePath, text);
    editor.notify('diff/unwritten', { filePath });
    await review.offers(filePath, ['first\n'], 'after diff/unwritten, which is about the oldest text');
    editor.notify('diff/written', { filePath });
    await editor.request('editor/unsaved', {});
    await review.offers(filePath, ['first\n'], 'after diff/written, which is about the newest text');
    const other = review.file('old\n');
    await review.accepted(other, 'first\n');
    await review.open(other, 'new\n', { replaysEdits: false });
    await user.types(other, 'second\n');
    await review.accept(other, 'second\n', 'after an earlier text');
    for (const method of ['diff/unwritten', 'diff/written']) editor.notify(method, { filePath: other });
    await editor.request('editor/unsaved', {});
    await review.offers(other, ['first\n'], 'after diff/written about a text that the editor has written itself');
  },

  async 'offers back a text that the CLI has not received'(editor, review) {
    for (const delivery of ['queued', 'unknown']) {
      editor.answers['diff/accepted'] = () => ({ delivery });
      const filePath = review.file('old\n');
      await review.accepted(filePath, 'new\n');
      await review.offers(filePath, ['new\n'], `for an acceptance with the delivery ${delivery}`);
    }
  },

  async 'withdraws a queued acceptance before it writes the file'(editor, review, user) {
    const filePath = review.file('old\n');
    let before;
    editor.answers['diff/accepted'] = () => ({ delivery: 'queued' });
    editor.answers['diff/withdraw'] = () => {
      before = fs.readFileSync(filePath, 'utf8');
      return { withdrawn: true };
    };
    await review.accepted(filePath, 'new\n');
    await review.offers(filePath, ['new\n'], 'for a queued acceptance');
    await user.writesOffered(filePath);
    const isWritten = () => fs.readFileSync(filePath, 'utf8') === 'new\n';
    await editor.until(isWritten, 'The editor did not write the text of a queued acceptance for its user.');
    require(before === 'old\n', 'The editor wrote the text of a queued acceptance before it sent diff/withdraw.');
  },

  async 'offers back the texts that it keeps when its companion ends'(editor, review) {
    const [changed, unanswered] = [1, 2].map(() => review.file('old\n'));
    await review.accepted(changed, 'mine\n');
    editor.answers['diff/accepted'] = () => undefined;
    await review.accepted(unanswered, 'new\n');
    await editor.endCompanion();
    await review.offers(changed, ['mine\n'], 'after the end of its companion');
    await review.offers(unanswered, ['new\n'], 'after the end of a companion that has not answered diff/accepted');
  },

  async 'keeps the user’s edits for the next companion, if it keeps proposals'(editor, review, user) {
    if (!editor.keepsProposals) return;
    const [edited, closed] = [1, 2].map(() => review.file('old\n'));
    const shown = [await review.open(edited, 'new\n')];
    await user.types(edited, 'mine\n');
    await review.open(closed, 'new\n');
    await editor.endCompanion();
    await editor.nextCompanion();
    await user.accepts(edited);
    await user.closes(closed);
    await review.names(shown, 'when the user has closed the other one');
    await review.isOpen(edited, 'mine\n', 'after the end of a companion, before which the user changed the text');
  },

  async 'announces a restart, if it keeps proposals'(editor, review, user) {
    if (!editor.keepsProposals) return;
    const filePath = review.file('old\n');
    const shown = [await review.open(filePath, 'new\n')];
    await user.types(filePath, 'mine\n');
    const announced = editor.received('editor/restarts');
    await user.restarts();
    await announced;
    await editor.nextCompanion();
    await review.names(shown, 'after a restart');
    await review.isOpen(filePath, 'mine\n', 'after a restart');
  },
};
