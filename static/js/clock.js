// What counts: how long something runs, how long until the next try. One timer
// for all, which does nothing while nothing counts.
import { word } from "./words.js";

export function startClock() {
  tick();
  setInterval(tick, 1000);
}

/** Brings every counter up to date. */
export function tick() {
  const now = Date.now();
  for (const place of document.querySelectorAll("[data-since]")) {
    const text = elapsed(now - Number(place.dataset.since));
    if (place.textContent !== text) place.textContent = text;
  }
  for (const notice of document.querySelectorAll("[data-until]")) countDown(notice, now);
}

function elapsed(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return word("elapsed-s", seconds);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return word("elapsed-m", minutes, String(seconds % 60).padStart(2, "0"));
  return word("elapsed-h", Math.floor(minutes / 60), String(minutes % 60).padStart(2, "0"));
}

function countDown(notice, now) {
  const left = Math.max(0, Number(notice.dataset.until) - now);
  notice.dataset.span ||= String(Math.max(left, 1));
  notice.querySelector("[data-count]").textContent = left ? word("retry-in", String(Math.ceil(left / 1000))) : word("retry-asking");
  notice.querySelector("[data-bar]").setAttribute("width", `${(100 * left) / Number(notice.dataset.span)}%`);
}
