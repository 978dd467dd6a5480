// What was said before what is in the page: earlier messages, earlier parts of an
// answer, and the text above the end of a long one. It is fetched as one scrolls
// up to the link that stands for it, and what one reads stays where it is. Whoever
// follows the end has only so much of it in the page.
import { basePath, refusal, toast } from "./requests.js";
import { word, exact } from "./words.js";
import { enhance } from "./enhance.js";
import { isFollowing, jumpToLatest, pauseFollowing, scrolledByPerson } from "./follow.js";

const REACH_PX = 400; // this far above the window it is fetched
const LEAST_MESSAGES = 60; // that stay in the page of who follows
const MOST_MESSAGES = 3 * LEAST_MESSAGES;
const LEAST_TEXT = 64 * 1024; // bytes of a text that streams in, as its author wrote it
const MOST_TEXT = 2 * LEAST_TEXT;

const places = { text: putText, parts: putBefore, log: putBefore };

export function startOlder() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-older]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    openOlder(link);
  });
  addEventListener("scroll", () => { if (scrolledByPerson() && !isFollowing()) reachOlder(); }, { passive: true });
}

/** A person asks for it: what is above stays in the page from now on. */
async function openOlder(link) {
  const followed = isFollowing();
  pauseFollowing();
  if (!await fetchOlder(link) && followed) jumpToLatest();
}

/** Fetches what is just above the window, and what one sees the link of. */
function reachOlder() {
  for (const link of document.querySelectorAll("#messages [data-older]:not([data-busy])")) {
    const { bottom, top } = link.getBoundingClientRect();
    if (bottom > -REACH_PX && top < innerHeight) fetchOlder(link);
  }
}

/** Puts what the link stands for in its place; false where that failed. */
export async function fetchOlder(link) {
  if ("busy" in link.dataset) return false;
  link.dataset.busy = "";
  const { href } = link;
  try {
    const response = await fetch(href, { credentials: "same-origin", headers: { "HX-Request": "true", Accept: "text/html" } });
    if (!response.ok || response.redirected) throw new Error(await refusal(response));
    const template = document.createElement("template");
    template.innerHTML = await response.text();
    if (link.isConnected && link.href === href) put(link.closest(".older"), template.content);
    return true;
  } catch (refused) {
    toast(refused instanceof TypeError ? word("refused") : refused.message);
    return false;
  } finally {
    setTimeout(() => { delete link.dataset.busy; }, 1000); // of one that failed: not with each turn of the wheel
  }
}

function put(place, fragment) {
  pauseFollowing();
  const parent = place.parentElement;
  const still = shownAfter(place);
  const focused = place.contains(document.activeElement);
  const before = still?.getBoundingClientRect().top;
  const first = places[place.querySelector("[data-older]").dataset.older](place, fragment);
  window.htmx?.process(parent);
  enhance(parent);
  if (still?.isConnected) document.scrollingElement.scrollTop += still.getBoundingClientRect().top - before;
  if (focused) first?.focus({ preventScroll: true });
}

/** What is seen next below. */
function shownAfter(place) {
  let node = place.nextElementSibling;
  while (node && !node.getClientRects().length) node = node.nextElementSibling;
  return node;
}

function putBefore(place, fragment) {
  const first = fragment.querySelector("article, .part");
  place.replaceWith(fragment);
  return first;
}

function putText(place, fragment) {
  const part = place.closest(".part");
  const { from } = fragment.querySelector("[data-from]").dataset;
  const blocks = [...fragment.querySelector(".blocks").childNodes];
  part.dataset.from = from;
  part.querySelector(":scope > .blocks").prepend(...blocks);
  const more = fragment.querySelector(".older");
  if (more) place.replaceWith(more);
  else place.remove();
  return more?.querySelector("a");
}

/** A link to what is before something. One that is there already leads there
    from now on: who clicks or has focused it still finds it. */
function linkBefore(node, kind, text, address) {
  let place = node.previousElementSibling;
  if (!place?.matches(".older")) {
    place = document.createElement("p");
    place.className = "older";
    place.append(document.createElement("a"));
    node.before(place);
  }
  const link = place.querySelector("a");
  link.dataset.older = kind;
  link.href = `${basePath}${address}`;
  link.textContent = text;
}

const session = () => document.getElementById("chat").dataset.session;

/** Whether somebody has selected or focused something there, or writes there. */
function inUse(nodes) {
  const { anchorNode, isCollapsed } = getSelection();
  return nodes.some((node) => node.contains(document.activeElement) || (!isCollapsed && node.contains(anchorNode)) || node.matches("[data-editing]"));
}

/** Takes the oldest messages out of the page, whole turns, where there are many. */
export function unloadMessages() {
  const messages = document.getElementById("messages");
  const articles = [...messages.querySelectorAll(":scope > article")];
  if (articles.length <= MOST_MESSAGES) return;
  let n = articles.length - LEAST_MESSAGES;
  while (n > 0 && articles[n].dataset.turn === articles[n - 1].dataset.turn) n--;
  const gone = [...messages.children].slice(0, [...messages.children].indexOf(articles[n])).filter((node) => !node.matches("[data-fork-notice], .older"));
  if (n === 0 || inUse(gone)) return;
  for (const node of gone) node.remove();
  linkBefore(articles[n], "log", word("older"), `/s/${session()}/log?upto=${articles[n - 1].dataset.turn}`);
}

/** Takes the beginning of a text that streams in out of the page, where it is long. */
export function unloadText(part) {
  const { from, upto } = part.dataset;
  if (upto - from <= MOST_TEXT) return;
  const blocks = [...part.querySelector(":scope > .blocks").children];
  const n = blocks.findIndex((block) => Number(block.dataset.at) >= upto - LEAST_TEXT);
  const gone = blocks.slice(0, n);
  if (n <= 0 || inUse(gone)) return;
  const { at } = blocks[n].dataset;
  part.dataset.from = at;
  linkBefore(part.querySelector(":scope > .blocks"), "text", word("before", exact(at)), `/s/${session()}/messages/${part.id.slice(2)}/text?before=${at}`);
  for (const block of gone) block.remove();
}
