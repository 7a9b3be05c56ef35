// Draws screens of terminals as SVG: one as a picture, or several as a recording.

const FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace';
const [CELL_WIDTH, CELL_HEIGHT, MARGIN, BAR] = [8, 17, 12, 28];
const [FOREGROUND, BACKGROUND, FRAME] = ['#e6edf3', '#0d1117', '#30363d'];

/** The first 16 colors of a terminal. */
const COLORS = (
  '#484f58 #ff7b72 #3fb950 #d29922 #58a6ff #bc8cff #39c5cf #b1bac4 ' +
  '#6e7681 #ffa198 #56d364 #e3b341 #79c0ff #d2a8ff #56d4dd #f0f6fc'
).split(' ');

const hex = (...parts) => `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;

/** Returns a color of the palette with 256 colors. */
function indexed(index) {
  if (index < 16) return COLORS[index];
  if (index >= 232) return hex(...Array(3).fill(8 + (index - 232) * 10));
  const part = (value) => (value ? 55 + value * 40 : 0);
  const cube = index - 16;
  return hex(part(Math.floor(cube / 36)), part(Math.floor(cube / 6) % 6), part(cube % 6));
}

/** Returns the style after the codes of a `CSI … m` sequence. */
function styled(style, codes) {
  let next = { ...style };
  const rest = codes.split(/[;:]/).map(Number);
  while (rest.length > 0) {
    const code = rest.shift();
    const name = code >= 40 && code !== 90 && code < 50 ? 'back' : 'color';
    if (code === 0) next = {};
    else if (code === 1) next.isBold = true;
    else if (code === 2) next.isDim = true;
    else if (code === 7) next.isReverse = true;
    else if (code === 22) next.isBold = next.isDim = false;
    else if (code === 27) next.isReverse = false;
    else if (code === 39 || code === 49) delete next[name];
    else if (code === 38 || code === 48) {
      next[name] = rest.shift() === 5 ? indexed(rest.shift()) : hex(...rest.splice(0, 3));
    } else if (code >= 30 && code <= 47) next[name] = COLORS[code % 10];
    else if (code >= 90 && code <= 97) next.color = COLORS[code - 82];
    else if (code >= 100 && code <= 107) next.back = COLORS[code - 92];
  }
  return next;
}

const isWide = (char) => /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uff00-\uff60]/u.test(char);
const width = (text) => [...text].reduce((sum, char) => sum + (isWide(char) ? 2 : 1), 0);
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Draws a run of characters with one style. */
function drawRun(text, style, x, y) {
  const { isBold, isDim, isReverse } = style;
  let [color, back] = [style.color ?? FOREGROUND, style.back];
  if (isReverse) [color, back] = [back ?? BACKGROUND, color];
  const at = (column) => (x + column) * CELL_WIDTH;
  const cells = width(text);
  const drawn = [];
  if (back) {
    const size = `width="${cells * CELL_WIDTH}" height="${CELL_HEIGHT}"`;
    drawn.push(`<rect x="${at(0)}" y="${y * CELL_HEIGHT}" ${size} fill="${back}"/>`);
  }
  const look = `fill="${color}"${isBold ? ' font-weight="bold"' : ''}${isDim ? ' opacity=".6"' : ''}`;
  // Each word has its place and width, whatever font the reader has.
  for (const { 0: word, index } of text.matchAll(/\S+(?: \S+)*/g)) {
    const start = at(width(text.slice(0, index)));
    const place = `x="${start}" y="${y * CELL_HEIGHT + 13}" textLength="${width(word) * CELL_WIDTH}"`;
    drawn.push(`<text ${place} ${look}>${escaped(word)}</text>`);
  }
  return drawn.join('');
}

/** Draws a screen with its escape sequences. */
function drawScreen(screen) {
  let style = {};
  const rows = screen.split('\n').map((row, y) => {
    let x = 0;
    const drawn = row.split(/\x1b\[([\d;:]*)m/).map((part, index) => {
      if (index % 2) {
        style = styled(style, part || '0');
        return '';
      }
      // tmux switches the character set for lines.
      const text = part.replaceAll(/\x1b\([B0]|[\x0e\x0f]/g, '');
      const run = text && drawRun(text, style, x, y);
      x += width(text);
      return run;
    });
    return drawn.join('');
  });
  return rows.join('\n');
}

/** Draws windows below each other, with a caption above them. A window has `{title, screen, columns, rows}`. */
function drawFrame({ caption, windows }) {
  let top = BAR + MARGIN;
  const drawn = [
    `<text x="${MARGIN}" y="24" font-size="17" font-weight="bold" fill="${FOREGROUND}">${escaped(caption)}</text>`,
  ];
  for (const { title, screen, columns, rows } of windows) {
    const [w, h] = [columns * CELL_WIDTH + 2 * MARGIN, rows * CELL_HEIGHT + BAR + MARGIN];
    drawn.push(`<g transform="translate(${MARGIN} ${top})">
<rect width="${w}" height="${h}" rx="6" fill="${BACKGROUND}" stroke="${FRAME}"/>
<text x="${MARGIN}" y="18" fill="#8b949e">${escaped(title)}</text>
<g transform="translate(${MARGIN} ${BAR})">${drawScreen(screen)}</g></g>`);
    top += h + MARGIN;
  }
  return drawn.join('\n');
}

function size({ windows }) {
  const heights = windows.map(({ rows }) => rows * CELL_HEIGHT + BAR + 2 * MARGIN);
  const height = heights.reduce((sum, height) => sum + height, BAR + MARGIN);
  return [Math.max(...windows.map(({ columns }) => columns)) * CELL_WIDTH + 4 * MARGIN, height];
}

/** Draws frames of the same size as an endless recording. Each has a caption, windows and `seconds`. One is a picture. */
export function drawFrames(frames) {
  const [w, h] = size(frames[0]);
  const all = frames.reduce((sum, { seconds }) => sum + seconds, 0);
  const styles = [];
  let time = 0;
  const drawn = frames.map((frame, index) => {
    const [from, to] = [time, (time += frame.seconds)].map((at) => ((at / all) * 100).toFixed(3));
    const before = index ? '0%{visibility:hidden}' : '';
    styles.push(`@keyframes f${index}{${before}${from}%{visibility:visible}${to}%{visibility:hidden}}`);
    const first = index ? 'hidden' : 'visible'; // without animations, the first frame shows
    styles.push(`#f${index}{visibility:${first};animation:f${index} ${all}s step-end infinite}`);
    return `<g id="f${index}">${drawFrame(frame)}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}"
  font-family="${FONT}" font-size="13" xml:space="preserve">
${frames.length > 1 ? `<style>${styles.join('')}</style>` : ''}
<rect width="100%" height="100%" rx="6" fill="#161b22"/>
${drawn.join('\n')}
</svg>
`;
}
