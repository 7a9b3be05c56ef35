// Writes a page with the result of each test, the pictures, and errors of the IDE that are not ours.
//
// `COMPANION_IDE_NAME` is the name of the tested IDE. The page is in the same folder as
// `ide-tests`, which contains the pictures.

import fs from 'node:fs';

const PICTURES = new URL('../../target/ide-tests/', import.meta.url);

const escape = (text) => text.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`);

function row({ name, nesting, details }, result) {
  const error = details.error?.cause?.message ?? details.error?.message;
  const why = result === 'failed' && error ? `<pre>${escape(String(error))}</pre>` : '';
  const seconds = (details.duration_ms / 1000).toFixed(1);
  const indent = `style="padding-left: ${1 + 2 * nesting}em"`;
  return `<tr class="${result}"><td ${indent}>${escape(name)}${why}</td><td>${result}</td><td>${seconds} s</td></tr>\n`;
}

function pictures(since) {
  const all = fs.existsSync(PICTURES) ? fs.readdirSync(PICTURES) : [];
  const taken = all.filter((name) => fs.statSync(new URL(name, PICTURES)).mtimeMs >= since);
  const figure = (name) =>
    `<figure><img src="../ide-tests/${name}"><figcaption>${name}</figcaption></figure>\n`;
  return taken.map(figure).join('');
}

export default async function* page(events) {
  const begun = Date.now();
  const name = escape(process.env.COMPANION_IDE_NAME ?? 'an IDE');
  yield `<!doctype html><meta charset="utf-8"><title>Window tests on ${name}</title>
<style>body { font: 14px sans-serif } img { max-width: 48em } .failed { color: #b00 } td { vertical-align: top }</style>
<h1>Window tests on ${name}</h1>
<table>
`;
  const others = [];
  for await (const { type, data } of events) {
    if (type === 'test:pass') yield row(data, data.skip === undefined ? 'passed' : 'skipped');
    if (type === 'test:fail') yield row(data, 'failed');
    if (type === 'test:stdout') others.push(escape(data.message));
  }
  yield `</table>\n<pre>${others.join('')}</pre>\n${pictures(begun)}`;
}
