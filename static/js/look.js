// How a terminal shows a character, as the classes of content.css. Colours of
// 256 and of all are the nearest of the sixteen, whose tones are tuned to be
// read on the page.

const STYLES = { 1: "fg1", 2: "fg2", 3: "fg3", 4: "fg4", 7: "fg7", 9: "fg9" };
const ENDS = { 22: [1, 2], 23: [3], 24: [4], 27: [7], 29: [9] };

export class Look {
  static plain = new Look(new Set(), 0, 0);

  constructor(styles, fore, back) {
    this.styles = styles;
    this.fore = fore; // 30–37, 90–97, or 0
    this.back = back; // 40–47, 100–107, or 0
    const classes = [...styles].sort().map((style) => `term-${STYLES[style]}`);
    if (fore) classes.push(`term-fg${fore}`);
    if (back) classes.push(`term-bg${back}`);
    this.name = classes.join(" ");
  }

  /** The look after a "select graphic rendition" sequence. */
  with(parameters) {
    const codes = parameters.split(/[;:]/).map((code) => parseInt(code, 10) || 0);
    let { fore, back } = this;
    let styles = new Set(this.styles);
    for (let i = 0; i < codes.length; i++) {
      const code = codes[i];
      if (code === 0) { styles = new Set(); fore = back = 0; }
      else if (code === 38 || code === 48) {
        const [colour, used] = extended(codes.slice(i + 1));
        i += used;
        if (code === 38) fore = colour;
        else back = colour && colour + 10;
      } else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) fore = code;
      else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) back = code;
      else if (code === 39) fore = 0;
      else if (code === 49) back = 0;
      else if (STYLES[code]) styles.add(code);
      else for (const style of ENDS[code] ?? []) styles.delete(style);
    }
    return new Look(styles, fore, back);
  }
}

/** A colour of 256 (5;n) or of all (2;r;g;b), and how many codes it took. */
function extended(codes) {
  if (codes[0] === 5 && codes.length >= 2) return [indexed(codes[1]), 2];
  if (codes[0] === 2 && codes.length >= 4) return [nearest(codes[1], codes[2], codes[3]), 4];
  return [0, codes.length];
}

function indexed(n) {
  if (n < 0 || n > 255) return 0;
  if (n < 8) return 30 + n;
  if (n < 16) return 90 + n - 8;
  if (n >= 232) return nearest(8 + 10 * (n - 232), 8 + 10 * (n - 232), 8 + 10 * (n - 232));
  n -= 16;
  return nearest(Math.floor(n / 36) * 51, (Math.floor(n / 6) % 6) * 51, (n % 6) * 51);
}

function nearest(r, g, b) {
  const high = Math.max(r, g, b);
  const low = Math.min(r, g, b);
  if (high - low < 32) return high > 176 ? 37 : high > 48 ? 90 : 30;
  const middle = (high + low) / 2;
  return 30 + (r > middle ? 1 : 0) + (g > middle ? 2 : 0) + (b > middle ? 4 : 0);
}
