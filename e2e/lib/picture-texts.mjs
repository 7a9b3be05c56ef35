// Records which texts of the plugins a picture shows. A test fails once one of them has changed, so
// that the pictures are made again.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BUNDLE = 'plugin-kotlin/src/main/resources/messages/CompanionBundle.properties';
const LUA = 'editors/nvim/lua/gemini_companion';

/** A shorter text could be anybody's, and a short one of one word could be a part of another. */
const MIN_LETTERS = 5;

const escape = (text) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** Returns the pattern of a text with placeholders, or nothing if it is too short. */
function pattern(text, placeholder) {
  const parts = text.split(placeholder);
  const letters = parts.join('').replaceAll(/\P{L}/gu, '').length;
  const source = parts.map(escape).join('.*');
  if (letters < MIN_LETTERS) return undefined;
  const isPart = text.trim().includes(' ');
  return new RegExp(isPart ? source : `^\\s*${source}\\s*$`, 'mu');
}

/** Returns the texts of the bundle as `[line, pattern]`. */
function bundle() {
  const lines = fs.readFileSync(path.join(ROOT, BUNDLE), 'utf8').split('\n');
  const texts = lines.filter((line) => /^[^#\s].*=/.test(line));
  return texts.map((line) => {
    const value = line.slice(line.indexOf('=') + 1).replaceAll(/&(?=\w)/g, '');
    const text = value.replaceAll(/\\u([0-9a-f]{4})/g, (_, code) => String.fromCharCode(parseInt(code, 16)));
    // A placeholder may contain others: {0,choice,1#one|1<{0} files}.
    return [line, pattern(text.replaceAll("''", "'"), /\{(?:[^{}]|\{[^{}]*\})*\}|\\n/)];
  });
}

/** Returns the string literals of a Lua file as `[literal, pattern]`. */
function literals(file) {
  const code = fs.readFileSync(path.join(ROOT, file), 'utf8').replaceAll(/^\s*--.*$/gm, '');
  const all = [...code.matchAll(/'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"/g)];
  const texts = all.filter(([literal]) => literal.slice(1, -1).trim().includes(' '));
  return texts.map(([literal, single, double]) => [literal, pattern(single ?? double, /%[sd]|\\n/)]);
}

/** All texts of the plugins, by their files. */
const CATALOGS = {
  jetbrains: () => [[BUNDLE, bundle()]],
  neovim: () => {
    const files = fs.readdirSync(path.join(ROOT, LUA)).map((name) => `${LUA}/${name}`);
    return files.sort().map((file) => [file, literals(file)]);
  },
};

/** Returns the texts of a plugin in a shown text, by their files. */
function textsIn(catalog, shown) {
  const found = {};
  for (const [file, texts] of catalog) {
    const seen = texts.filter(([, pattern]) => pattern?.test(shown)).map(([source]) => source);
    if (seen.length > 0) found[file] = [...new Set(seen)];
  }
  return found;
}

/** Adds the texts of a plugin that a picture shows to the folder's `texts.json`. */
export function recordTexts(folder, name, plugin, shown) {
  const file = path.join(folder, 'texts.json');
  const all = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {};
  all[name] = textsIn(CATALOGS[plugin](), shown);
  const sorted = Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
  fs.writeFileSync(file, `${JSON.stringify(sorted, null, 2)}\n`);
}
