// The calls that wait for a decision. The server renders them; here they are
// announced, and answered once.
import { graft } from "./graft.js";
import { announce } from "./requests.js";
import { focusComposer } from "./composer.js";
import { word } from "./words.js";

const BLOCK = '[data-testid="approval"]';
const DECIDED = 409; // somebody did so before, in another tab
const AGAIN_MS = 5000; // after which an answer can be given again, if nothing came of it

export function startApprovals() {
  document.addEventListener("submit", once, true);
  document.addEventListener("htmx:response:error", (event) => {
    const { sourceElement: form, response } = event.detail.ctx ?? {};
    if (response?.status === DECIDED) settled(form);
    else release(form);
  });
  document.addEventListener("htmx:error", (event) => release(event.detail.ctx?.sourceElement));
  heard(new Set());
}

/** Whether something waits for a decision on this page. */
export const waits = () => document.querySelector(BLOCK) !== null;

/** Goes to what waits; null where nothing does. */
export function toApproval() {
  const first = document.querySelector(`${BLOCK} button[name="decision"]`);
  return first && (() => first.focus());
}

/** Puts in what waits now. False: the page has no such answer. */
export function showApprovals(target, content) {
  const known = new Set([...document.querySelectorAll(BLOCK)].map((block) => block.dataset.call));
  const within = document.activeElement?.closest(target);
  if (!graft(target, "outerHTML", content)) return false;
  if (within && !document.activeElement?.closest(BLOCK)) (toApproval() ?? focusComposer)();
  heard(known);
  return true;
}

// Those who listen hear once of each.
function heard(known) {
  const fresh = [...document.querySelectorAll(BLOCK)].filter((block) => !known.has(block.dataset.call));
  if (fresh.length) announce(word("asked", fresh.map((block) => block.dataset.heard).join(" · ")));
}

// A double click is one answer.
function once(event) {
  const form = event.target;
  if (!form.matches(BLOCK)) return;
  if ("answered" in form.dataset) {
    event.preventDefault();
    event.stopImmediatePropagation();
    return;
  }
  form.dataset.answered = "";
  setTimeout(() => release(form), AGAIN_MS);
}

// The block goes, as where it was decided; what became of the call comes by itself.
function settled(form) {
  if (!form?.matches?.(BLOCK)) return;
  const within = form.contains(document.activeElement);
  form.remove();
  if (within) (toApproval() ?? focusComposer)();
}

function release(form) {
  if (form?.matches?.(BLOCK)) delete form.dataset.answered;
}
