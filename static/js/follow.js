// Following the end of the conversation. Whether to follow is changed only by
// what a person does (wheel, touch, keys, scroll bar, the button); growth of the
// page never changes it.
import { word } from "./words.js";
import { basePath } from "./requests.js";

let following = true;
let fresh = 0; // what was added while not following
let personUntil = 0; // scrolling until then is a person's
let held = false; // a finger or the mouse button is down

const root = () => document.scrollingElement;
const nearEnd = () => root().scrollHeight - root().scrollTop - root().clientHeight < 48;

export function startFollow() {
  const messages = document.getElementById("messages");
  if (!messages) return;
  openLinked();
  following = !location.hash && Boolean(document.getElementById("conn"));
  const person = () => { personUntil = performance.now() + 700; };
  addEventListener("wheel", person, { passive: true });
  addEventListener("touchmove", person, { passive: true });
  addEventListener("keydown", (event) => {
    if (["PageUp", "PageDown", "Home", "End", "ArrowUp", "ArrowDown", " "].includes(event.key)) person();
  });
  addEventListener("pointerdown", () => { held = true; });
  addEventListener("pointerup", () => { held = false; person(); });
  addEventListener("scroll", onScroll, { passive: true });
  new ResizeObserver(keepUp).observe(messages);
  document.getElementById("jump")?.addEventListener("click", jumpToLatest);
  keepUp();
}

// A link to a message that is not in this part of a long conversation: the
// server knows where it is.
function openLinked() {
  const linked = location.hash.match(/^#[mp]-(\w+)$/)?.[1];
  if (!linked || document.getElementById(location.hash.slice(1)) || new URLSearchParams(location.search).has("at")) return;
  location.replace(`${basePath}/s/${document.getElementById("chat").dataset.session}/at/${linked}`);
}

function onScroll() {
  if (scrolledByPerson()) setFollowing(nearEnd());
}

/** Whether scrolling is a person's now. */
export const scrolledByPerson = () => held || performance.now() < personUntil;

function setFollowing(on) {
  following = on;
  if (on) fresh = 0;
  showJump();
}

/** A person opened something: the page grows, and what they look at must stay. */
export function pauseFollowing() {
  if (!document.getElementById("messages")) return;
  following = false;
}

/** Scrolls to the end and follows again. */
export function jumpToLatest() {
  setFollowing(true);
  keepUp();
}

/** Something was added to the conversation; entries of them are worth counting. */
export function added(entries = 0) {
  if (following) return keepUp();
  fresh += entries;
  showJump(true);
}

/** Whether the page follows what comes. */
export const isFollowing = () => following;

function keepUp() {
  if (following) root().scrollTop = root().scrollHeight;
}

function showJump(grown = false) {
  const button = document.getElementById("jump");
  if (!button) return;
  if (following) button.hidden = true;
  else if (grown && !nearEnd()) button.hidden = false;
  document.getElementById("jump-count").textContent = fresh ? word("new", String(fresh)) : "";
}
