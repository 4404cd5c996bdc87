// Elements made from text: whatever a study, an arm or a parameter is called stays text.

/** An element. Attributes starting with "on" are listeners; true and false set and leave out. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== false));
  return element;
}

export const find = (selector, within = document) => within.querySelector(selector);

/** Pairs of term and description, as in a study's facts. */
export function terms(kind, pairs) {
  return el("dl", { class: kind }, pairs.map(([term, ...description]) =>
    el("div", {}, el("dt", {}, term), el("dd", {}, ...description))));
}

/** Buttons of which one is pressed; the choice is handed to `chosen`. */
export function choices(label, options, now, chosen) {
  const buttons = options.map(([value, text]) =>
    el("button", { type: "button", "aria-pressed": String(value === now), onclick: () => press(value) }, text));
  function press(value) {
    options.forEach(([other], i) => buttons[i].setAttribute("aria-pressed", String(other === value)));
    chosen(value);
  }
  return el("div", { class: "choices", role: "group", "aria-label": label }, buttons);
}

/** Run something slow from a button: busy meanwhile, and what goes wrong is said in `message`. */
export async function busy(button, message, work) {
  button.disabled = true;
  button.setAttribute("aria-busy", "true");
  say(message, "");
  try {
    return await work();
  } catch (error) {
    say(message, error.message, "bad");
  } finally {
    button.disabled = false;
    button.removeAttribute("aria-busy");
  }
}

export function say(message, text, kind = "good") {
  message.textContent = text;
  message.dataset.kind = kind;
  message.hidden = !text;
}

/** Hand a file to the reader. */
export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A colour of the style sheet, as canvases need it. */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Call again when the reader's scheme changes, light to dark or back. */
export function onScheme(redraw) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}
