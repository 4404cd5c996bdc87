// The service, as other programs use it: see /docs of the server for every route.

export const studies = "/api/v1/studies";
export const study = (name) => `${studies}/${encodeURIComponent(name)}`;

const TRIES = 4;

/** The answer to a request; what the service refuses is an Error with its one line. */
export async function call(method, address, body) {
  // A repeated request id changes nothing, so that a lost answer can be asked for again.
  const content = body === undefined ? undefined : JSON.stringify(body);
  for (let attempt = 1; ; attempt++) {
    let answer;
    try {
      answer = await fetch(address, { method, body: content, headers: content ? { "Content-Type": "application/json" } : {}, credentials: "same-origin" });
    } catch (error) {
      if (attempt >= TRIES) throw new Error("the server does not answer; is it running?", { cause: error });
      await new Promise((done) => setTimeout(done, 300 * 2 ** attempt));
      continue;
    }
    const said = answer.status === 204 ? null : await answer.json().catch(() => null);
    if (answer.ok) return said;
    throw new Error(said?.error ?? `the server answered ${answer.status} ${answer.statusText}`);
  }
}

export const get = (address) => call("GET", address);

/** A call that changes something: safe to repeat. */
export const post = (address, body) => call("POST", address, { ...body, request: fresh() });

function fresh() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `page-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
