// The event stream, read by fetch because an EventSource cannot send the bearer; it goes on where it broke off.

import { bearer, leave } from "./api.js";

const PAUSE = 1000;

/** Follows the journal from `after()` on. Calls `news(events)`, and `state(word)` when the connection changes. */
export class Follower {
  constructor(after, news, state) {
    Object.assign(this, { after, news, state, stop: null });
  }

  async run() {
    while (bearer()) {
      this.stop = new AbortController();
      try {
        await this.once();
      } catch {
        // Broken off, or nobody there: the state says so, and it is tried again.
      }
      if (!bearer()) return;
      this.state("away");
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }

  async once() {
    const answer = await fetch(`/v1/events?after=${this.after()}`, {
      headers: { Authorization: `Bearer ${bearer()}` },
      signal: this.stop.signal,
    });
    if (answer.status === 401) return leave("You are logged out. Run `standfast web` again.");
    if (!answer.ok) return;
    this.state("live");
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      const events = parts.map((part) => part.match(/^data: (.*)$/m)?.[1]).filter(Boolean).map((data) => JSON.parse(data));
      const numbered = events.filter((event) => event.seq);
      if (numbered.length) this.news(numbered);
    }
  }

  end() {
    this.stop?.abort();
  }
}
