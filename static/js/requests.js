// Requests to the server: the form token on each, and what is said when one is
// refused. A refusal is never swapped into the page.
import { word } from "./words.js";
import { enhance } from "./enhance.js";

const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content ?? "";

export const basePath = meta("base-path");

/** The token of the page for forms. */
export const csrf = () => meta("csrf-token");

/** Sends a form by script; fields are an object, or pairs. Rejects only where the server was not reached. */
export function post(url, fields = {}) {
  return fetch(url, {
    method: "POST",
    credentials: "same-origin",
    headers: { "X-CSRF-Token": meta("csrf-token"), "HX-Request": "true", "HX-Current-URL": location.href, Accept: "text/html" },
    body: new URLSearchParams(fields),
  });
}

/** Follows where a response sends the browser; true if it does. */
export function followed(response) {
  const target = response.headers.get("HX-Redirect") || (response.redirected ? response.url : "");
  if (target) location.href = target;
  return Boolean(target);
}

/** The sentence of a refused request. */
export async function refusal(response) {
  switch (response.status) {
    case 401: return word("signed-out");
    case 413: return sentence(await response.text().catch(() => ""), response.headers.get("Content-Type") ?? "", "too-large");
    case 429: {
      const wait = response.headers.get("Retry-After");
      if (wait) return word("limited", wait);
    }
  }
  return sentence(await response.text().catch(() => ""), response.headers.get("Content-Type") ?? "");
}

/** The sentence in the body of a refusal: of a problem document or a fragment. */
function sentence(body, type, otherwise = "failed") {
  if (type.includes("json")) {
    try {
      const problem = JSON.parse(body);
      return problem.detail || problem.title || word(otherwise);
    } catch {
      return word(otherwise);
    }
  }
  const page = new DOMParser().parseFromString(body, "text/html");
  return page.querySelector("[data-error]")?.dataset.error || word(otherwise);
}

let hiding;

/** Says something briefly, over the page. */
export function toast(text) {
  const place = document.getElementById("toast");
  if (!place) return;
  place.textContent = text;
  place.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => { place.hidden = true; }, 6000);
}

/** Says something to those who listen, once. */
export function announce(text) {
  const place = document.getElementById("sr");
  if (place) place.textContent = text;
}

export function startRequests() {
  document.addEventListener("htmx:config:request", (event) => {
    event.detail.ctx.request.headers["X-CSRF-Token"] = meta("csrf-token");
  });
  // What is no page of ours is not put into one: a file, say, whose text somebody
  // else wrote, would be read as mark-up.
  document.addEventListener("htmx:before:response", (event) => {
    const { status, headers } = event.detail.ctx.response;
    const type = headers.get("Content-Type") ?? "text/html";
    if (status < 400 && (!type.startsWith("text/html") || headers.has("Content-Disposition"))) {
      event.preventDefault();
      toast(word("refused"));
    }
  });
  document.addEventListener("htmx:response:error", (event) => {
    const { response, text, hx } = event.detail.ctx;
    if (hx?.redirect || hx?.refresh) return;
    const type = response.headers.get("Content-Type") ?? "";
    if (response.status === 401) toast(word("signed-out"));
    else toast(sentence(text ?? "", type, response.status === 413 ? "too-large" : "refused"));
  });
  document.addEventListener("htmx:error", () => toast(word("refused")));
  document.addEventListener("htmx:after:swap", (event) => enhance(event.target?.isConnected ? event.target.parentNode : document));
}
