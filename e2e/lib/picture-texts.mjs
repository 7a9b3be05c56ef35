// Records which texts of the plugins a picture shows. A test fails once one of them has changed, so
// that the pictures are made again.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BUNDLE = 'plugin-kotlin/src/main/resources/messages/CompanionBundle.properties';
const LUA = 'editors/nvim/lua/gemini_companion';
/** Composes the question before a revert, which Neovim shows. */
const QUESTION = 'rust/companion-server/src/hooks/changes/revert.rs';

const NUMBER = String.raw`(\d+(?:[.,]\d+)*)`;
const ANYTHING = '(.+?)';
/** Where a sentence, or a text of its own, begins and ends within a text of the IDE. */
const SENTENCE_BEGIN = '(?<=^|[.:?!…] |// )';
const SENTENCE_END = String.raw`(?=$|: | //| \(|(?<=[.:?!…]) )`;
/** A shorter text of Neovim could be a part of any line. */
const MIN_LETTERS = 5;

const countLetters = (text) => text.match(/\p{L}/gu)?.length ?? 0;
const countSigns = (text) => text.match(/[^\p{L}\p{N}\s]/gu)?.length ?? 0;
const isNumber = (value) => new RegExp(`^${NUMBER}$`, 'u').test(value);

/** Returns the pattern of a text without placeholders. */
const literally = (text) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** Splits a text at its placeholders, and returns the pattern of its literal parts and of its placeholders. */
function pattern(text, placeholder, patternOf) {
  let [source, literal, end] = ['', '', 0];
  const add = (part) => {
    literal += part;
    source += literally(part);
  };
  for (const match of text.matchAll(placeholder)) {
    add(text.slice(end, match.index));
    source += patternOf(match[0]);
    end = match.index + match[0].length;
  }
  add(text.slice(end));
  return { source, literal };
}

