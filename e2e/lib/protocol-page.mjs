// Reads the examples of docs/editor-protocol.md. The tests of companion-protocol compare them with its
// types.

import fs from 'node:fs';

const PAGE = new URL('../../docs/editor-protocol.md', import.meta.url);

const codeSpans = (text) => text.split('`').filter((_, index) => index % 2 === 1);

/**
 * Returns the examples of both directions, as lists of `{method, params}`, those of results, and all
 * methods.
 */
function readExamples() {
  const toEditor = [];
  const fromEditor = [];
  const results = [];
  const methodsTo = new Set();
  const methodsFrom = new Set();
  let section;
  for (const [index, part] of fs.readFileSync(PAGE, 'utf8').split('```').entries()) {
    if (index % 2 === 1) {
      for (const [, arrow, json] of part.matchAll(/^([←→]) (.*(?:\n .*)*)/gm)) {
        const { method, params } = JSON.parse(json);
        if (!method) continue;
        (arrow === '←' ? toEditor : fromEditor).push({ method, params });
        (arrow === '←' ? methodsTo : methodsFrom).add(method);
      }
      continue;
    }
    for (const line of part.split('\n')) {
      if (line.startsWith('## ')) section = line.slice(3);
      if (!line.startsWith('| `')) continue;
      const [spans, answers] = line.split(' | ').map(codeSpans);
      const isFrom = section === 'From the editor';
      const params = spans.find((span) => span.startsWith('{'));
      for (const method of spans.filter((span) => /^[a-z]+\/[a-zA-Z]+$/.test(span))) {
        (isFrom ? methodsFrom : methodsTo).add(method);
        if (params) (isFrom ? fromEditor : toEditor).push({ method, params: JSON.parse(params) });
        for (const answer of answers.filter((span) => isFrom && span.startsWith('{"'))) {
          results.push({ method, params: JSON.parse(answer) });
        }
      }
    }
  }
  return { toEditor, fromEditor, results, methodsTo, methodsFrom };
}

export const { toEditor, fromEditor, results, methodsTo, methodsFrom } = readExamples();

/** Returns the parameters of the first message of that method to the editor. */
export const exampleOf = (method) => toEditor.find((example) => example.method === method).params;
