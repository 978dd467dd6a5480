// What was written and not sent, kept over reloads. It is its writer's: who signs
// in next in the same browser does not find it, and signing out forgets it.

const PREFIX = "offcut.draft.";
const MAX_KEPT = 1024 * 1024; // characters; a message has at most so many bytes

const key = () => {
  const { session, user } = document.getElementById("chat").dataset;
  return `${PREFIX}${encodeURIComponent(user)}.${session || "new"}`;
};

/** The draft of this page: {text, id}; id is there where it was tried to be sent. */
export function loadDraft() {
  try {
    return JSON.parse(localStorage.getItem(key())) ?? {};
  } catch {
    return {}; // no storage, or not ours
  }
}

/** Keeps a draft; without a text there is none. */
export function storeDraft(draft) {
  try {
    if (!draft?.text) localStorage.removeItem(key());
    else if (draft.text.length <= MAX_KEPT) localStorage.setItem(key(), JSON.stringify(draft));
  } catch {
    // no storage: the draft lives as long as the page
  }
}

export function startDrafts() {
  document.addEventListener("submit", (event) => {
    if (event.target.matches("[data-leaves]")) forgetAll();
  });
}

function forgetAll() {
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX)) localStorage.removeItem(name);
  } catch {
    // no storage: there is nothing to forget
  }
}