/** Returns the pattern of a placeholder of the bundle: `{0}`, `{0,number,#}`, `{0,choice,1#one|1<{0} files}`. */
function bundlePlaceholder(placeholder) {
  if (placeholder === '\\n') return '\\s+';
  const [, kind, choices] = placeholder.slice(1, -1).match(/^\d+(?:,(\w+),(.*))?$/);
  if (kind === 'number') return NUMBER;
  if (kind !== 'choice') return ANYTHING;
  const branches = choices.split('|').map((choice) => choice.replace(/^\d+[#<]/, ''));
  const patterns = branches.filter(Boolean).map((branch) => pattern(branch, /\{\d+\}/g, () => NUMBER).source);
  return `(?:${patterns.join('|')})`;
}

/** Returns the texts of the bundle, except those of tooltips: the pointer rests. */
function bundleTexts(content) {
  const lines = content.split('\n').filter((line) => /^[^#\s].*=/.test(line));
  const visible = lines.filter((line) => !/^[^=]*\.(tooltip|description)\b/.test(line));
  return visible.map((line) => {
    const value = line.slice(line.indexOf('=') + 1).replaceAll(/[&_](?=\w)/g, '');
    const decoded = value.replaceAll(/\\u([0-9a-f]{4})/g, (_, code) => String.fromCharCode(parseInt(code, 16)));
    const text = decoded.replaceAll("''", "'");
    // A placeholder may contain others.
    const { source, literal } = pattern(text, /\{(?:[^{}]|\{[^{}]*\})*\}|\\n/g, bundlePlaceholder);
    return {
      line,
      hasWords: countLetters(text) > 0,
      hasSigns: countSigns(literal) > 0,
      hasSpace: text.includes(' '),
      whole: new RegExp(`^${source}$`, 'u'),
      part: new RegExp(`${SENTENCE_BEGIN}${source}${SENTENCE_END}`, 'gu'),
    };
  });
}

/**
 * Returns the lines of the bundle's texts in the labels, buttons and other single texts of a window. A text is a
 * whole one, a sentence of one, or the value of a placeholder: `Accept` in `Accept (Ctrl+Enter)`.
 */
function findBundleTexts(texts, shown) {
  const found = new Set();
  const isText = (value) => texts.some(({ hasWords, whole }) => hasWords && whole.test(value));

  function visit(value) {
    for (const { line, hasWords, hasSigns, hasSpace, whole, part } of texts) {
      const match = whole.exec(value);
      const matches = match ? [match] : hasSpace ? value.matchAll(part) : [];
      for (const [, ...values] of matches) {
        const isCount = hasSigns && values.every(isNumber);
        if (!hasWords && !isCount && !(match && values.some(isText))) continue;
        found.add(line);
        values.filter((inner) => inner !== undefined && inner !== value).forEach(visit);
      }
    }
  }

  // The parts of a row in a tree have two spaces between them.
  for (const text of shown.flatMap((one) => one.split('  '))) visit(text.replaceAll(/\s+/g, ' ').trim());
  return texts.map(({ line }) => line).filter((line) => found.has(line));
}

/** How Lua and Rust write comments, literals and placeholders. `&All` is a choice of `vim.fn.confirm`. */
const LANGUAGES = {
  lua: { comment: '--', literal: /(['"])((?:(?!\1)[^\\\n]|\\.)*)\1/g, placeholder: /%[sd%]|\\n|&\w/g },
  rs: { comment: '//', literal: /(")((?:[^"\\\n]|\\.)*)"/g, placeholder: /\{\w*\}|\\n/g },
};

function codePlaceholder(placeholder) {
  if (placeholder === '%%') return '%';
  if (placeholder === '%d') return NUMBER;
  if (placeholder === '\\n') return '(?:\\s+|, )';
  if (placeholder.startsWith('&')) return `[(\\[]${placeholder.slice(1)}[)\\]]`;
  return ANYTHING;
}

/** Returns the string literals of code in a language. */
function codeTexts(content, language) {
  const { comment, literal: literals, placeholder } = LANGUAGES[language];
  const code = content.replaceAll(new RegExp(`^\\s*${comment}.*$`, 'gm'), '');
  const all = [...code.matchAll(literals)].map(([line, , text]) => [line, text]);
  const found = new Map(all);
  return [...found].map(([line, text]) => {
    const { source, literal } = pattern(text, placeholder, codePlaceholder);
    const [letters, signs] = [countLetters(literal), countSigns(literal)];
    const isLong = letters >= MIN_LETTERS;
    const begin = /^[\p{L}\p{N}%]/u.test(text) ? '(?<![\\p{L}\\p{N}])' : '';
    const end = /(?:[\p{L}\p{N}]|%[sd])$/u.test(text) ? '(?![\\p{L}\\p{N}])' : '';
    return {
      line,
      whole: new RegExp(`^${source}$`, 'u'),
      next: new RegExp(source, 'uy'),
      part: new RegExp(begin + source + end, 'u'),
      isLong,
      /** Whether it is found in a line by itself: several words, a label, or a count. */
      isClear: (isLong && /\S(?: |\\n)\S|: $/.test(text)) || (text.includes('%d') && letters + signs > 1),
      /** Whether it only joins others: `%s (%s)`. */
      isFrame: letters === 0 && signs > 0 && text.includes('%s'),
      /** Whether its file has no other literal of that form. A test finds a change of this one. */
      isUnique: all.filter(([other]) => other === line).length === 1,
      canBePiece: letters + signs > 0 && (isLong || !source.includes(ANYTHING)),
    };
  });
}

/** Returns the texts that together are the rest of a shown text from an offset, or nothing. */
function pieces(texts, shown, offset = 0) {
  if (offset === shown.length) return [];
  for (const text of texts) {
    text.next.lastIndex = offset;
    const length = text.next.exec(shown)?.[0].length ?? 0;
    const rest = length > 0 && pieces(texts, shown, offset + length);
    if (rest) return [text, ...rest];
  }
  return undefined;
}

/**
 * Returns the literals of one file that are in the lines of a screen. A short one must be in a text which literals of
 * this file compose: `+3 −0, new`. If the file has it several times, no test would miss one of them.
 */
function findCodeTexts(texts, shown) {
  const found = new Set();
  const words = texts.filter(({ isLong }) => isLong);
  const longestFirst = texts.filter(({ canBePiece }) => canBePiece).sort((a, b) => b.line.length - a.line.length);

  /** Finds the literals of a text that has no others. */
  function findComposed(field) {
    const parts = pieces(longestFirst, field) ?? [];
    if (parts.some(({ isLong, isClear }) => isLong || isClear)) {
      parts.filter(({ isLong, isUnique }) => isLong || isUnique).forEach(({ line }) => found.add(line));
    }
    for (const { line, whole } of texts.filter(({ isFrame }) => isFrame)) {
      const values = whole.exec(field)?.slice(1) ?? [];
      const inner = words.filter((word) => values.some((value) => word.whole.test(value)));
      if (inner.length > 0) [line, ...inner.map((word) => word.line)].forEach((text) => found.add(text));
    }
  }

  for (const row of shown.flatMap((screen) => screen.split('\n'))) {
    for (const { line, part, isClear } of texts) if (isClear && part.test(row)) found.add(line);
    // Neovim separates windows and columns by bars.
    row.split(/[│|]|\s{2,}/u).forEach((field) => findComposed(field.trim()));
  }
  return texts.map(({ line }) => line).filter((line) => found.has(line));
}

const read = (file) => fs.readFileSync(path.join(ROOT, file), 'utf8');

/** Finds the texts of each plugin in shown ones, by their files. */
const FINDERS = {
  jetbrains: (shown) => [[BUNDLE, findBundleTexts(bundleTexts(read(BUNDLE)), shown)]],
  neovim: (shown) => {
    const files = fs.readdirSync(path.join(ROOT, LUA)).sort().map((name) => `${LUA}/${name}`);
    const textsOf = (file) => codeTexts(read(file), path.extname(file).slice(1));
    return [...files, QUESTION].map((file) => [file, findCodeTexts(textsOf(file), shown)]);
  },
};

/** Returns the texts of a plugin in shown ones, by their files: lines of the bundle, and literals. */
export function findTexts(plugin, shown) {
  return Object.fromEntries(FINDERS[plugin](shown).filter(([, texts]) => texts.length > 0));
}

/** Adds the texts of a plugin in a picture, which shows the texts `shown`, to the folder's `texts.json`. */
export function recordTexts(folder, name, plugin, shown) {
  const file = path.join(folder, 'texts.json');
  const all = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {};
  all[name] = findTexts(plugin, shown);
  const sorted = Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
  fs.writeFileSync(file, `${JSON.stringify(sorted, null, 2)}\n`);
}
