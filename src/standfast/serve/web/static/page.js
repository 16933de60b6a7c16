// The page: shows the fragment that the address names, keeps it fresh by the event stream, sends what is decided.

import { ask, bearer, enter, left, logout } from "./api.js";
import { draw, setClock, tick } from "./draw.js";
import { listen } from "./keys.js";
import { Follower } from "./live.js";
import { decide, fill, save } from "./verdict.js";

// News are drawn at most so often, and never for more than a fifth of the time.
const REST = 150;
const SHARE = 5;
const main = document.getElementById("main");
const message = document.getElementById("message");
const connection = document.getElementById("connection");
const notices = document.getElementById("notices");
const find = document.getElementById("find");
const login = [...main.childNodes];
let shownPath = "";
let asked = 0;
let drawn = 0;
let seen = 0;
let boot = "";
let goal = "";
let wanted = null;
let took = 0;

function tell(text) {
  message.textContent = text;
  message.hidden = !text;
}

/** The fragment of the address: `#/plans/x` is `/page/plans/x`; a bare `#/` is the overview. */
function fragment() {
  const place = location.hash.replace(/^#/, "") || "/";
  return place === "/" ? "/page/overview" : `/page${place}`;
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
  if (!answer.ok) return tell(JSON.parse(text).error.message);
  note(answer.headers);
  const moved = path !== shownPath;
  if (moved) main.replaceChildren();
  draw(main, text);
  requestAnimationFrame(() => setTimeout(() => performance.mark("painted")));
  if (moved) arrived(path);
}

/** What a fragment says beside itself: the newest event, the host's clock and boot, how many plans wait. */
function note(headers) {
  const about = (name) => headers.get(`standfast-${name}`);
  seen = Math.max(seen, Number(about("events")));
  setClock(about("now"));
  const waiting = Number(about("pending"));
  document.title = waiting ? `(${waiting}) Standfast` : "Standfast";
  if (boot && boot !== about("boot")) tell("The host was restarted. What waited for a verdict was interrupted; it can be offered again.");
  boot = about("boot");
}

function arrived(path) {
  const first = shownPath === "";
  shownPath = path;
  for (const link of document.querySelectorAll(".bar nav a")) {
    const own = link.getAttribute("href") === "#/" ? path === "/page/overview" : path.startsWith(`/page${link.getAttribute("href").slice(1)}`);
    link.toggleAttribute("aria-current", own);
    if (own) link.setAttribute("aria-current", "page");
  }
  const part = goal && main.querySelector(goal);
  goal = "";
  if (part) part.focus();
  else if (!first) main.focus({ preventScroll: true });
  if (!part) window.scrollTo(0, 0);
}

/** Asks for the fragment again soon; many events at once are one question. */
function refresh() {
  wanted ??= setTimeout(async () => {
    const begun = performance.now();
    wanted = null;
    await show().catch(() => {});
    took = performance.now() - begun;
  }, Math.max(REST, SHARE * took));
}

const follower = new Follower(() => seen, (events) => {
  const fresh = events.filter((event) => event.seq > seen);
  seen = Math.max(seen, ...events.map((event) => event.seq));
  if (!fresh.length) return;
  notify(fresh);
  refresh();
}, (word) => {
  connection.dataset.state = word;
  connection.textContent = word === "live" ? "live" : "not connected, trying again";
  if (word === "live") refresh();
});

const NOTICES = { "plan.submitted": "waits for your verdict", "plan.expired": "expired without a verdict", "task.await": "waits for your confirmation" };

function notify(events) {
  if (!("Notification" in window) || Notification.permission !== "granted" || document.hasFocus()) return;
  for (const event of events.filter((each) => each.kind in NOTICES)) {
    const title = `${event.data.number ?? "A task"} ${NOTICES[event.kind]}`;
    const notice = new Notification(title, { body: event.data.title ?? "", tag: `${event.kind}-${event.data.plan}` });
    notice.onclick = () => {
      window.focus();
      location.hash = `#/plans/${event.data.plan}`;
    };
  }
}

function offerNotices() {
  notices.hidden = !bearer() || !("Notification" in window) || Notification.permission !== "default";
}

function go(address, selector = "") {
  goal = selector;
  if (location.hash === address) show().catch(() => {});
  else location.hash = address;
}

async function start() {
  const ticket = location.hash.match(/^#ticket=([\w-]+)(?:&to=(.+))?$/);
  if (ticket) {
    history.replaceState(null, "", `/${ticket[2] ? `#${ticket[2]}` : ""}`);
    const trouble = await enter(ticket[1]);
    tell(trouble);
  }
  if (!bearer()) return;
  document.getElementById("logout").hidden = false;
  offerNotices();
  await show().catch(() => {});
  if (!follower.stop) follower.run();
}

left.addEventListener("left", (event) => {
  follower.end();
  follower.stop = null;
  shownPath = "";
  document.getElementById("logout").hidden = true;
  connection.textContent = "";
  document.title = "Standfast";
  main.replaceChildren(...login);
  offerNotices();
  tell(event.detail);
});

main.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-do]");
  const copy = event.target.closest("[data-copy]");
  const view = event.target.closest("[data-view]");
  const link = event.target.closest("[data-download]");
  if (button) {
    tell("");
    const result = await decide(button, tell);
    if (result && ["plan.reoffer", "plan.adopt"].includes(button.dataset.do)) go(`#/plans/${result.plan}`);
    else await show().catch(() => {});
  } else if (copy) {
    await navigator.clipboard.writeText(copy.dataset.copy).then(() => copy.setAttribute("data-ui-copied", ""), () => {});
    setTimeout(() => copy.removeAttribute("data-ui-copied"), 1500);
  } else if (view) {
    for (const each of view.parentElement.children) each.setAttribute("aria-pressed", each === view);
    for (const pane of view.closest("[data-part]").querySelectorAll("[data-pane]")) pane.hidden = pane.dataset.pane !== view.dataset.view;
  } else if (link) {
    event.preventDefault();
    await save(link).catch(() => {});
  }
});

main.addEventListener("toggle", (event) => fill(event.target).catch(() => {}), true);
main.addEventListener("submit", (event) => {
  event.preventDefault();
  const address = new FormData(event.target).get("address");
  const ticket = address?.match(/ticket=([\w-]+)/)?.[1] ?? address?.trim();
  if (event.target.id === "enter" && ticket) location.hash = `#ticket=${ticket}`;
});
find.addEventListener("submit", (event) => {
  event.preventDefault();
  go(`#/search?q=${encodeURIComponent(find.q.value.trim())}`);
});
document.getElementById("logout").addEventListener("click", logout);
document.getElementById("skip").addEventListener("click", () => main.focus());
notices.addEventListener("click", async () => {
  await Notification.requestPermission();
  offerNotices();
});
window.addEventListener("hashchange", () => {
  if (location.hash.startsWith("#ticket=")) return start();
  tell("");
  if (bearer()) show().catch(() => {});
});
setInterval(() => tick(main), 1000);
listen(go);
start();
