// Draws lines of a terminal as an SVG picture.

const FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace';
const [WIDTH, HEIGHT, MARGIN] = [7.9, 18, 14];

/** Draws the lines; `color` returns the color of a line. */
export function drawTerminal(lines, color = () => '#e6edf3') {
  const text = lines.map((line, index) => {
    const y = MARGIN + HEIGHT * index + 14;
    const shown = line.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    return `<text x="${MARGIN}" y="${y}" fill="${color(line)}">${shown}</text>`;
  });
  const longest = Math.max(...lines.map((line) => line.length));
  const w = Math.ceil(longest * WIDTH) + 2 * MARGIN;
  const h = lines.length * HEIGHT + 2 * MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}"
  font-family="${FONT}" font-size="13" xml:space="preserve">
<rect width="100%" height="100%" rx="6" fill="#0d1117"/>
${text.join('\n')}
</svg>
`;
}
