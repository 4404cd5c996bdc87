// What happens to a study, as it happens: also after the connection, or the server, was gone.

const AGAIN = 1000; // milliseconds

/**
 * Call `happened(number)` for every event after a number, and `state("live" | "lost")`.
 * The stream is opened anew whenever it ends, from the last number that came.
 */
export function follow(address, after, happened, state) {
  let last = after;
  function open() {
    const stream = new EventSource(`${address}?after=${last}`);
    stream.onopen = () => state("live");
    stream.onmessage = take;
    // A kind of event that is named does not arrive as a plain message.
    for (const kind of KINDS) stream.addEventListener(kind, take);
    stream.onerror = () => {
      stream.close();
      state("lost");
      setTimeout(open, AGAIN);
    };
  }
  function take(message) {
    const number = Number(message.lastEventId);
    if (Number.isFinite(number)) last = Math.max(last, number);
    happened(number, message.data);
  }
  open();
}

const KINDS = ["created", "asked", "fitted", "told", "failed", "forgotten", "expired", "noted", "undone"];

/** A function that runs `work` soon, never twice at once, and once more if it was called meanwhile. */
export function calmly(work, pause = 150) {
  let waiting = false;
  let running = false;
  async function run() {
    if (running) return;
    running = true;
    while (waiting) {
      waiting = false;
      await work();
      await new Promise((done) => setTimeout(done, pause));
    }
    running = false;
  }
  return () => {
    waiting = true;
    return run();
  };
}
