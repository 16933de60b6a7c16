// Talking to the host: the bearer in this tab's session storage, requests, and login by ticket. No cookie.

const KEY = "standfast-bearer";

/** Called with a sentence whenever the host does not know the bearer any more. */
export const left = new EventTarget();

export function bearer() {
  return sessionStorage.getItem(KEY);
}

/** Forgets the bearer and says why. */
export function leave(why) {
  sessionStorage.removeItem(KEY);
  left.dispatchEvent(new CustomEvent("left", { detail: why }));
}

/** A request with the bearer; 401 ends the login. Throws where the host does not answer. */
export async function ask(verb, path, body, more = {}) {
  const headers = { Authorization: `Bearer ${bearer()}`, ...more };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, { method: verb, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  if (answer.status === 401) leave("You are logged out. Run `standfast web` again.");
  return answer;
}

/** An operation: `{result}` or `{error}`. The same key makes a repeated request one request. */
export async function operate(name, payload, passphrase, key = crypto.randomUUID()) {
  const more = { "Idempotency-Key": key };
  if (passphrase) more["Standfast-Passphrase"] = encodeURIComponent(passphrase);
  return (await ask("POST", `/v1/op/${name}`, payload, more)).json();
}

/** Exchanges a ticket for a bearer; an error's sentence, or nothing. */
export async function enter(ticket) {
  const answer = await fetch("/v1/web/login", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ticket }),
  });
  const body = await answer.json();
  if (!answer.ok) return body.error.message;
  sessionStorage.setItem(KEY, body.bearer);
  return "";
}

export async function logout() {
  await ask("POST", "/v1/web/logout", {}).catch(() => {});
  leave("You are logged out.");
}
