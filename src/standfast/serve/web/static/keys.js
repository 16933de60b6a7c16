// The keyboard: j and k move a mark over what the page lists, a and r lead to the verdict and decide nothing.

const main = document.getElementById("main");
const help = document.getElementById("keys");

function items() {
  return [...main.querySelectorAll("[data-item]")];
}

function marked() {
  return main.querySelector("[data-ui-marked]");
}

function move(step) {
  const all = items();
  if (!all.length) return;
  const now = marked();
  const at = now ? all.indexOf(now) + step : step > 0 ? 0 : all.length - 1;
  const next = all[Math.min(Math.max(at, 0), all.length - 1)];
  now?.removeAttribute("data-ui-marked");
  next.setAttribute("data-ui-marked", "");
  (next.querySelector("a") ?? next).focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

/** Goes to what decides: here, or on the marked plan's own page. */
function towards(selector, open) {
  const target = main.querySelector(selector);
  if (target) {
    target.focus();
    return target.scrollIntoView({ block: "nearest" });
  }
  const link = marked()?.querySelector("a[href^='#/plans/']");
  if (link) open(link.getAttribute("href"), selector);
}

/** Listens; `open(address, selector)` goes to a page and then to the part of it. */
export function listen(open) {
  const does = {
    j: () => move(1),
    k: () => move(-1),
    a: () => towards("[data-do='plan.approve']", open),
    r: () => towards("textarea[name=note]", open),
    o: () => open("#/"),
    "/": () => document.querySelector("#find input").focus(),
    "?": () => help.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    const writing = event.target.closest("input:not([type=radio]):not([type=checkbox]), textarea, select");
    if (event.key === "Escape" && writing) writing.blur();
    if (writing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.key === "Enter" && event.target === document.body) marked()?.querySelector("a")?.click();
    const action = does[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  document.getElementById("help").addEventListener("click", () => help.showModal());
}
