// The box in which messages are written. A text has one id from the first try to
// send it until the server took it, so that a double click, a second try or a
// replay is one message; and it is kept until then, over reloads too. Another text,
// or the same with other files, gets another id.
import { post, followed, refusal } from "./requests.js";
import { word } from "./words.js";
import { enhance } from "./enhance.js";
import { jumpToLatest } from "./follow.js";
import { unloadMessages } from "./older.js";
import { editLast } from "./edit.js";
import { loadDraft, storeDraft } from "./drafts.js";
import { startAttach, attaching, upload, uploadAnew, attached } from "./attach.js";

const LONG_TEXT = 20 * 1024; // characters from which on the box does not grow with the text

let form, text, problem, sending = false;
let unsure = false; // a try was made, and whether the server has the text is not known

export function startComposer() {
  form = document.getElementById("composer");
  if (!form) return;
  text = document.getElementById("composer-text");
  problem = document.getElementById("composer-problem");
  restore();
  startAttach(say, onOtherFiles);
  form.addEventListener("submit", (event) => { event.preventDefault(); send(); });
  text.addEventListener("keydown", onKey);
  text.addEventListener("beforeinput", onBeforeInput);
  text.addEventListener("input", onInput);
  addEventListener("pagehide", () => { if (keeping) keepNow(); }); // what was written last
  document.getElementById("stop").addEventListener("click", stopTurn);
  document.addEventListener("offcut:unsaved", ({ detail }) => takeOver(detail));
  for (const example of document.querySelectorAll("[data-try]")) {
    example.addEventListener("click", () => { put(example.dataset.try); text.focus(); });
  }
  document.addEventListener("click", (event) => ask(event.target.closest?.("[data-ask]")));
  if (wroteBefore() || (matchMedia("(pointer: fine)").matches && !location.hash)) text.focus({ preventScroll: true });
}

// The first message leads to the page of its session: who wrote it is in the box
// there too, also where a page does not take the focus by itself.
const WRITES_ON = "offcut.writes-on";

function wroteBefore() {
  try {
    const wrote = sessionStorage.getItem(WRITES_ON) !== null;
    sessionStorage.removeItem(WRITES_ON);
    return wrote;
  } catch {
    return false; // no storage
  }
}

function writesOn() {
  try {
    if (document.activeElement === text) sessionStorage.setItem(WRITES_ON, "");
  } catch {
    // no storage: the next page begins at its top
  }
}

/** Enter sends, Shift+Enter breaks the line, Up in an empty box changes what was
    sent last, and while an input method
    composes a word Enter belongs to it. */
