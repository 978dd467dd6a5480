// Puts fragments that the server rendered into the page. What is there already is
// not put in twice, and what is right already is left alone.
import { enhance } from "./enhance.js";
import { settle, settleChildren } from "./settle.js";
import { added, isFollowing } from "./follow.js";
import { unloadMessages } from "./older.js";

/** Puts content at target. False: the page has no such place. */
export function graft(selector, swap, content) {
  const target = document.querySelector(selector);
  if (!target) return false;
  const template = document.createElement("template");
  template.innerHTML = content;
  const fragment = template.content;
  const parent = target.parentNode;
  const refocus = focusKept(target);
  let entries = 0;
  if (swap === "outerHTML") settle(target, fragment.firstElementChild);
  else if (swap === "innerHTML") settleChildren(target, fragment);
  else {
    settleKnown(fragment);
    entries = fragment.querySelectorAll("article, .tool").length;
    place(target, swap, fragment);
  }
  window.htmx?.process(parent);
  enhance(parent);
  refocus();
  if (isFollowing()) unloadMessages();
  added(entries);
  return true;
}

function place(target, swap, fragment) {
  switch (swap) {
    case "beforebegin": return target.before(fragment);
    case "afterbegin": return target.prepend(fragment);
    case "afterend": return target.after(fragment);
    default: return target.append(fragment);
  }
}

/** What is to be added and is in the page becomes so where it stands. */
function settleKnown(fragment) {
  for (const node of [...fragment.children]) {
    const known = node.id && document.getElementById(node.id);
    if (!known) continue;
    node.remove();
    settle(known, node);
  }
}

/** The focus stays on the same control, where that is replaced by its equal. */
function focusKept(target) {
  const focused = document.activeElement;
  if (!focused || !target.contains(focused)) return () => {};
  const owner = focused.closest("[id]");
  const selector = focused.id ? `#${CSS.escape(focused.id)}`
    : `#${CSS.escape(owner.id)} ${focused.dataset.testid ? `[data-testid="${focused.dataset.testid}"]` : ".tool-head"}`;
  return () => { if (!focused.isConnected) document.querySelector(selector)?.focus({ preventScroll: true }); };
}
