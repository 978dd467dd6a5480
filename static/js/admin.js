// The list of all sessions: what is chosen, in numbers, and the dialog that asks
// before it goes. Without this script the same is asked on a page of its own.
import { toast, refusal, followed } from "./requests.js";
import { exact, rounded, word } from "./words.js";

export function startAdmin() {
  const form = document.querySelector("[data-admin-sessions]");
  if (!form) return;
  const all = form.querySelector("[data-select-all]");
  all.hidden = false;
  all.addEventListener("change", () => {
    for (const box of boxes(form)) box.checked = all.checked;
  });
  form.addEventListener("change", () => show(form, all));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask(form).catch(() => toast(word("failed")));
  });
  show(form, all);
}

const boxes = (form) => [...form.querySelectorAll('input[name="id"]')];

// Says how much is chosen. A page that one comes back to keeps its ticks.
function show(form, all) {
  const every = boxes(form);
  const rows = every.filter((box) => box.checked).map((box) => box.closest("tr"));
  for (const box of every) box.closest("tr").classList.toggle("on", box.checked);
  all.checked = rows.length > 0 && rows.length === every.length;
  all.indeterminate = rows.length > 0 && rows.length < every.length;
  form.querySelector("[data-ask]").disabled = rows.length === 0;
  const bar = form.querySelector(".bulk");
  const sum = (name) => rows.reduce((total, row) => total + Number(row.dataset[name]), 0);
  const text = rows.length === 0 ? bar.dataset.none : bar.dataset.selected
    .replace("{count}", exact(rows.length))
    .replace("{owners}", exact(new Set(rows.map((row) => row.dataset.owner)).size))
    .replace("{outputs}", exact(sum("outputs")))
    .replace("{size}", rounded(sum("bytes")));
  const place = bar.querySelector("[data-bulk]");
  if (place.textContent !== text) place.textContent = text;
}

async function ask(form) {
  const response = await fetch(`${form.action}?${new URLSearchParams(new FormData(form))}`, {
    credentials: "same-origin",
    headers: { "HX-Request": "true", Accept: "text/html" },
  });
  if (followed(response)) return;
  if (!response.ok) {
    toast(await refusal(response));
    return;
  }
  const dialog = document.getElementById("dlg-sessions");
  dialog.innerHTML = await response.text();
  dialog.querySelector("a[data-close]").addEventListener("click", (event) => {
    event.preventDefault();
    dialog.close();
  });
  dialog.showModal();
}
