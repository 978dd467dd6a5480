// Puts fragments that the server rendered into the page. What a person opened
// stays open, and what is there already is not put in twice.
import { enhance } from "./enhance.js";
import { fold } from "./shell.js";
import { added } from "./follow.js";

/** Puts content at target. False: the page has no such place. */
export function graft(selector, swap, content) {
  const target = document.querySelector(selector);
  if (!target) return false;
  const template = document.createElement("template");
  template.innerHTML = content;
  const fragment = template.content;
  const entries = fragment.querySelectorAll("article, .tool").length;
  const nodes = [...fragment.children];
  if (swap === "outerHTML" || swap === "innerHTML") keepOpened(target, fragment);
  else replaceKnown(fragment);
  const parent = target.parentNode;
  const refocus = focusKept(target, swap);
  place(target, swap, fragment);
  for (const node of nodes) window.htmx?.process(node);
  enhance(parent.isConnected ? parent : document);
  refocus();
  added(swap === "outerHTML" || swap === "innerHTML" ? 0 : entries);
  return true;
}

function place(target, swap, fragment) {
  switch (swap) {
    case "outerHTML": return target.replaceWith(fragment);
    case "innerHTML": return target.replaceChildren(fragment);
    case "beforebegin": return target.before(fragment);
    case "afterbegin": return target.prepend(fragment);
    case "afterend": return target.after(fragment);
    default: return target.append(fragment);
  }
}

/** Something to be added that the page has is replaced where it stands. */
function replaceKnown(fragment) {
  for (const node of [...fragment.children]) {
    const known = node.id && document.getElementById(node.id);
    if (!known) continue;
    keepOpened(known, node);
    known.replaceWith(node);
  }
}

/** Cards that a person opened or closed stay as they are, with the pages that
    were fetched into them. */
function keepOpened(target, fragment) {
  for (const fresh of fragment.querySelectorAll(".tool[id]")) {
    const old = document.getElementById(fresh.id);
    if (!old || !target.contains(old) || !("touched" in old.dataset)) continue;
    if (old.dataset.state === fresh.dataset.state && !old.querySelector("[data-live]")) {
      keepBody(old, fresh);
      continue;
    }
    fresh.dataset.touched = "";
    const open = old.querySelector("[data-fold]").getAttribute("aria-expanded") === "true";
    queueMicrotask(() => { if (fresh.isConnected) fold(fresh, open); });
  }
}

function keepBody(old, fresh) {
  const body = old.querySelector(".tool-body");
  const saw = fresh.querySelector(".saw");
  if (saw) body.querySelector(".saw")?.replaceWith(saw);
  fresh.querySelector(".tool-body").replaceWith(body);
  fresh.dataset.touched = "";
  fresh.querySelector("[data-fold]").setAttribute("aria-expanded", String(!body.hidden));
}

/** The focus stays on the same control, where that is replaced by its equal. */
function focusKept(target, swap) {
  const focused = document.activeElement;
  if (!focused || !target.contains(focused) || !["outerHTML", "innerHTML"].includes(swap)) return () => {};
  const owner = focused.closest("[id]");
  const selector = focused.id ? `#${CSS.escape(focused.id)}`
    : `#${CSS.escape(owner.id)} ${focused.dataset.testid ? `[data-testid="${focused.dataset.testid}"]` : ".tool-head"}`;
  return () => { if (!focused.isConnected) document.querySelector(selector)?.focus({ preventScroll: true }); };
}
