// Putting a fragment on the page: what is equal stays, so that focus, open parts and what is being written stay too.

import { ask } from "./api.js";

// The one way from text to HTML: the host's own fragments, escaped and sanitised there.
const policy = window.trustedTypes?.createPolicy("standfast", { createHTML: (html) => html });
const parser = new DOMParser();
const KEPT = new Set(["open", "aria-pressed", "hidden", "disabled"]);
// Made once: making one costs more than a thousand uses of it.
const WRITTEN = {
  exact: new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" }),
  day: new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" }),
  time: new Intl.DateTimeFormat(undefined, { timeStyle: "short" }),
  clock: new Intl.DateTimeFormat(undefined, { timeStyle: "medium" }),
};
let skew = 0;

function parsed(html) {
  return document.adoptNode(parser.parseFromString(policy ? policy.createHTML(html) : html, "text/html").body);
}

/** Makes `place` show `html`; parts that load by themselves are loaded. */
export function draw(place, html) {
  morph(place, parsed(html));
  tick(place);
  for (const part of place.querySelectorAll("[data-part]:not([data-ui-asked])")) load(part);
}

function morph(old, fresh) {
  const named = new Map([...old.children].filter((child) => child.id).map((child) => [child.id, child]));
  let at = old.firstChild;
  for (const child of [...fresh.childNodes]) {
    const match = child.id ? named.get(child.id) : at && !at.id && at.nodeName === child.nodeName ? at : null;
    if (!match) {
      old.insertBefore(child, at);
      continue;
    }
    if (match === at) at = at.nextSibling;
    else old.insertBefore(match, at);
    update(match, child);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function update(node, fresh) {
  if (node.nodeType !== Node.ELEMENT_NODE) {
    if (node.nodeValue !== fresh.nodeValue) node.nodeValue = fresh.nodeValue;
    return;
  }
  if (node.nodeName !== fresh.nodeName || node.dataset.part !== fresh.dataset.part) return node.replaceWith(fresh);
  if (node.dataset.part || node.nodeName === "TEXTAREA") return;
  for (const { name } of [...node.attributes]) {
    if (!fresh.hasAttribute(name) && !KEPT.has(name) && !name.startsWith("data-ui-")) node.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (node.getAttribute(name) !== value && !KEPT.has(name)) node.setAttribute(name, value);
  }
  // What the clock wrote is only written anew where the time itself has changed.
  if (node.nodeName !== "TIME") morph(node, fresh);
}

async function load(part) {
  part.dataset.uiAsked = "yes";
  try {
    const answer = await ask("GET", part.dataset.part);
    if (answer.ok) {
      part.replaceChildren(...parsed(await answer.text()).childNodes);
      part.dataset.uiLoaded = "yes";
      tick(part);
      part.dispatchEvent(new CustomEvent("loaded", { bubbles: true }));
      return;
    }
  } catch {
    // The host is away; the next drawing asks again.
  }
  delete part.dataset.uiAsked;
}

/** Takes the host's clock over, so that a countdown ends when the host's does. */
export function setClock(now) {
  skew = Number(now) - Date.now();
}

/** The time of day where it is today, else the date; with seconds where many follow each other. */
function local(at, now, seconds) {
  const today = at.toDateString() === new Date(now).toDateString();
  return (today ? (seconds ? WRITTEN.clock : WRITTEN.time) : WRITTEN.day).format(at);
}

function age(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 45) return "just now";
  if (seconds < 3600) return `${Math.max(1, Math.round(seconds / 60))} min ago`;
  if (seconds < 86400) return `${Math.round(seconds / 3600)} h ago`;
  if (seconds < 604800) return `${Math.round(seconds / 86400)} d ago`;
  return "";
}

function remaining(milliseconds) {
  const seconds = Math.ceil(milliseconds / 1000);
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60];
  if (h >= 48) return `${Math.floor(h / 24)} d left`;
  if (h) return `${h} h ${m} min left`;
  return m >= 10 ? `${m} min left` : m ? `${m} min ${String(s).padStart(2, "0")} s left` : `${s} s left`;
}

function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Local times, ages and countdowns, from the machine-readable ones beside them. */
export function tick(place) {
  const now = Date.now() + skew;
  for (const item of place.querySelectorAll("time[datetime]")) {
    const at = new Date(item.dateTime);
    write(item, (item.hasAttribute("data-age") && age(now - at)) || local(at, now, item.hasAttribute("data-clock")));
    if (!item.title) item.title = `${WRITTEN.exact.format(at)} (${item.dateTime})`;
  }
  for (const item of place.querySelectorAll("[data-until]")) {
    const [from, until] = [Number(item.dataset.from), Number(item.dataset.until)];
    const left = until - now;
    write(item.querySelector("[data-left]"), left > 0 ? remaining(left) : "expired");
    item.querySelector("progress").value = Math.max(0, left / (until - from));
    item.toggleAttribute("data-ui-soon", left < 120000);
    if (left <= 0) item.closest("form, article, li")?.toggleAttribute("data-ui-late", true);
  }
}
