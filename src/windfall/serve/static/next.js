// What to try next: a card for every choice that waits for its result.

import { post } from "./api.js";
import { busy, el, say, terms } from "./dom.js";
import { lasting, number, result, seconds, short } from "./words.js";

/** The cards of a study's pending choices; those that stay keep what was typed into them. */
export class Cards {
  constructor(host, address, done) {
    Object.assign(this, { host, address, done });
    this.cards = new Map();
  }

  show(waiting, best, writable) {
    const cards = new Map(waiting.map((choice) => [choice.id, this.cards.get(choice.id) ?? this.#card(choice, writable)]));
    for (const choice of waiting) cards.get(choice.id).update(choice, best);
    const kept = [...cards.values()].map((card) => card.element);
    for (const child of [...this.host.children]) if (!kept.includes(child)) child.remove();
    kept.forEach((element, i) => this.host.children[i] !== element && this.host.insertBefore(element, this.host.children[i] ?? null));
    this.cards = cards;
    if (!kept.length) this.host.append(el("p", { class: "empty" }, "Nothing waits for a result. Ask for what to try next."));
  }

  #card(choice, writable) {
    const holder = el("span", { class: "soft small" });
    const numbers = el("div");
    const message = el("p", { class: "message", role: "alert", hidden: true });
    const title = choice.arm == null ? `Choice ${choice.id}` : (choice.name ?? `Arm ${choice.arm}`);
    const form = writable ? this.#form(choice, title, message) : null;
    const element = el("article", { class: "card", "aria-label": title, "data-choice": choice.id },
      el("div", { class: "title" }, el("h3", {}, title, choice.name && el("span", { class: "soft small" }, ` arm ${choice.arm}`)), holder),
      terms("values", Object.entries({ ...choice.context, ...choice.parameters }).map(([name, value]) => [name, short(value, 6)])),
      el("p", { class: "why", title: choice.why }, reason(choice)), numbers, form, message);
    return {
      element,
      update(now, best) {
        numbers.replaceChildren(expectation(now, best));
        holder.textContent = held(now);
      },
    };
  }

  #form(choice, title, message) {
    const entry = el("input", { name: "result", autocomplete: "off", required: true, inputmode: "text", placeholder: "0.91, or 0.91 0.88 0.93" });
    const noise = el("input", { name: "noise", autocomplete: "off", inputmode: "decimal", placeholder: "unknown" });
    const hint = el("span", { class: "soft small", "aria-live": "polite" });
    entry.addEventListener("input", () => {
      const read = result(entry.value);
      noise.disabled = Boolean(read?.count);
      hint.textContent = read?.count ? `mean of ${read.count}: ${short(read.reward)}, deviation ${short(read.deviation, 3)}` : "";
    });
    const act = (button, route, body) => busy(button, message, async () => {
      await post(`${this.address}/${route}`, { choice: choice.id, ...body() });
      await this.done();
    });
    const tell = el("button", { class: "main" }, "Tell");
    const failed = el("button", { type: "button", onclick: () => act(failed, "fail", () => ({})), title: "The pull gave no result" }, "Failed");
    const skip = el("button", { type: "button", onclick: () => act(skip, "forget", () => ({})), title: "It will not be tried" }, "Skip");
    return el("form", {
      class: "row", "aria-label": `Result of ${title}`,
      onsubmit: (event) => {
        event.preventDefault();
        act(tell, "tell", () => told(entry.value, noise.disabled ? "" : noise.value));
      },
    }, el("label", {}, "Result", entry), el("label", { class: "narrow" }, "Noise, ±", noise), tell, failed, skip, hint);
  }
}

/** What a tell says, from what was typed. */
export function told(typed, noise = "") {
  const read = result(typed);
  if (!read) throw new Error(`result is "${typed}"; expected a number, or several with spaces between`);
  if (!noise.trim()) return read;
  const deviation = number(noise);
  if (!(deviation >= 0)) throw new Error(`noise is "${noise}"; expected a number of 0 or more`);
  return { ...read, noise: deviation };
}

const REASONS = {
  mean: "The model expects it to pay at least as much as the best so far.",
  uncertainty: "It may pay more than the best so far: the model knows little about it.",
  attention: "It may pay more than the best so far, and what the model expects there is rare.",
};

/** Why, in plain words; the numbers stand below. */
function reason({ why }) {
  const driver = /chose it for its (\w+):/.exec(why)?.[1];
  return REASONS[driver] ?? `${why.charAt(0).toUpperCase()}${why.slice(1)}.`;
}

function expectation({ mean, deviation, ratio }, best) {
  const numbers = [];
  if (mean != null) numbers.push(["expected", `${short(mean)} ± ${short(deviation, 3)}`]);
  if (ratio != null && ratio !== 1) numbers.push(["attention", short(ratio, 3)]);
  if (best != null) numbers.push(["best so far", short(best)]);
  return terms("values", numbers);
}

function held({ worker, expires }) {
  const left = expires == null ? null : seconds(expires) - Date.now() / 1000;
  const lease = left == null ? null : left > 0 ? `${lasting(left)} left` : "lease has run out";
  return [worker, lease].filter(Boolean).join(" · ");
}

/** A field for each of some quantities: a number, or one of several labels. */
function fields(quantities) {
  return quantities.map(({ name, labels }) => el("label", { "data-name": name }, name, labels
    ? el("select", {}, labels.map((label, i) => el("option", { value: i }, String(label))))
    : el("input", { inputmode: "decimal", required: true, autocomplete: "off" })));
}

/** What was entered into such fields, by name. */
function entered(host, quantities) {
  const places = [...host.querySelectorAll("[data-name]")];
  return Object.fromEntries(quantities.map(({ name, labels }) => {
    const { value } = places.find((place) => place.dataset.name === name).lastElementChild;
    return [name, labels ? labels[Number(value)] : number(value)];
  }));
}

/** What is known now, in a study with contexts. */
const known = (host, { contexts }) => (contexts.length ? { context: entered(host, contexts) } : {});

/** The form that asks for choices. */
export function askForm(form, now, button, message, address, view, done) {
  now.replaceChildren(...fields(view.contexts));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    busy(button, message, async () => {
      const { n, worker, hours } = form.elements;
      const lease = hours.value.trim() ? number(hours.value) * 3600 : null;
      if (lease != null && !(lease > 0)) throw new Error(`hours is "${hours.value}"; expected a number above 0`);
      await post(`${address}/ask`, { n: Number(n.value), worker: worker.value.trim() || null, lease, ...known(now, view) });
      await done();
    });
  });
}

/** The form for results that nobody asked for: an arm by its number, or values by name. */
export function otherForm(form, what, then, message, address, view, done) {
  const arm = () => el("label", {}, "Arm", el("input", { name: "arm", type: "number", min: 0, max: view.size - 1, step: 1, required: true }));
  what.replaceChildren(...(view.size == null ? fields(view.axes) : [arm()]));
  then.replaceChildren(...fields(view.contexts));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    busy(form.querySelector("button"), message, async () => {
      const meant = view.size == null ? { parameters: entered(what, view.axes) } : { arm: Number(form.elements.arm.value) };
      await post(`${address}/tell`, { ...meant, ...known(then, view), ...told(form.elements.result.value) });
      form.elements.result.value = "";
      say(message, "Noted.");
      await done();
    });
  });
}
