// A tab that nobody looks at. A browser without windows never hides one by itself.

/** Makes the page a hidden tab, and notes what the browser is asked to show. */
export function hideTab(page) {
  return page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
    document.dispatchEvent(new Event('visibilitychange'));
    globalThis.notices = [];
    globalThis.Notification = class {
      static permission = 'granted';
      constructor(title, options) { globalThis.notices.push(`${title}: ${options.body}`); }
    };
  });
}

/** Somebody looks at it again. */
export function showTab(page) {
  return page.evaluate(() => {
    delete document.hidden;
    document.dispatchEvent(new Event('visibilitychange'));
  });
}

/** What the browser was asked to show since the tab was hidden. */
export function notices(page) {
  return page.evaluate(() => globalThis.notices);
}
