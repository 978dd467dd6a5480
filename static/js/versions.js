// Versions of questions and answers: to ask anew, to go on, and to look at
// another. The server makes or shows the version; the page reads the
// conversation again and takes the person to where it changed.
import { post, refusal, toast, announce } from "./requests.js";
import { word } from "./words.js";
import { refresh } from "./stream.js";
import { pauseFollowing, jumpToLatest } from "./follow.js";
import { fetchOlder } from "./older.js";

const MOST_OLDER = 20; // parts of the conversation that are fetched to find a version

export function startVersions() {
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("[data-branch]");
    if (!form) return;
    event.preventDefault();
    branch(form, form.querySelector("button"));
  });
}

/** The form's deed. A second click while it goes on does nothing. */
async function branch(form, button) {
  if (form.dataset.sending !== undefined) return;
  form.dataset.sending = "";
  const { branch: deed, turn } = form.dataset;
  const what = form.closest("[data-versions]")?.dataset.versions;
  try {
    const response = await post(form.action);
    if (!response.ok) toast(await refusal(response));
    else if (deed === "show") await shown(turn, what, button.dataset.testid);
    else if (deed === "retry" || deed === "continue") await begun();
  } catch {
    toast(word("refused")); // the server was not reached
  }
  delete form.dataset.sending;
}

/** Another turn begins at the end of the conversation. */
export async function begun() {
  await refresh();
  jumpToLatest();
  [...document.querySelectorAll("#messages > article")].at(-1)?.focus({ preventScroll: true });
}

/** Another version is shown. Whoever switched stays at the switch, and is told
    where they are. */
async function shown(turn, what, testid) {
  pauseFollowing();
  await refresh();
  for (let n = 0; n < MOST_OLDER && !switchOf(turn, what); n++) if (!await older()) break;
  const place = switchOf(turn, what);
  if (!place) return;
  place.closest("article").scrollIntoView({ block: "nearest" });
  const buttons = [place.querySelector(`[data-testid="${testid}"]`), ...place.querySelectorAll("button")];
  buttons.find((button) => button && !button.disabled)?.focus({ preventScroll: true });
  place.scrollIntoView({ block: "nearest" });
  announce([...place.querySelectorAll("[data-says], .elsewhere")].map((node) => node.textContent).join(". "));
}

const switchOf = (turn, what) => document.querySelector(`article[data-turn="${CSS.escape(turn)}"] [data-versions="${what}"]`);

/** Fetches what was said before; false where that is all. */
async function older() {
  const link = document.querySelector("#messages > .older [data-older]");
  return link !== null && fetchOlder(link);
}
