// The live connection of a session's page. htmx's extension opens the socket
// and opens it again; what comes in is ours: numbered frames, applied once and
// in order. What was missed is asked for by number; where the server no longer
// has it, the page reads the conversation again.
import { basePath, announce } from "./requests.js";
import { word } from "./words.js";
import { apply, replaceLog } from "./frames.js";
import { closeComposer } from "./composer.js";

const OFFBAR_AFTER_MS = 1000; // a short interruption moves nothing
const POLL_AFTER_FAILURES = 3; // sockets that never opened, one after the other
const POLL_MS = 4000;
const REREAD_MS = 2000; // after the conversation could not be read
const FINAL_CODES = new Set([1000, 1008]); // the server does not want us back

let chat, seq = 0, waiting = null, failures = 0, opened = false, offTimer, pollTimer, over = false;

export function startStream() {
  chat = document.getElementById("chat");
  const conn = document.getElementById("conn");
  if (!conn) return;
  seq = Number(chat.dataset.seq) || 0;
  conn.addEventListener("htmx:ws:after:connection", (event) => onOpen(event.detail.connection.socket));
  conn.addEventListener("htmx:ws:before:message:incoming", (event) => {
    event.preventDefault();
    onText(event.detail.message.data);
  });
  conn.addEventListener("htmx:ws:close", (event) => onClose(event.detail.code));
  // htmx starts on its own time; the socket opens only when we listen.
  window.htmx.process(conn);
  window.htmx.trigger(conn, "listen");
  // A page from the browser's back cache has missed what happened meanwhile.
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
}

function onOpen(socket) {
  opened = true;
  failures = 0;
  socket.send(JSON.stringify({ t: "hello", after: seq }));
  clearTimeout(offTimer);
  clearInterval(pollTimer);
  offTimer = pollTimer = undefined;
  showConnection("");
}

function onClose(code) {
  if (over || code === null) return;
  if (!opened) failures++;
  opened = false;
  if (FINAL_CODES.has(code)) {
    over = true;
    showConnection(word("gone"));
    return;
  }
  document.getElementById("conn-dot").hidden = false;
  offTimer ??= setTimeout(() => showConnection(word(pollTimer ? "polling" : "offline")), OFFBAR_AFTER_MS);
  if (failures < POLL_AFTER_FAILURES || pollTimer) return;
  pollTimer = setInterval(reread, POLL_MS);
  showConnection(word("polling"));
}

/** Says what is wrong with the connection; nothing: all is well. */
function showConnection(sentence) {
  document.getElementById("conn-dot").hidden = !sentence || over;
  const bar = document.getElementById("offbar");
  bar.hidden = !sentence;
  bar.querySelector("span").textContent = sentence;
}

function onText(data) {
  let frame;
  try {
    frame = JSON.parse(data);
  } catch {
    return; // not a frame of ours
  }
  if (frame.t === "ping") return;
  if (waiting) return void waiting.push(frame);
  take(frame);
}

function take(frame) {
  if ((frame.seq ?? frame.of) <= seq) return; // seen, or told by the page that was read meanwhile
  if (frame.seq !== undefined) {
    seq = frame.seq;
    chat.dataset.seq = String(seq);
  }
  if (frame.t === "gone") {
    over = true;
    showConnection(frame.d || word("gone"));
    announce(frame.d || word("gone"));
    if (frame.state === "deleted") endWithSession(chat.dataset.session);
    return;
  }
  if (frame.t === "resync" || !apply(frame)) refresh();
}

/** The session is no more: nothing works any longer, and nothing is taken. What
    was read, and what was written and not sent, can still be copied. */
function endWithSession(id) {
  closeComposer();
  for (const working of chat.querySelectorAll(".working")) working.remove();
  for (const dot of chat.querySelectorAll(".dot.pulse")) dot.classList.remove("pulse");
  for (const article of chat.querySelectorAll("article[aria-busy]")) article.removeAttribute("aria-busy");
  document.querySelector(`[data-testid="session-item"][data-session="${CSS.escape(id)}"]`)?.remove();
}

let refreshing = null, again = false;

/** Reads the conversation again; frames that come meanwhile wait for it. Where it
    is being read it is read once more: what changed is in it for certain. */
export function refresh() {
  again = true;
  refreshing ??= resync().finally(() => { refreshing = null; });
  return refreshing;
}

async function resync() {
  while (again && !over) {
    again = false;
    waiting = [];
    while (await reread() === null && !over) await new Promise((next) => { setTimeout(next, REREAD_MS); });
    const frames = waiting;
    waiting = null;
    if (!over) frames.forEach(take);
  }
}

/** Fetches the conversation and shows it where it is news; its number, or null. */
async function reread() {
  try {
    const response = await fetch(`${basePath}/s/${chat.dataset.session}/log`, {
      credentials: "same-origin",
      headers: { "HX-Request": "true", Accept: "text/html" },
    });
    if (response.status === 401) showConnection(word("signed-out"));
    if (response.status === 404) {
      over = true;
      clearInterval(pollTimer);
      showConnection(word("gone"));
      endWithSession(chat.dataset.session);
    }
    if (!response.ok || response.redirected) return null;
    const newest = replaceLog(await response.text(), pollTimer ? seq : null);
    if (newest !== null) {
      seq = newest;
      chat.dataset.seq = String(seq);
    }
    return newest;
  } catch {
    return null; // not reached: the next try comes with the next connection
  }
}
