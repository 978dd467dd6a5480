// What a live frame does to the page. Text is appended to one text node per
// animation frame, so the cost of a piece does not grow with the message.
import { enhance, terminalOf } from "./enhance.js";
import { setRunning } from "./composer.js";
import { added, isFollowing } from "./follow.js";
import { unloadText } from "./older.js";
import { announce } from "./requests.js";
import { word, exact } from "./words.js";
import { tick } from "./clock.js";
import { shareTitle } from "./titles.js";
import { showModel } from "./picker.js";
import { tell, mark } from "./notify.js";
import { graft } from "./graft.js";
import { settle, settleChildren } from "./settle.js";
import { showApprovals, waits } from "./approvals.js";

const HIDDEN_MS = 50; // between updates in a hidden tab
const LEAST_REASONING = 64 * 1024; // characters of reasoning that stay in the page while it comes
const FINAL = new Set(["done", "stopped", "interrupted", "error"]);

const handlers = {
  text: ({ id, d }) => queueText(id, ".tail", d),
  reasoning: ({ id, d }) => queueText(id, ".reason", d),
  seal,
  output,
  html: ({ target, swap, content, optional }) => graft(target, swap, content) || optional === true || notHere(target),
  approval,
  state,
  retry,
  title: ({ d }) => setTitle(d),
  model: ({ d }) => showModel(d),
};

/** Applies a frame. False: the page lacks what the frame changes. */
export function apply(frame) {
  const handler = handlers[frame.t];
  if (!handler) return true; // of a newer server
  if (frame.t !== "text" && frame.t !== "reasoning") flush();
  if (frame.t === "text" || frame.t === "reasoning" || frame.target?.startsWith("#b-")) answered();
  return handler(frame) !== false;
}

// ---- text ----

const queue = new Map(); // place -> text that is not in the page yet
let scheduled = false;

function queueText(id, selector, text) {
  const place = document.getElementById(`p-${id}`)?.querySelector(selector);
  if (!place) return false;
  queue.set(place, (queue.get(place) ?? "") + text);
  if (!scheduled) {
    scheduled = true;
    if (document.hidden) setTimeout(flush, HIDDEN_MS);
    else requestAnimationFrame(flush);
  }
  return true;
}

function flush() {
  scheduled = false;
  if (!queue.size) return;
  for (const [place, text] of queue) {
    const node = textNode(place);
    node.appendData(text);
    const think = place.closest(".think");
    if (!think) continue;
    think.hidden = false;
    if (node.length > 2 * LEAST_REASONING) node.replaceData(0, node.length - LEAST_REASONING, "…");
  }
  queue.clear();
  added();
}

function textNode(place) {
  if (place.firstChild?.nodeType !== Node.TEXT_NODE) place.replaceChildren(document.createTextNode(""));
  return place.firstChild;
}

function seal({ id, html, rest, bytes }) {
  const part = document.getElementById(`p-${id}`);
  if (!part) return false;
  const blocks = part.querySelector(".blocks");
  const last = blocks.lastElementChild;
  blocks.insertAdjacentHTML("beforeend", html); // sanitised by the server
  const first = last ? last.nextElementSibling : blocks.firstElementChild;
  if (first) first.dataset.at = part.dataset.upto;
  part.dataset.upto = bytes;
  const tail = part.querySelector(".tail");
  if (rest) textNode(tail).data = rest;
  else tail.replaceChildren();
  if (isFollowing()) unloadText(part);
  enhance(part);
  added();
  return true;
}

// ---- tools ----

function output({ call, d, bytes }) {
  const place = document.querySelector(`[data-live="${CSS.escape(call)}"]`);
  if (!place) return document.getElementById(`t-${call}`) !== null || notHere(`#t-${call}`); // it ended, or we lack it
  terminalOf(place).write(d);
  const count = place.parentNode.querySelector("[data-live-bytes]");
  if (count) count.textContent = word("so-far", exact(bytes));
  added();
  return true;
}

const elsewhere = new Set(); // selectors that a whole page lacked

/** Whether a card, or the end of a turn, is known not to be in the page: a command
    in the background goes on when its turn is far above, or is no longer shown. Of
    each the first time reads the conversation anew. */
function notHere(target) {
  if (!/^#[tf]-/.test(target)) return false;
  if (elsewhere.has(target)) return true;
  elsewhere.add(target);
  return false;
}

// ---- the turn ----

function state({ turn, state: now }) {
  const chat = document.getElementById("chat");
  if (now === "running") {
    setRunning(turn);
    tell(now);
  } else if (FINAL.has(now) && (!chat.dataset.turn || chat.dataset.turn === turn)) {
    setRunning("");
    announce(word(now));
    tell(now);
  }
  return true;
}

/** What waits for a decision. An answer is busy only while nothing does: what is
    busy is not read out. */
function approval({ target, content }) {
  if (!showApprovals(target, content)) return false;
  const answer = document.querySelector(target).closest("article");
  if (waits()) answer.removeAttribute("aria-busy"); // as in the page that the server makes
  else answer.setAttribute("aria-busy", "true");
  if (waits()) tell("awaiting_approval");
  else mark();
  return true;
}

/** Once an answer comes nothing waits for the next try any more. */
function answered() {
  const footer = document.getElementById(`f-${document.getElementById("chat").dataset.turn}`);
  footer?.querySelector('[data-testid="retry-notice"]')?.remove();
}

function retry({ turn, reason, content = "" }) {
  const known = document.querySelector(`#n-${turn} [data-testid="retry-notice"]`);
  if (!graft(`#n-${turn}`, "innerHTML", content)) return false;
  if (reason && !known) announce(reason);
  tick();
  return true;
}

// ---- the title ----

function setTitle(title) {
  const chat = document.getElementById("chat");
  const place = document.getElementById("title");
  if (place) place.textContent = title;
  chat.dataset.title = `${title} · Offcut`;
  shareTitle(chat.dataset.session, title);
  const field = document.querySelector("#dlg-rename input[name=title]");
  if (field) field.value = title;
  mark();
  return true;
}

/** Replaces the whole conversation. Returns its number; where it is known
    already, nothing changes. */
export function replaceLog(html, known) {
  flush();
  const template = document.createElement("template");
  template.innerHTML = html;
  const place = template.content.querySelector("[data-log-seq]");
  if (!place) return null;
  const seq = Number(place.dataset.logSeq);
  if (seq === known) return seq;
  const meter = template.content.querySelector("[data-log-meter]");
  if (meter) settle(document.getElementById("meter"), meter.content.firstElementChild.cloneNode(true));
  const [behind, list] = [template.content.querySelector("[data-log-behind]"), document.getElementById("behind")];
  if (behind && list) {
    settle(list, behind.content.firstElementChild.cloneNode(true));
    window.htmx?.process(list);
  }
  const messages = document.getElementById("messages");
  settleChildren(messages, template.content, firstKnown(messages, template.content));
  window.htmx?.process(messages);
  enhance(messages);
  setRunning(place.dataset.logTurn || "");
  mark();
  added();
  return seq;
}

/** Where the conversation that was read begins in the page: what one fetched of
    earlier messages stays before it, with its own link to those before. */
function firstKnown(messages, log) {
  const oldest = log.querySelector("article");
  const known = oldest && document.getElementById(oldest.id);
  if (known?.parentNode === messages && known.previousElementSibling?.matches("article")) {
    for (const node of log.querySelectorAll(":scope > .older, :scope > [data-log-seq]")) node.remove();
    return known;
  }
  const notice = messages.querySelector("[data-fork-notice]");
  return notice ? notice.nextSibling : messages.firstChild;
}
