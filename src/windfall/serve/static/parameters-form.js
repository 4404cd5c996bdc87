// Parameters in a form: numbers, whole numbers and choices.

import { el } from "./dom.js";
import { withUnit } from "./arms-form.js";
import { number } from "./words.js";

/** One parameter's fields. */
export function parameterRow() {
  const field = (name, label, more = {}) => el("label", {}, label, el("input", { "data-field": name, autocomplete: "off", ...more }));
  const kind = el("select", { "data-field": "kind" },
    el("option", { value: "Real" }, "number"),
    el("option", { value: "Integer" }, "whole number"),
    el("option", { value: "Categorical" }, "choice"));
  const range = [field("low", "Lowest", { inputmode: "decimal" }), field("high", "Highest", { inputmode: "decimal" })];
  const log = el("label", { class: "tick" }, el("input", { type: "checkbox", "data-field": "log" }), "logarithmic");
  const options = field("choices", "Choices, separated by commas");
  options.hidden = true;
  kind.addEventListener("change", () => {
    const chosen = kind.value === "Categorical";
    options.hidden = !chosen;
    for (const each of [...range, log]) each.hidden = chosen;
  });
  const row = el("div", { class: "row parameter" },
    field("name", "Parameter"), field("unit", "Unit"), el("label", {}, "Kind", kind), range, log, options,
    el("button", { type: "button", class: "plain", "aria-label": "Remove this parameter", onclick: () => row.remove() }, "Remove"));
  return row;
}

/** The spec of the parameters that have a name. */
export function parametersSpec(rows) {
  const pairs = [...rows.children].map(read).filter(([name]) => name);
  if (!pairs.length) throw new Error("no parameter has a name; expected at least one");
  return { type: "Parameters", parameters: pairs };
}

function read(row) {
  const entered = (name) => row.querySelector(`[data-field="${name}"]`);
  const name = withUnit(entered("name").value, entered("unit").value);
  const type = entered("kind").value;
  if (!entered("name").value.trim()) return [""];
  if (type === "Categorical") {
    return [name, { type, choices: entered("choices").value.split(",").map((choice) => choice.trim()).filter(Boolean) }];
  }
  const [low, high] = ["low", "high"].map((end) => number(entered(end).value));
  if (!Number.isFinite(low) || !Number.isFinite(high)) {
    throw new Error(`${name} goes from "${entered("low").value}" to "${entered("high").value}"; expected two numbers`);
  }
  return [name, { type, low, high, log: entered("log").checked }];
}
