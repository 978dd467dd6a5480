// What only a script can put into the HTML that the server made, done once for
// each new piece of it.
import { timeOfDay, moment } from "./words.js";
import { Term } from "./term.js";

/** Makes everything under root whole. Doing it twice changes nothing. */
export function enhance(root) {
  prepare(root);
  liveTerminals(root);
  showEnds(root);
}

/** As much of it as can be done before root is in the page. */
export function prepare(root) {
  fillNUL(root);
  localTimes(root);
  copyButtons(root);
}

/** The last piece of a preview shows its end, which is what was cut out for. One
    that is folded away has no height yet: opening it comes here again. */
export function showEnds(root) {
  for (const piece of root.querySelectorAll(".out > .cut ~ .pre:last-child:not([data-at-end])")) {
    if (!piece.clientHeight) continue;
    piece.scrollTop = piece.scrollHeight;
    piece.dataset.atEnd = "";
  }
}

// HTML cannot hold a NUL, a text node can.
function fillNUL(root) {
  for (const span of root.querySelectorAll("span[data-nul]:empty")) span.textContent = "\0";
}

function localTimes(root) {
  for (const time of root.querySelectorAll("time[data-clock]")) time.textContent = timeOfDay(new Date(time.dateTime));
  for (const time of root.querySelectorAll("time[data-moment]")) time.textContent = moment(new Date(time.dateTime));
  for (const heading of root.querySelectorAll("[data-heading-at]")) {
    heading.textContent = heading.textContent.replace(heading.dataset.headingClock, timeOfDay(new Date(heading.dataset.headingAt)));
    delete heading.dataset.headingAt;
  }
}

// Code has a copy button only where scripts run.
function copyButtons(root) {
  const template = document.getElementById("copy-template");
  if (!template) return;
  for (const caption of root.querySelectorAll(".prose figure.code > figcaption")) {
    if (!caption.querySelector("button")) caption.append(template.content.cloneNode(true));
  }
}

const terminals = new WeakMap();

function liveTerminals(root) {
  for (const place of root.querySelectorAll("[data-live]")) terminalOf(place);
}

/** The terminal of a place that shows live output. */
export function terminalOf(place) {
  let term = terminals.get(place);
  if (!term) {
    term = new Term(place);
    terminals.set(place, term);
    term.replay(JSON.parse(place.dataset.raw || '""'));
    delete place.dataset.raw;
  }
  return term;
}
