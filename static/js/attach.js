// The files that a message is to come with: chosen, dropped or pasted. They are
// uploaded when the message is sent; one that is refused keeps the message and
// all the others where they are.
import { basePath, csrf, announce } from "./requests.js";
import { exact, rounded, word } from "./words.js";
import { draftName } from "./drafts.js";
import { awhile, dropFile, filesOf, keepFile, sweepFiles } from "./keptfiles.js";

const MOST_FILES = 20; // of one message, as the server has it
const LONG_PASTE = 2000; // lines from which on a file is offered in the text's place
const MOST_TEXT = 1024 * 1024; // bytes of a message

let form, list, input, text, offer, tell, another;
// {file, name, chip, kept: its number in the browser, soon}, and once it is uploaded
// {path, of: the session or, where that is to begin, the message that it is for}
let items = [];
let restored; // once the files of an earlier visit are shown, or do not come soon

/** Makes the composer take files; onProblem is told what is wrong with them, or that
    nothing is, and onOthers that the message has others than before. */
export function startAttach(onProblem, onOthers) {
  form = document.getElementById("composer");
  list = document.getElementById("composer-files");
  if (!list) return;
  text = document.getElementById("composer-text");
  input = document.getElementById("composer-file");
  offer = document.getElementById("composer-paste");
  [tell, another] = [onProblem, onOthers];
  document.getElementById("attach").addEventListener("click", () => input.click());
  input.addEventListener("change", () => { add(input.files); input.value = ""; });
  text.addEventListener("paste", onPaste);
  const page = document.getElementById("chat");
  page.addEventListener("dragover", onDrag);
  page.addEventListener("dragleave", (event) => { if (!page.contains(event.relatedTarget)) delete form.dataset.drop; });
  page.addEventListener("drop", onDrop);
  list.addEventListener("click", onRemove);
  restored = awhile(restore());
}

/** Shows what was attached before the page was loaded again, as what is still to be
    uploaded: what became of it before is not known. */
async function restore() {
  for (const { number, name, file } of await filesOf(draftName())) show({ name, file, kept: Promise.resolve(number) });
  if (items.length) update();
  sweepFiles();
}

const session = () => document.getElementById("chat").dataset.session;

export const attaching = () => items.length > 0;

