// The frame of the page: theme, drawer, folds, menus, dialogs.
import { post, basePath } from "./requests.js";
import { pauseFollowing } from "./follow.js";
import { showEnds } from "./enhance.js";

export function startShell() {
  document.addEventListener("click", onClick);
  document.addEventListener("submit", onSubmit);
  document.addEventListener("keydown", onEscape);
  document.addEventListener("keydown", onArrow);
  document.addEventListener("focusout", onLeave);
  document.addEventListener("change", selectAll);
  document.addEventListener("htmx:after:swap", (event) => {
    const body = event.target?.closest?.(".tool-body");
    if (body) delete body.dataset.lazy;
  });
}

function onClick(event) {
  const target = event.target;
  const button = target.closest("button");
  if (!target.closest(".menu, [data-menu]")) closeMenus();
  if (!button) {
    if (document.body.hasAttribute("data-rail-open") && !target.closest(".rail")) closeDrawer();
    return;
  }
  if (button.hasAttribute("data-drawer")) toggleDrawer();
  if (button.hasAttribute("data-menu")) toggleMenu(button);
  if (button.hasAttribute("data-fold")) fold(button.closest(".tool"), button.getAttribute("aria-expanded") !== "true", true);
  if (button.dataset.dialog) openDialog(button.dataset.dialog);
  if (button.hasAttribute("data-dismiss")) button.closest(".toast")?.remove();
  if (button.hasAttribute("data-close")) button.closest("dialog")?.close();
}

/** Opens or closes a tool card; what is not there yet is fetched. Of a card within
    another one that is asked for by a name of its own: events rise. */
export function fold(card, open, byPerson = false) {
  const head = card.querySelector("[data-fold]");
  const body = document.getElementById(head.getAttribute("aria-controls"));
  head.setAttribute("aria-expanded", String(open));
  body.hidden = !open;
  if (byPerson) {
    card.dataset.touched = "";
    if (open) pauseFollowing();
  }
  if (open) showEnds(body);
  if (open && body.hasAttribute("data-lazy")) window.htmx?.trigger(body, body.dataset.lazy || "unfold");
}

/** Shows or hides the list of sessions: a drawer on small screens, a column on wide
    ones. The focus is not lost with the button that hid or showed it. */
export function toggleDrawer() {
  const drawer = matchMedia("(max-width: 959px)").matches || document.querySelector(".app.solo");
  if (!drawer) {
    const focused = document.activeElement;
    const closed = document.body.toggleAttribute("data-rail-closed");
    if (focused.closest(closed ? ".rail" : ".head [data-drawer]")) document.querySelector(closed ? ".head [data-drawer]" : ".rail [data-drawer]")?.focus();
    return;
  }
  const open = document.body.toggleAttribute("data-rail-open");
  if (open) document.querySelector(".rail a, .rail button")?.focus();
}

function closeDrawer() {
  if (!document.body.hasAttribute("data-rail-open")) return false;
  document.body.removeAttribute("data-rail-open");
  document.querySelector(".head [data-drawer]")?.focus();
  return true;
}

function toggleMenu(button) {
  const open = button.getAttribute("aria-expanded") !== "true";
  closeMenus();
  button.setAttribute("aria-expanded", String(open));
  const menu = document.getElementById(button.getAttribute("aria-controls"));
  menu.hidden = !open;
  if (open) choices(menu)[0]?.focus();
}

const choices = (menu) => [...menu.querySelectorAll("button, a")];

/** The arrows go through an open menu, round its ends, and Home and End to them;
    the arrow down opens the menu of a button. */
function onArrow(event) {
  const button = event.target.closest?.("[data-menu]");
  if (button && event.key === "ArrowDown" && button.getAttribute("aria-expanded") !== "true") {
    event.preventDefault();
    return toggleMenu(button);
  }
  const all = choices(event.target.closest?.(".menu") ?? document.createElement("p"));
  const now = all.indexOf(event.target);
  const next = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: -1 }[event.key];
  if (now < 0 || next === undefined) return;
  event.preventDefault();
  all.at(next % all.length).focus();
}

// A menu that the focus has left is of no use any more.
function onLeave({ target, relatedTarget }) {
  const within = ".menu, [data-menu]";
  if (target.closest(within) && relatedTarget && !relatedTarget.closest(within)) closeMenus();
}

function closeMenus() {
  let closed = null;
  for (const button of document.querySelectorAll('[data-menu][aria-expanded="true"]')) {
    button.setAttribute("aria-expanded", "false");
    document.getElementById(button.getAttribute("aria-controls")).hidden = true;
    closed = button;
  }
  return closed;
}

function selectAll({ target }) {
  const form = target.dataset.selectAll;
  if (!form) return;
  for (const box of document.querySelectorAll(`input[type=checkbox][form="${form}"]`)) box.checked = target.checked;
}

/** Opens a dialog by its id. */
export function openDialog(id) {
  closeMenus();
  const dialog = document.getElementById(id);
  if (dialog && !dialog.open) dialog.showModal();
}

function onEscape(event) {
  if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  const menu = closeMenus();
  menu?.focus();
  if (menu || closeDrawer()) event.preventDefault();
}

// The theme changes at once; the server remembers it in the background.
function onSubmit(event) {
  const form = event.target;
  if (!form.hasAttribute("data-theme-form")) return;
  event.preventDefault();
  const theme = event.submitter?.value ?? "";
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  for (const button of form.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.value === theme));
  post(`${basePath}/settings/theme`, { theme }).catch(() => {}); // the page has it; the next one asks again
}
