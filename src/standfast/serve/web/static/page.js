// The page: log in by ticket, show a fragment of the server's, keep it fresh by the event stream, send verdicts.
"use strict";

const main = document.getElementById("main");
const message = document.getElementById("message");
const connection = document.getElementById("connection");
const logout = document.getElementById("logout");
const KEY = "standfast-bearer";
let shown = "";
let shownPath = "";
let asked = 0;
let drawn = 0;
let seen = 0;
let following = null;
let skew = 0;

function tell(text) {
  message.textContent = text;
  message.hidden = !text;
}

async function ask(verb, path, body) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(KEY)}` };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    headers["Idempotency-Key"] = crypto.randomUUID();
  }
  const answer = await fetch(path, { method: verb, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  if (answer.status === 401) {
    leave("You are logged out. Run `standfast web` again.");
  }
  return answer;
}

function leave(why) {
  sessionStorage.removeItem(KEY);
  if (following) following.abort();
  following = null;
  shown = "";
  shownPath = "";
  logout.hidden = true;
  connection.textContent = "";
  main.replaceChildren();
  tell(why);
}

async function enter(ticket) {
  history.replaceState(null, "", "/");
  const answer = await fetch("/v1/web/login", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ticket }),
  });
  const body = await answer.json();
  if (answer.ok) sessionStorage.setItem(KEY, body.bearer);
  else tell(body.error.message);
}

function fragment() {
  const plan = location.hash.match(/^#\/plans\/([\w-]+)$/);
  return plan ? `/page/plans/${plan[1]}` : "/page/overview";
}

async function show() {
  const path = fragment();
  const turn = ++asked;
  const answer = await ask("GET", path);
  if (answer.status === 401) return;
  const text = await answer.text();
  // A slow answer to an older question must not cover what the person has gone on to.
  if (path !== fragment() || turn < drawn) return;
  drawn = turn;
  if (!answer.ok) {
    tell(JSON.parse(text).error.message);
    return;
  }
  seen = Math.max(seen, Number(answer.headers.get("standfast-events")));
  // What differs only in the host's clock is not drawn again, so that a note being written stays.
  const plain = text.replace(/data-now="\d+"/g, "");
  if (plain === shown) return;
  const moved = shownPath !== "" && path !== shownPath;
  shownPath = path;
  const note = main.querySelector("textarea");
  const kept = !moved && note ? note.value : "";
  shown = plain;
  main.innerHTML = text;
  const fresh = main.querySelector("textarea");
  if (fresh) fresh.value = kept;
  const clock = main.querySelector("[data-now]");
  if (clock) skew = Number(clock.dataset.now) - Date.now();
  tick();
  if (moved) main.focus();
}

function tick() {
  for (const item of main.querySelectorAll("[data-until]")) {
    const left = Math.max(0, Math.round((Number(item.dataset.until) - Date.now() - skew) / 1000));
    item.textContent = left ? `${Math.floor(left / 60)} min ${left % 60} s left` : "expired";
  }
  for (const item of main.querySelectorAll("[data-at]")) {
    const at = new Date(Number(item.dataset.at));
    item.textContent = at.toLocaleString();
    item.title = at.toISOString();
  }
}

async function follow() {
  while (sessionStorage.getItem(KEY)) {
    following = new AbortController();
    try {
      const answer = await fetch(`/v1/events?after=${seen}`, {
        headers: { Authorization: `Bearer ${sessionStorage.getItem(KEY)}` }, signal: following.signal,
      });
      if (answer.status === 401) return leave("You are logged out. Run `standfast web` again.");
      connection.textContent = "live";
      await show();
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        const parts = (rest + value).split("\n\n");
        rest = parts.pop();
        const numbers = parts.map((part) => Number((part.match(/^id: (\d+)/m) || [0, 0])[1]));
        const newest = Math.max(0, ...numbers);
        if (newest > seen) {
          seen = newest;
          await show();
        }
      }
    } catch (problem) {
      if (!sessionStorage.getItem(KEY)) return;
    }
    connection.textContent = "not connected, trying again";
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

function payload(button, card) {
  const operation = button.dataset.do;
  const plan = card.dataset.plan;
  if (operation === "plan.approve") {
    const carry = [...card.querySelectorAll("[name=carry]")];
    const body = { plan, version: Number(card.dataset.version), sha256: card.dataset.sha256, mode: card.querySelector("[name=mode]").value };
    if (carry.length) body.carry = carry.filter((box) => box.checked).map((box) => Number(box.value));
    return body;
  }
  if (operation === "plan.reject") {
    return { plan, version: Number(card.dataset.version), note: card.querySelector("[name=note]").value || null };
  }
  if (operation === "plan.confirm") return { plan, id: button.dataset.task };
  if (operation === "plan.resolve_task") return { plan, id: button.dataset.task, outcome: button.dataset.outcome };
  return { plan };
}

main.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-do]");
  if (!button) return;
  button.disabled = true;
  tell("");
  try {
    const answer = await ask("POST", `/v1/op/${button.dataset.do}`, payload(button, button.closest("article")));
    if (!answer.ok && answer.status !== 401) tell((await answer.json()).error.message);
  } catch (problem) {
    tell("The host does not answer. Nothing is known to be decided; look again when it is back.");
  }
  button.disabled = false;
  await show().catch(() => {});
});

logout.addEventListener("click", async () => {
  await ask("POST", "/v1/web/logout", {}).catch(() => {});
  leave("You are logged out.");
});

window.addEventListener("hashchange", () => { tell(""); show().catch(() => {}); });
setInterval(tick, 1000);

(async () => {
  const ticket = location.hash.match(/^#ticket=(.+)$/);
  if (ticket) await enter(ticket[1]);
  if (!sessionStorage.getItem(KEY)) return;
  logout.hidden = false;
  await show().catch(() => {});
  follow();
})();
