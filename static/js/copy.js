// Copying to the clipboard, also on a plain http address, where the browser
// offers no clipboard to scripts.
import { basePath, toast } from "./requests.js";
import { word } from "./words.js";

export function startCopy() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.copyAnswer) return void copyAnswer(document.getElementById(button.dataset.copyAnswer));
    const text = button && textFor(button);
    if (text != null) copy(text);
  });
}

function textFor(button) {
  if (button.dataset.copyText) return document.getElementById(button.dataset.copyText)?.textContent;
  if (button.hasAttribute("data-copy-code")) return button.closest("figure")?.querySelector("pre")?.textContent;
  return null;
}

// The words of an answer, without the cards between them. Of one that is not all
// in the page they come from the server, as they were written.
async function copyAnswer(parts) {
  if (!parts.querySelector("[data-older]")) {
    const words = [...parts.querySelectorAll(".part > .prose")].map((part) => part.innerText.trim());
    return copy(words.filter(Boolean).join("\n\n"));
  }
  try {
    const response = await fetch(`${basePath}/turns/${parts.closest("article").dataset.turn}/text`, { credentials: "same-origin" });
    if (!response.ok || response.redirected) throw new Error(response.statusText);
    await copy(await response.text());
  } catch {
    toast(word("refused"));
  }
}

/** Copies text and says so; where the browser does not allow it, says that. */
export async function copy(text) {
  try {
    if (navigator.clipboard && window.isSecureContext) await navigator.clipboard.writeText(text);
    else copyByCommand(text);
    toast(word("copied"));
  } catch {
    toast(word("copy-failed"));
  }
}

function copyByCommand(text) {
  const place = document.createElement("textarea");
  place.value = text;
  place.className = "sr";
  place.setAttribute("aria-hidden", "true");
  const focused = document.activeElement;
  document.body.append(place);
  place.select();
  const done = document.execCommand("copy");
  place.remove();
  focused?.focus?.();
  if (!done) throw new Error("the browser refused");
}
