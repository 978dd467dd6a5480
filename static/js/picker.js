// Chooses the model of a session, at once. A refusal is said, and the choice goes
// back to what holds.
import { post, refusal, toast, announce } from "./requests.js";
import { word } from "./words.js";

export function startPicker() {
  document.addEventListener("change", (event) => {
    const pick = event.target.closest?.("select[data-pick-model]");
    if (pick) choose(pick);
  });
}

async function choose(pick) {
  const model = pick.value;
  pick.disabled = true;
  try {
    const response = await post(pick.form.action, { model });
    if (response.ok) return took(pick, model);
    toast(await refusal(response));
  } catch {
    toast(word("failed"));
  } finally {
    pick.disabled = false;
    pick.focus();
  }
  pick.value = pick.dataset.pickModel;
}

function took(pick, model) {
  showModel(model);
  announce(model);
}

/** Shows which model the session has, as it was chosen here or elsewhere. */
export function showModel(model) {
  const pick = document.querySelector("select[data-pick-model]");
  if (pick) {
    pick.dataset.pickModel = pick.value = model;
    pick.querySelector("option[disabled]")?.remove();
  }
  document.getElementById("model-gone")?.remove();
  const name = document.getElementById("model-name");
  if (name) name.textContent = model;
}
