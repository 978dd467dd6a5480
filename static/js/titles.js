// Titles of sessions in the lists of other tabs: the tab that watches a session
// is told its title, and passes it on.

const tabs = new BroadcastChannel("offcut.titles");

export function startTitles() {
  tabs.addEventListener("message", ({ data }) => showTitle(data.session, data.title));
}

/** Shows a session's title in the lists, here and in other tabs. */
export function shareTitle(session, title) {
  showTitle(session, title);
  tabs.postMessage({ session, title });
}

function showTitle(session, title) {
  for (const item of document.querySelectorAll(`[data-testid="session-item"][data-session="${CSS.escape(session)}"] :is(a > span, h4 > a)`)) {
    if (!item.matches(".dot, .sr")) item.textContent = title;
  }
}
