// What was written and not sent, kept over reloads. It is its writer's: who signs
// in next in the same browser does not find it, and signing out forgets it.
import { awhile, forgetFiles } from "./keptfiles.js";

const PREFIX = "offcut.draft.";
const MAX_KEPT = 1024 * 1024; // characters; a message has at most so many bytes

let leaving = false; // nothing is kept any more

/** The name of this page's draft. */
export const draftName = () => {
  const { session, user } = document.getElementById("chat").dataset;
  return `${PREFIX}${encodeURIComponent(user)}.${session || "new"}`;
};

/** The draft of this page: {text, id}; id is there where it was tried to be sent. */
export function loadDraft() {
  try {
    return JSON.parse(localStorage.getItem(draftName())) ?? {};
  } catch {
    return {}; // no storage, or not ours
  }
}

/** Keeps a draft; without a text there is none. */
export function storeDraft(draft) {
  if (leaving) return;
  try {
    if (!draft?.text) localStorage.removeItem(draftName());
    else if (draft.text.length <= MAX_KEPT) localStorage.setItem(draftName(), JSON.stringify(draft));
  } catch {
    // no storage: the draft lives as long as the page
  }
}

export function startDrafts() {
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.matches("[data-leaves]")) return;
    event.preventDefault();
    leaving = true;
    forgetAll();
    await awhile(forgetFiles());
    form.submit();
  });
}

function forgetAll() {
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX)) localStorage.removeItem(name);
  } catch {
    // no storage: there is nothing to forget
  }
}
