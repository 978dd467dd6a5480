// Makes what is in the page like what the server rendered, and changes only what
// differs: whoever reads, selects or scrolls keeps their place, and a long answer
// that ends costs no layout of its own.
import { prepare } from "./enhance.js";
import { fold } from "./shell.js";

// What scripts and people set on elements that the server knows nothing of.
const OURS = new Set(["open", "data-touched", "data-at-end", "data-htmx-powered"]);

/** Makes old like fresh, which is used up. */
export function settle(old, fresh) {
  prepare(fresh);
  reconcile(old, fresh);
}

/** Makes the children of parent, from the node first on, like those of fresh. */
export function settleChildren(parent, fresh, first = parent.firstChild) {
  prepare(fresh);
  children(parent, fresh, first);
}

function reconcile(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (!alike(old, fresh)) old.replaceWith(fresh);
  else if (old.nodeType === Node.TEXT_NODE) old.data = fresh.data;
  else if (old.matches(".tool")) card(old, fresh);
  else if (old.matches(".think") && tellsMore(old, fresh)) return;
  else if (old.matches(".part") && reachesBack(old, fresh)) for (const around of [".think", ".tail"]) reconcile(old.querySelector(around), fresh.querySelector(around));
  else if (old.matches(".parts")) children(old, fresh, keptParts(old, fresh));
  else if (old.matches("[data-editing]")) return; // somebody writes there
  else {
    attributes(old, fresh);
    children(old, fresh);
  }
}

/** Whether old can become fresh. What htmx was told of an element it is not told
    again: one with other orders is another element. */
function alike(old, fresh) {
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) return false;
  if (old.nodeType !== Node.ELEMENT_NODE) return old.nodeType === Node.TEXT_NODE;
  const orders = (node) => [...node.attributes].filter((a) => a.name.startsWith("hx-")).map((a) => `${a.name}=${a.value}`).join("\n");
  return old.id === fresh.id && orders(old) === orders(fresh);
}

function attributes(old, fresh) {
  for (const { name } of [...old.attributes]) if (!OURS.has(name) && !fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (!OURS.has(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
}

/** What has an id is found by it; the rest goes by its place. */
function children(parent, fresh, first) {
  if (first === undefined) {
    parent.normalize();
    first = parent.firstChild;
  }
  const wanted = new Set([...fresh.children].map((node) => node.id).filter(Boolean));
  const known = new Map([...parent.children].filter((node) => wanted.has(node.id)).map((node) => [node.id, node]));
  let at = first;
  for (const node of [...fresh.childNodes]) {
    const same = node.id ? known.get(node.id) : at && !known.has(at.id) && alike(at, node) ? at : null;
    if (!same) {
      parent.insertBefore(node, at);
      continue;
    }
    while (at && at !== same && !known.has(at.id)) at = removed(at);
    if (at === same) at = at.nextSibling;
    else parent.insertBefore(same, at);
    reconcile(same, node);
  }
  while (at) at = removed(at);
}

/** Of long reasoning the server sends the beginning; what streamed in, or was
    fetched, is more. */
function tellsMore(old, fresh) {
  const [had, has] = [old, fresh].map((node) => node.querySelector(".reason").textContent);
  return had.length > has.length && had.startsWith(has);
}

/** What somebody wrote into a message that leaves is told to the page. */
function rescue(node) {
  const text = node.nodeType === Node.ELEMENT_NODE && node.querySelector("form.edit textarea");
  if (text && text.value !== text.defaultValue) document.dispatchEvent(new CustomEvent("offcut:unsaved", { detail: text.value }));
}

/** Of a long text the server sends the end. Where the page has the same text from
    further above it stays as it streamed in, or was fetched. */
function reachesBack(old, fresh) {
  const [had, has] = [old.dataset, fresh.dataset];
  return Number(has.from) > 0 && had.upto === has.upto && Number(had.from) <= Number(has.from);
}

/** Of a long answer the server sends the last parts. Those that the page has
    before them stay, with its own link to what is before those. */
function keptParts(old, fresh) {
  const link = fresh.querySelector(":scope > .older");
  const first = link && [...old.children].find((part) => part.id && part.id === link.nextElementSibling.id);
  if (!first?.previousElementSibling?.matches(".part, .steps")) return undefined;
  link.remove();
  return first;
}

function removed(node) {
  const next = node.nextSibling;
  rescue(node);
  node.remove();
  return next;
}

/** A command that goes on, such as in the background, keeps the terminal that it
    prints to: the server tells only what is new of it. */
function goesOn(old, fresh) {
  const [had, has] = [old, fresh].map((node) => node.querySelector("[data-live]"));
  if (!had || has?.dataset.raw !== '""') return false;
  const [head, next] = [old, fresh].map((node) => node.querySelector("[data-fold]"));
  next.setAttribute("aria-expanded", head.getAttribute("aria-expanded"));
  next.querySelector(".time").textContent = head.querySelector(".time").textContent;
  reconcile(head, next);
  const [row, now] = [old, fresh].map((node) => node.querySelector(".live"));
  now.querySelector("[data-live-bytes]").textContent = row.querySelector("[data-live-bytes]").textContent;
  reconcile(row, now);
  old.dataset.state = fresh.dataset.state;
  return true;
}

/** A card that a person opened or closed stays so. Whether they did or not, a
    card in the same state keeps its body, with the pages that were fetched into
    it; of its own figures only those that grow are news. One that said that the
    model had seen nothing is read anew: it was not sent the result yet. A row
    that opens nothing has no state of a person's. */
function card(old, fresh) {
  const head = old.querySelector("[data-fold]");
  if (!head || !fresh.querySelector("[data-fold]")) {
    old.replaceWith(fresh);
    return;
  }
  const open = head.getAttribute("aria-expanded");
  if (old.dataset.state === fresh.dataset.state && !old.querySelector("[data-live], [data-unread]")) {
    const next = fresh.querySelector("[data-fold]");
    next.setAttribute("aria-expanded", open);
    reconcile(head, next);
    const saw = old.querySelector(".saw");
    const seen = fresh.querySelector(".saw");
    if (saw && seen) reconcile(saw, seen);
    return;
  }
  if (goesOn(old, fresh)) return;
  old.replaceWith(fresh);
  if (!("touched" in old.dataset)) return;
  fresh.dataset.touched = "";
  // The body is fetched once htmx knows of it.
  queueMicrotask(() => { if (fresh.isConnected) fold(fresh, open === "true"); });
}