function onKey(event) {
  if (event.key === "ArrowUp" && composerEmpty() && !event.shiftKey && !event.altKey && editLast()) return event.preventDefault();
  if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return;
  if (event.shiftKey && !event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  send();
}

// A long text that is pasted is never laid out line by line: the box has its full
// height before it comes.
function onBeforeInput(event) {
  const more = event.data ?? event.dataTransfer?.getData("text/plain") ?? "";
  if (text.value.length + more.length > LONG_TEXT) text.classList.add("long");
}

function onInput() {
  say("");
  grow();
  if (unsure && !sending) renew();
  keep();
}

function onOtherFiles() {
  if (!unsure) return;
  renew();
  keep();
}

// Browsers without field-sizing get the height by script. A long text gets the
// full height at once: measuring twenty thousand lines takes a second.
function grow() {
  const long = text.value.length > LONG_TEXT;
  text.classList.toggle("long", long);
  if (long) return;
  if (CSS.supports("field-sizing", "content")) return;
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight}px`;
}

/** Puts text into the box, as if it had been written. */
export function put(value) {
  text.value = value;
  onInput();
}

/** Takes a text that was written into a message which another version replaced. */
function takeOver(value) {
  put([text.value, value].filter(Boolean).join("\n\n"));
  say(word("unsaved"));
}

// What a button proposes to ask comes after what is written; it is sent by whoever
// reads it.
function ask(button) {
  if (!button) return;
  put(text.value.trim() ? `${text.value.trimEnd()}\n\n${button.dataset.ask}` : button.dataset.ask);
  text.focus();
}

/** True while nothing is written. */
export function composerEmpty() {
  return !text || text.value === "";
}

/** To the box. */
export function focusComposer() {
  text?.focus();
}

async function send() {
  const content = text.value;
  if (sending || text.readOnly || (!content.trim() && !attaching())) return;
  setSending(true);
  say("");
  try {
    const id = draftID();
    const paths = await upload(id, form.elements.model?.value).catch((refused) => { say(refused.message); return null; });
    if (!paths) return setSending(false); // the text and the other files stay
    storeDraft({ text: content, id });
    unsure = true;
    const fields = Object.entries({ content, client_id: id, ...chosenModel() });
    const response = await post(form.action, [...fields, ...paths.map((path) => ["attachment", path])]);
    unsure = response.status >= 500;
    if (response.ok && !response.redirected) await taken(response, content);
    else if (response.status === 401) sayWithWay(word("signed-out"), response.headers.get("HX-Redirect"), word("sign-in"));
    else {
      if (response.ok) forget();
      if (followed(response)) return; // the box stays closed until the next page is there
      if (response.status === 404) uploadAnew();
      say(await refusal(response));
    }
  } catch {
    say(word("failed")); // the server was not reached: the text and its id stay
  }
  setSending(false);
  if (unsure && text.value !== content) renew();
}

/** The model for a session that this message begins. */
function chosenModel() {
  const model = form.elements.model?.value;
  return model ? { model } : {};
}

/** The server has the message: the box is free for the next one. */
async function taken(response, content) {
  const fragment = await response.text();
  forget();
  const dropped = attached();
  text.value = text.value === content ? "" : text.value.slice(content.length).trimStart();
  if (text.value) keep();
  grow();
  if (response.headers.has("HX-Redirect")) {
    writesOn();
    await dropped; // which leaving the page would cut off
  }
  if (followed(response)) return;
  showMessage(fragment);
}

// The message usually comes by the socket too; whichever is first stays.
function showMessage(fragment) {
  const template = document.createElement("template");
  template.innerHTML = fragment;
  const article = template.content.querySelector("article[id]");
  const messages = document.getElementById("messages");
  if (article && messages && !document.getElementById(article.id)) {
    messages.append(article);
    window.htmx?.process(article);
    enhance(messages);
  }
  jumpToLatest();
  if (messages) unloadMessages();
}

function setSending(on) {
  sending = on;
  document.getElementById("send").disabled = on;
  form.toggleAttribute("data-sending", on);
}

function say(sentence) {
  problem.hidden = !sentence;
  problem.querySelector("span").textContent = sentence;
}

/** Says something with a link that leads on; the page stays, with all that is
    attached. */
function sayWithWay(sentence, address, words) {
  say(sentence);
  if (!address) return;
  const link = document.createElement("a");
  link.href = address;
  link.textContent = words;
  problem.querySelector("span").append(" ", link);
}

/** The state of the session: while a turn runs, Stop stands where Send was. */
export function setRunning(turn) {
  form?.toggleAttribute("data-running", Boolean(turn));
  document.getElementById("chat").dataset.turn = turn ?? "";
}

/** Takes no more messages: the session is no more. The text stays. */
export function closeComposer() {
  setRunning("");
  if (!form) return;
  text.readOnly = true;
  for (const control of form.querySelectorAll("button, select")) control.disabled = true;
}

/** Asks the server to stop the running turn. */
export async function stopTurn() {
  const turn = document.getElementById("chat")?.dataset.turn;
  const button = document.getElementById("stop"); // a reader has none
  if (!turn || !button) return;
  button.disabled = true;
  try {
    const response = await post(stopURL(turn));
    if (!response.ok) say(await refusal(response));
  } catch {
    say(word("failed"));
  }
  button.disabled = false;
}

const stopURL = (turn) => `${document.querySelector('meta[name="base-path"]').content}/turns/${turn}/stop`;

// ---- the draft ----

function restore() {
  const draft = loadDraft();
  if (!text.value && draft.text) text.value = draft.text;
  if (draft.id && text.value === draft.text) {
    form.elements.client_id.value = draft.id;
    unsure = true;
  }
  if (text.value) grow();
}

let keeping;

function keep() {
  clearTimeout(keeping);
  keeping = setTimeout(keepNow, 200);
}

function keepNow() {
  keepNoMore();
  storeDraft({ text: text.value, id: unsure ? draftID() : undefined });
}

function keepNoMore() {
  clearTimeout(keeping);
  keeping = undefined;
}

function forget() {
  keepNoMore();
  renew();
  storeDraft(null);
}

/** The next try is another message. */
function renew() {
  form.elements.client_id.value = "";
  unsure = false;
}

function draftID() {
  const field = form.elements.client_id;
  field.value ||= newID();
  return field.value;
}

// crypto.randomUUID is missing on plain http addresses.
function newID() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
