// Changing what one wrote, in its place. The text is lost neither by a refusal
// nor by what happens in the conversation meanwhile.
import { post, followed, refusal, toast } from "./requests.js";
import { word } from "./words.js";
import { begun } from "./versions.js";
import { pauseFollowing } from "./follow.js";

export function startEdit() {
  document.addEventListener("click", onClick);
  document.addEventListener("keydown", onKey);
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form.edit")) return;
    event.preventDefault();
    save(event.target);
  });
}

function onClick(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a link opened elsewhere
  const link = event.target.closest("[data-edit], [data-edit-cancel]");
  const article = link?.closest("[data-testid=message]");
  if (!article) return;
  event.preventDefault();
  if (link.matches("[data-edit]")) open(article, link);
  else close(article);
}

/** Keys as in the composer: Enter sends, Shift+Enter breaks the line; Escape gives
    up. They are links that act as buttons, so the space bar presses them too. */
function onKey(event) {
  if (event.isComposing || event.keyCode === 229) return;
  if (event.key === " " && event.target.matches("a[role=button]")) {
    event.preventDefault();
    event.target.click();
    return;
  }
  const form = event.target.closest("form.edit");
  const article = form?.closest("[data-testid=message]");
  if (event.key === "Escape" && article) {
    event.preventDefault();
    close(article);
  } else if (event.key === "Enter" && form && event.target.matches("textarea") && (!event.shiftKey || event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    save(form);
  }
}

/** Opens the last message that can be changed; false where there is none. */
export function editLast() {
  const link = [...document.querySelectorAll("#messages [data-edit]")].at(-1);
  if (!link?.checkVisibility({ visibilityProperty: true })) return false;
  link.click();
  return true;
}

async function open(article, link) {
  if (article.dataset.editing !== undefined) return;
  article.dataset.editing = "";
  try {
    const response = await fetch(link.href, { credentials: "same-origin", headers: { "HX-Request": "true", Accept: "text/html" } });
    if (!response.ok) throw new Error(await refusal(response));
    const template = document.createElement("template");
    template.innerHTML = await response.text();
    pauseFollowing();
    article.querySelector(".said").after(template.content);
    const text = article.querySelector("form.edit textarea");
    text.focus();
    text.setSelectionRange(text.value.length, text.value.length);
    article.scrollIntoView({ block: "nearest" });
  } catch (error) {
    delete article.dataset.editing;
    toast(error.message || word("refused"));
  }
}

function close(article) {
  article.querySelector("form.edit")?.remove();
  delete article.dataset.editing;
  article.querySelector("[data-edit]")?.focus();
}

async function save(form) {
  const content = form.elements.content.value;
  if (form.dataset.sending !== undefined) return;
  form.dataset.sending = "";
  say(form, "");
  try {
    const response = await post(form.action, { content });
    if (!response.ok) say(form, await refusal(response));
    else if (!followed(response)) {
      const article = form.closest("article");
      form.remove();
      delete article.dataset.editing;
      await begun();
    }
  } catch {
    say(form, word("failed")); // the server was not reached: the text stays
  }
  delete form.dataset.sending;
}

function say(form, sentence) {
  const problem = form.querySelector(".composer-problem");
  problem.hidden = !sentence;
  problem.querySelector("span").textContent = sentence;
}
