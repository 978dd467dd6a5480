// Keyboard shortcuts. Those of a single letter can be switched off, and none of
// them is heard while somebody writes.
import { stopTurn, focusComposer } from "./composer.js";
import { toggleDrawer, openDialog } from "./shell.js";
import { copy } from "./copy.js";
import { basePath } from "./requests.js";
import { toApproval } from "./approvals.js";

const STORED = "offcut.single-keys";

export function startKeys() {
  const box = document.getElementById("single-keys");
  if (box) {
    box.checked = singleKeys();
    box.addEventListener("change", () => {
      try { localStorage.setItem(STORED, String(box.checked)); } catch { /* until the page is left */ }
    });
  }
  document.addEventListener("keydown", onKey);
}

function singleKeys() {
  try {
    return localStorage.getItem(STORED) !== "false";
  } catch {
    return true;
  }
}

const writes = (node) => node.matches?.("input:not([type=checkbox]), textarea, select, [contenteditable]");

function onKey(event) {
  if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
  const action = actionFor(event);
  if (!action) return;
  event.preventDefault();
  action();
}

function actionFor(event) {
  if (document.querySelector("dialog[open]")) return null;
  const { key, shiftKey } = event;
  if (event.ctrlKey || event.metaKey) return event.altKey ? null : withControl(key, shiftKey);
  if (event.altKey) return null;
  if (key === "Escape") return shiftKey ? focusComposer : stops(event);
  if (key === "F6") return between;
  if (writes(event.target) || !document.getElementById("single-keys")?.checked) return null;
  switch (key) {
    case "/": return focusSearch;
    case "?": return () => openDialog("keys");
    case "a": return toApproval();
    case "j": return () => step(1);
    case "k": return () => step(-1);
  }
  return null;
}

function withControl(key, shiftKey) {
  if (!shiftKey) return { k: focusSearch, "/": () => openDialog("keys") }[key.toLowerCase()] ?? null;
  switch (key.toLowerCase()) {
    case "o": return () => { location.href = `${basePath}/`; };
    case "s": return toggleDrawer;
    case ";": case ":": return copyLastCode;
  }
  return null;
}

// Escape stops the turn, unless something is open that it closes first.
function stops(event) {
  const open = document.querySelector('[data-menu][aria-expanded="true"]') || document.body.hasAttribute("data-rail-open");
  const running = document.getElementById("chat")?.dataset.turn;
  if (open || !running || event.target.matches?.("input[type=search], form.edit *")) return null;
  return stopTurn;
}

function focusSearch() {
  const field = document.getElementById("session-search");
  if (!field) return;
  if (!field.checkVisibility({ visibilityProperty: true })) toggleDrawer();
  field.focus();
  field.select();
}

// A page without a conversation has the sessions beside it, or what it lists.
function between() {
  const log = ["log", "hits", "sessions"].map((id) => document.getElementById(id)).find(Boolean);
  if (document.activeElement?.id === "composer-text" || !document.getElementById("composer-text")) log?.focus();
  else focusComposer();
}

/** To the next or previous message. */
function step(by) {
  const messages = [...document.querySelectorAll('[data-testid="message"]')];
  if (!messages.length) return;
  const now = messages.indexOf(document.activeElement?.closest('[data-testid="message"]'));
  const next = now < 0 ? (by > 0 ? 0 : messages.length - 1) : Math.min(Math.max(now + by, 0), messages.length - 1);
  messages[next].focus();
}

function copyLastCode() {
  const code = [...document.querySelectorAll(".prose figure.code pre")].at(-1);
  if (code) copy(code.textContent);
}
