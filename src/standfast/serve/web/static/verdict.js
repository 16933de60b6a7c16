// What a person says on the page: each button names an operation; what it sends is what the page shows.

import { ask, operate } from "./api.js";

const sure = document.getElementById("sure");
const phrase = document.getElementById("phrase");

/** Asks whether to go on, and for the passphrase where one is needed; null for no. */
function agreed(question, locked) {
  const form = sure.querySelector("form");
  document.getElementById("sure-title").textContent = question;
  phrase.hidden = !locked;
  form.passphrase.value = "";
  sure.returnValue = "no";
  sure.showModal();
  if (locked) form.passphrase.focus();
  return new Promise((resolve) => {
    sure.addEventListener("close", () => {
      const value = form.passphrase.value;
      form.passphrase.value = "";
      resolve(sure.returnValue === "yes" ? value : null);
    }, { once: true });
  });
}

function chosen(card, name) {
  return card.querySelector(`[name=${name}]:checked`)?.value ?? card.querySelector(`select[name=${name}]`)?.value;
}

function carried(card) {
  const boxes = [...card.querySelectorAll("[name=carry]")];
  return boxes.length ? { carry: boxes.filter((box) => box.checked).map((box) => Number(box.value)) } : {};
}

function seen(card) {
  return { plan: card.dataset.plan, version: Number(card.dataset.version) };
}

const PAYLOADS = {
  "plan.approve": (button, card) => ({
    ...seen(card), sha256: card.dataset.sha256, mode: chosen(card, "mode"), evidence: chosen(card, "evidence"), ...carried(card),
  }),
  "plan.reject": (button, card) => ({ ...seen(card), note: card.querySelector("[name=note]").value || null }),
  "plan.adopt": (button, card) => ({
    session: card.dataset.session, replaces: card.dataset.plan, mode: chosen(card, "mode"),
    evidence: chosen(card, "evidence"), markdown: card.querySelector("[name=edited]").value,
  }),
  "plan.confirm": (button, card) => ({ plan: card.dataset.plan, id: button.dataset.task }),
  "plan.resolve_task": (button, card) => ({ plan: card.dataset.plan, id: button.dataset.task, outcome: button.dataset.outcome }),
};

/** Does what a button says; the answer's result, or null. `tell` gets what went wrong. */
export async function decide(button, tell) {
  const card = button.closest("article");
  const name = button.dataset.do;
  const payload = PAYLOADS[name]?.(button, card) ?? { plan: button.dataset.plan ?? card.dataset.plan };
  if (button.dataset.sure && (await agreed(button.dataset.sure, false)) === null) return null;
  button.disabled = true;
  try {
    // One key for all tries: a request whose answer was lost is not done twice.
    const key = crypto.randomUUID();
    let answer = await operate(name, payload, "", key);
    while (answer.error?.code === "passphrase_required") {
      const passphrase = await agreed(answer.error.message, true);
      if (passphrase === null) return null;
      answer = await operate(name, payload, passphrase, key);
    }
    if (answer.error) tell(answer.error.message);
    return answer.result ?? null;
  } catch {
    tell("The host does not answer. Nothing is known to be decided; look again when it is back.");
    return null;
  } finally {
    button.disabled = false;
  }
}

/** The exact text into the field in which a person edits it, once. */
export async function fill(details) {
  const field = details.querySelector("textarea[data-raw]");
  if (!details.open || !field || field.dataset.uiFilled) return;
  field.dataset.uiFilled = "yes";
  const answer = await ask("GET", field.dataset.raw);
  if (answer.ok) field.value = await answer.text();
}

/** Saves a plan's exact bytes; a plain link could not send the bearer. */
export async function save(link) {
  const answer = await ask("GET", link.getAttribute("href"));
  if (!answer.ok) return;
  const made = document.createElement("a");
  made.href = URL.createObjectURL(await answer.blob());
  made.download = link.dataset.download;
  made.click();
  URL.revokeObjectURL(made.href);
}