function onDrag(event) {
  if (!event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  form.dataset.drop = "";
}

// A folder is listed among the files too, and cannot be read.
function onDrop(event) {
  if (!event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  delete form.dataset.drop;
  const entries = [...event.dataTransfer.items].filter((item) => item.kind === "file");
  const files = entries.filter((item) => !item.webkitGetAsEntry?.()?.isDirectory).map((item) => item.getAsFile()).filter(Boolean);
  add(files.length ? files : event.dataTransfer.files.length && !entries.length ? event.dataTransfer.files : []);
  if (files.length < entries.length) tell(word("attach-folder"));
}

// What office programs copy is a text and its picture: then the text is meant.
function onPaste(event) {
  const data = event.clipboardData;
  const pasted = data?.getData("text/plain") ?? "";
  if (!pasted && data?.files.length) {
    event.preventDefault();
    add(data.files);
    return;
  }
  const lines = pasted.split("\n").length;
  if (new Blob([pasted]).size > MOST_TEXT) {
    event.preventDefault();
    addText(pasted);
    announce(word("attach-pasted"));
  } else if (lines >= LONG_PASTE) {
    event.preventDefault();
    insert(pasted);
    offerFile(pasted, lines);
  }
}

// A browser that pastes twenty thousand lines by itself is busy for minutes: it
// edits line by line.
function insert(pasted) {
  text.classList.add("long");
  text.setRangeText(pasted, text.selectionStart, text.selectionEnd, "end");
  text.dispatchEvent(new Event("input", { bubbles: true }));
}

function offerFile(pasted, lines) {
  const flat = pasted.replaceAll(/\r\n?/g, "\n"); // as the box has it
  offer.hidden = false;
  offer.querySelector("span").textContent = word("attach-offer", exact(lines));
  offer.querySelector("button").onclick = () => {
    text.value = text.value.replace(flat, () => "");
    text.dispatchEvent(new Event("input", { bubbles: true }));
    offer.hidden = true;
    addText(pasted);
    text.focus();
  };
}

const addText = (pasted) => add([new File([pasted], "pasted.txt", { type: "text/plain" })]);

/** The name as the server will have it: nothing in it is unseen. */
const plain = (name) => name.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "_") || "file";

function add(files) {
  const most = Number(form.dataset.most);
  const before = items.length;
  let problem = "";
  for (const file of files) {
    if (items.length >= MOST_FILES) problem = word("attach-many", MOST_FILES);
    else if (file.size > most) problem = word("attach-large", rounded(most));
    else show({ file, name: plain(file.name), kept: keepFile({ draft: draftName(), name: plain(file.name), file }) });
  }
  update(problem);
  if (items.length > before) another();
}

function show(item) {
  const chip = document.getElementById("chip-template").content.firstElementChild.cloneNode(true);
  chip.querySelector(".name").textContent = item.name;
  chip.querySelector(".num").textContent = rounded(item.file.size);
  chip.querySelector("button").setAttribute("aria-label", word("attach-remove", item.name));
  item.chip = chip;
  items.push(item);
  list.append(chip);
}

function update(problem = "") {
  list.hidden = items.length === 0;
  form.toggleAttribute("data-files", items.length > 0);
  text.required = items.length === 0;
  tell(problem);
}

function onRemove(event) {
  const chip = event.target.closest("button")?.closest("li");
  if (!chip || form.hasAttribute("data-sending")) return;
  const next = chip.nextElementSibling ?? chip.previousElementSibling;
  drop(items.filter((item) => item.chip === chip));
  another();
  (next?.querySelector("button") ?? text).focus();
}

/** Takes files away from the message; resolves once the browser keeps them no more. */
function drop(some) {
  items = items.filter((item) => !some.includes(item));
  for (const { chip } of some) chip.remove();
  update();
  return Promise.all(some.map((item) => item.kept.then(dropFile)));
}

/** Uploads what is not in the workspace yet and gives the paths of all; throws
    the sentence of the first that is refused. */
export async function upload(clientID, model) {
  await restored;
  const of = session() || clientID;
  for (const item of items) {
    if (item.of === of) continue;
    item.chip.removeAttribute("data-failed");
    try {
      item.path = await put(item, address(item, clientID, model));
    } catch (sentence) {
      item.chip.dataset.failed = "";
      throw new Error(withName(item.name, String(sentence)));
    } finally {
      item.chip.querySelector("progress").hidden = true;
    }
    item.of = of;
    item.chip.dataset.done = "";
  }
  return items.map((item) => item.path);
}

/** The sentence with the file's name before it, where it does not begin with that. */
function withName(name, sentence) {
  const begins = sentence.toLowerCase().startsWith(name.toLowerCase());
  return begins ? name + sentence.slice(name.length) : `${name}: ${sentence}`;
}

/** What was uploaded is not on the server any more: the next try uploads it again. */
export function uploadAnew() {
  for (const item of items) {
    delete item.of;
    delete item.chip.dataset.done;
  }
}

/** The message is sent: its files are its own now, and those that came while it was
    under way the next one's. Resolves once a page that follows finds none of them,
    or after a while. */
export function attached() {
  offer.hidden = true;
  return awhile(drop(items.filter((item) => item.of)));
}

function address(item, clientID, model) {
  const query = new URLSearchParams({ name: item.file.name });
  if (session()) return `${basePath}/s/${session()}/files/upload?${query}`;
  query.set("client_id", clientID);
  if (model) query.set("model", model);
  return `${basePath}/uploads?${query}`;
}

// fetch tells nothing of how far an upload is.
function put(item, url) {
  const bar = item.chip.querySelector("progress");
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", url);
    for (const [name, value] of Object.entries({ "X-CSRF-Token": csrf(), "HX-Request": "true", Accept: "application/json", "Content-Type": "application/octet-stream" })) {
      request.setRequestHeader(name, value);
    }
    bar.hidden = false;
    request.upload.onprogress = ({ loaded, total }) => { bar.value = total ? loaded / total : 0; };
    request.onload = () => {
      if (request.status === 200) resolve(JSON.parse(request.responseText).path);
      else reject(refusedBy(request));
    };
    request.onerror = request.onabort = () => reject(word("attach-failed"));
    request.send(item.file);
  });
}

function refusedBy(request) {
  if (request.status === 401) return word("signed-out");
  const page = new DOMParser().parseFromString(request.responseText, "text/html");
  return page.querySelector("[data-error]")?.dataset.error || word("attach-failed");
}
