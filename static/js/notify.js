// What a hidden tab tells of its turn: by its title and icon, and by a notice of
// the browser where the user wants that and the browser allows it.
import { word } from "./words.js";
import { waits } from "./approvals.js";

const MARKS = { running: "● ", ended: "✓ " }; // what waits for a decision says so in words
const NOTICES = { awaiting_approval: "notify-approval", done: "notify-done", stopped: "notify-done", interrupted: "notify-error", error: "notify-error" };

let unseen = ""; // the mark of what happened while nobody looked

export function startNotify() {
  mark();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    unseen = "";
    mark();
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches?.("[data-ask-notify]") && event.target.checked) ask(event.target);
  });
}

/** A turn has come to a state: running, awaiting_approval or one of its ends. */
export function tell(state) {
  if (!document.hidden || !NOTICES[state]) {
    mark();
    return;
  }
  if (state !== "awaiting_approval") unseen = MARKS.ended;
  mark();
  notify(NOTICES[state]);
}

/** Shows in the tab what the page is at. */
export function mark() {
  const chat = document.getElementById("chat");
  if (!chat?.dataset.title) return;
  const running = waits() ? `${word("asks")} ` : chat.dataset.turn ? MARKS.running : "";
  document.title = (running || unseen) + chat.dataset.title;
  const icon = document.querySelector("link[rel=icon]");
  const wanted = chat.dataset.turn ? icon.dataset.busy : icon.dataset.idle;
  if (icon.getAttribute("href") !== wanted) icon.setAttribute("href", wanted);
}

function notify(key) {
  const chat = document.getElementById("chat");
  if (!chat.hasAttribute("data-notify") || globalThis.Notification?.permission !== "granted") return;
  try {
    const notice = new Notification(chat.dataset.title, { body: word(key), tag: chat.dataset.session });
    notice.onclick = () => { window.focus(); notice.close(); };
  } catch {
    // some browsers of phones have the name and not the thing
  }
}

/** Asks for the browser's permission when the user asks for notices. */
async function ask(box) {
  const answer = await globalThis.Notification?.requestPermission();
  if (answer === "granted") return;
  box.checked = false;
  const hint = document.getElementById(box.getAttribute("aria-describedby"));
  if (hint) hint.textContent = hint.dataset.notifyRefused;
}
