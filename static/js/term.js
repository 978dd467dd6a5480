// Live output as a terminal shows it: colours, carriage returns, backspaces,
// erasing and moving within a line. Everything is text nodes and spans with
// classes; at most the last 64 KiB or 1,000 lines are in the page.
import { Look } from "./look.js";

const MAX_LINES = 1000;
const MAX_CHARS = 64 * 1024;
const LINES_PER_BLOCK = 200;
const MAX_LINE = 4096; // a longer line is taken in pieces
const MAX_COLUMN = 1000; // how far a sequence can move the cursor
const MAX_PENDING = 4096; // of a sequence that does not end
const HIDDEN_MS = 50; // between updates in a hidden tab

export class Term {
  constructor(place) {
    this.place = place;
    this.reset();
  }

  reset() {
    this.place.replaceChildren();
    this.blocks = []; // {node, lines, chars}
    this.cells = []; // the line that is written: {char, look}
    this.col = 0;
    this.look = Look.plain;
    this.pending = ""; // an unfinished escape sequence
    this.waiting = ""; // text that is not drawn yet
    this.drawn = null; // the node of the line that is written
    this.scheduled = false;
  }

  /** Shows text from the start, in place of what the server rendered. */
  replay(text) {
    this.reset();
    this.waiting = text;
    this.draw();
  }

  /** Adds text; it is drawn with the next frame. */
  write(text) {
    this.waiting += text;
    if (this.waiting.length > 2 * MAX_CHARS) {
      const from = this.waiting.length - MAX_CHARS;
      this.waiting = this.waiting.slice(this.waiting.indexOf("\n", from) + 1 || from);
    }
    if (this.scheduled) return;
    this.scheduled = true;
    const draw = () => this.draw();
    if (document.hidden) setTimeout(draw, HIDDEN_MS);
    else requestAnimationFrame(draw);
  }

  draw() {
    this.scheduled = false;
    const atEnd = this.place.scrollHeight - this.place.scrollTop - this.place.clientHeight < 24;
    const text = this.pending + this.waiting;
    this.pending = this.waiting = "";
    this.take(text);
    this.drawLine();
    this.trim();
    if (atEnd) this.place.scrollTop = this.place.scrollHeight;
  }

  take(text) {
    let i = 0;
    while (i < text.length) {
      const c = text[i];
      if (c === "\n") { this.commit("\n"); i++; }
      else if (c === "\r") { this.col = 0; i++; }
      else if (c === "\b") { this.col = Math.max(0, this.col - 1); i++; }
      else if (c === "\x1b") {
        const used = this.escape(text, i);
        if (!used) {
          this.pending = text.length - i > MAX_PENDING ? "" : text.slice(i);
          return;
        }
        i += used;
      } else {
        const char = String.fromCodePoint(text.codePointAt(i));
        this.put(char);
        i += char.length;
      }
    }
  }

  put(char) {
    while (this.cells.length < this.col) this.cells.push({ char: " ", look: Look.plain });
    this.cells[this.col] = { char, look: this.look };
    this.col++;
    if (this.cells.length >= MAX_LINE) this.commit("");
  }

  /** Takes an escape sequence; 0 where its end has not come yet. */
  escape(text, at) {
    const kind = text[at + 1];
    if (kind === undefined) return 0;
    if (kind === "[") return this.control(text, at);
    if ("]PX^_".includes(kind)) return stringEnd(text, at);
    if ("()*+#% ".includes(kind)) return text.length > at + 2 ? 3 : 0;
    return 2;
  }

  control(text, at) {
    for (let i = at + 2; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 0x40 && code <= 0x7e) {
        this.apply(text.slice(at + 2, i), text[i]);
        return i + 1 - at;
      }
      if (code < 0x20 || code > 0x7e) return i - at; // broken: what follows is text
    }
    return 0;
  }

  apply(parameters, final) {
    const n = (other) => { const v = parseInt(parameters, 10); return Number.isNaN(v) || v < 0 ? other : v; };
    switch (final) {
      case "m": this.look = this.look.with(parameters); break;
      case "K": this.erase(n(0)); break;
      case "C": this.col = Math.min(this.col + n(1), Math.max(MAX_COLUMN, this.col)); break;
      case "D": this.col = Math.max(0, this.col - n(1)); break;
      case "G": this.col = Math.min(Math.max(n(1) - 1, 0), Math.max(MAX_COLUMN, this.col)); break;
    }
  }

  erase(mode) {
    if (mode === 0) this.cells.length = Math.min(this.cells.length, this.col);
    if (mode === 1) for (let i = 0; i <= this.col && i < this.cells.length; i++) this.cells[i] = { char: " ", look: Look.plain };
    if (mode === 2) this.cells.length = 0;
  }

  /** Ends the line that is written, or a piece of one that is too long. */
  commit(end) {
    const block = this.block();
    this.drawn?.remove();
    this.drawn = null;
    for (const node of runs(this.cells)) append(block.node, node);
    if (end) append(block.node, document.createTextNode(end));
    block.lines += end ? 1 : 0;
    block.chars += this.cells.length + end.length;
    this.cells = [];
    this.col = 0;
  }

  block() {
    let last = this.blocks.at(-1);
    if (!last || last.lines >= LINES_PER_BLOCK || last.chars >= MAX_CHARS / 4) {
      last = { node: document.createElement("div"), lines: 0, chars: 0 };
      this.blocks.push(last);
      this.place.append(last.node);
    }
    return last;
  }

  drawLine() {
    this.drawn?.remove();
    this.drawn = document.createElement("span");
    this.drawn.append(...runs(this.cells));
    this.block().node.append(this.drawn);
  }

  trim() {
    const sum = (of) => this.blocks.reduce((n, block) => n + block[of], 0);
    while (this.blocks.length > 1 && (sum("lines") > MAX_LINES || sum("chars") > MAX_CHARS)) this.blocks.shift().node.remove();
  }
}

/** Appends a node; plain text joins the plain text before it. */
function append(parent, node) {
  const last = parent.lastChild;
  if (last?.nodeType === Node.TEXT_NODE && node.nodeType === Node.TEXT_NODE) last.appendData(node.data);
  else parent.append(node);
}

/** The length of a string sequence: to BEL or to ESC \. */
function stringEnd(text, at) {
  for (let i = at + 2; i < text.length; i++) {
    if (text[i] === "\x07") return i + 1 - at;
    if (text[i] === "\x1b" && text[i + 1] === "\\") return i + 2 - at;
  }
  return 0;
}

/** Cells as nodes, one for each stretch that looks the same. */
function runs(cells) {
  const nodes = [];
  for (let i = 0; i < cells.length; ) {
    const { look } = cells[i];
    let text = "";
    for (; i < cells.length && cells[i].look.name === look.name; i++) text += cells[i].char;
    const node = document.createTextNode(text);
    if (!look.name) nodes.push(node);
    else {
      const span = document.createElement("span");
      span.className = look.name;
      span.append(node);
      nodes.push(span);
    }
  }
  return nodes;
}
