// Tests the texts that editors insert into the prompts of the real CLIs. These find each file, and
// decide and send nothing.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { BY, NAMES, startCli } from '../lib/extension.mjs';
import { until } from '../lib/inbox.mjs';
import { PROMPT_TEXTS, contentOf, writeFiles } from '../lib/prompt-texts.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { noTerminal, pasted } from '../lib/terminal.mjs';

/** Starts a CLI without an editor. */
const start = (sandbox, name, steps) =>
  startCli(sandbox, name, steps, { by: BY.nothing, review: true });

for (const name of NAMES) {
  describe(`the prompt of ${name}`, { skip: noTerminal }, () => {
    test('the CLI finds each file by its name, and a text answers no question', async (t) => {
      const sandbox = Sandbox.of(t);
      writeFiles(sandbox);
      const file = sandbox.file('a.txt', 'old\n');
      const { terminal, asked } = await start(sandbox, name, [
        ...PROMPT_TEXTS.map(() => 'That was all.'),
        { name: 'read_file', args: { file_path: file } },
        { name: 'write_file', args: { file_path: file, content: 'new\n' } },
      ]);
      for (const [index, prompt] of PROMPT_TEXTS.entries()) {
        const { path, isFolder, text, notReadBy = [] } = prompt;
        terminal.send(`number ${index}`);
        await terminal.paste(text);
        const find = () => asked().find((message) => message.includes(`number ${index}`));
        assert.equal(find(), undefined, 'nothing is sent before the user presses Enter');
        terminal.send(`please ${index}`);
        await terminal.shows(`please ${index}`);
        await terminal.submit();
        await until(`the message about ${path}`, find);
        const message = find();
        const lines = text.match(/ \(lines? .*\)$/)?.[0] ?? '';
        assert.ok(message.includes(lines), `${lines} is not in ${message}`);
        // Qwen Code lists the files of a folder. Gemini CLI reads brackets in a name as a pattern
        // when it reads the file, but its model gets the name.
        const listed = isFolder && name === 'qwen' ? 'in it.txt' : contentOf(path);
        const found = notReadBy.includes(name) ? `@${path}` : listed;
        assert.ok(message.includes(found), `${text} is not found: ${message}`);
      }

      await terminal.enter('write it');
      await terminal.shows(/Apply this change\?[^]*1\. /);
      terminal.send(pasted('@1.txt (lines 1-2)'));
      terminal.press('Down');
      await terminal.shows(/[●›]\s*2\. /);
      assert.equal(fs.readFileSync(file, 'utf8'), 'old\n');
    });
  });
}
