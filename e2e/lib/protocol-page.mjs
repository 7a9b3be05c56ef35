// Reads the examples of docs/editor-protocol.md. The tests of companion-protocol compare them with its
// types.

import fs from 'node:fs';

const PAGE = new URL('../../docs/editor-protocol.md', import.meta.url);

const codeSpans = (text) => text.split('`').filter((_, index) => index % 2 === 1);

/** Returns the examples of both directions, as lists of `{method, params}`. */
function readExamples() {
  const toEditor = [];
  const fromEditor = [];
  let section;
  for (const [index, part] of fs.readFileSync(PAGE, 'utf8').split('```').entries()) {
    if (index % 2 === 1) {
      for (const [, arrow, json] of part.matchAll(/^([←→]) (.*(?:\n .*)*)/gm)) {
        const { method, params } = JSON.parse(json);
        if (method) (arrow === '←' ? toEditor : fromEditor).push({ method, params });
      }
      continue;
    }
    for (const line of part.split('\n')) {
      if (line.startsWith('## ')) section = line.slice(3);
      if (!line.startsWith('| `')) continue;
      const spans = codeSpans(line.split(' | ')[0]);
      const params = spans.find((span) => span.startsWith('{'));
      if (!params) continue;
      const list = section === 'From the editor' ? fromEditor : toEditor;
      const methods = spans.filter((span) => !span.startsWith('{'));
      list.push(...methods.map((method) => ({ method, params: JSON.parse(params) })));
    }
  }
  return { toEditor, fromEditor };
}

export const { toEditor, fromEditor } = readExamples();

/** Returns the parameters of the first message of that method to the editor. */
export const exampleOf = (method) => toEditor.find((example) => example.method === method).params;
