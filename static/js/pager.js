// What a pager needs a script for: wrapping, the byte field, and keeping the
// focus where it was when a page is replaced by the next.
import { pauseFollowing } from "./follow.js";

export function startPager() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.wrap) wrap(button);
    if (button?.hasAttribute("data-goto-go")) goTo(button);
    if (event.target.closest(".pager, .cut, .pages")) pauseFollowing();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches?.("[data-goto]")) return;
    event.preventDefault();
    goTo(event.target.closest(".row").querySelector("[data-goto-go]"));
  });
  keepFocus();
}

function wrap(button) {
  const on = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(on));
  document.getElementById(button.dataset.wrap)?.classList.toggle("nowrap", !on);
}

/**
 * Goes to a byte, written with or without separators. What is none stays in the
 * field and is said below; that one is past the end the server says.
 */
function goTo(button) {
  const field = button.closest(".row").querySelector("[data-goto]");
  const offset = field.value.replace(/[\s,._'’]/g, "");
  const valid = /^\d+$/.test(offset);
  field.setAttribute("aria-invalid", String(!valid));
  const problem = button.closest(".pager").querySelector("[data-goto-problem]");
  problem.hidden = valid;
  problem.textContent = valid ? "" : problem.dataset.gotoProblem.replace("{typed}", () => field.value.slice(0, 40));
  if (!valid) return field.select();
  if (button.dataset.page) location.href = withOffset(button.dataset.page, offset);
  else window.htmx.ajax("GET", withOffset(button.dataset.fetch, offset), { target: button.closest(".pager"), swap: "outerHTML", source: button });
}

function withOffset(address, offset) {
  const url = new URL(address, location.href);
  url.searchParams.set("offset", offset);
  return url.pathname + url.search;
}

function keepFocus() {
  let hook = null;
  let opening = null; // where the pages are put that somebody opens
  document.addEventListener("htmx:before:swap", () => {
    const focused = document.activeElement;
    const pager = focused?.closest?.(".pager");
    hook = pager ? { id: pager.id, testid: focused.dataset.testid } : null;
    opening = pager ? null : focused?.getAttribute?.("hx-target");
  });
  document.addEventListener("htmx:after:swap", () => {
    if (opening?.startsWith("#pages-") && document.activeElement === document.body) {
      document.getElementById(opening.slice(1))?.querySelector(".page-text")?.focus({ preventScroll: true });
    }
    opening = null;
    const pager = hook && document.getElementById(hook.id);
    if (pager && !pager.contains(document.activeElement)) {
      const control = hook.testid && pager.querySelector(`[data-testid="${hook.testid}"]:not([disabled])`);
      (control || pager.querySelector(".page-text"))?.focus({ preventScroll: true });
    }
    hook = null;
  });
}
