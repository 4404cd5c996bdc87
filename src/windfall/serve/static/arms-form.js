// The columns of a file of arms: which are features, what they are called, in which units.

import { extent } from "./colours.js";
import { numbers, table } from "./csv.js";
import { el } from "./dom.js";
import { counted, number, short } from "./words.js";

const SHOWN = 3; // rows
const MOST_KINDS = 12; // different texts in a column that can still be a feature

/** What a file holds, and the element in which its columns are ticked. */
export function armsTable(text) {
  const { names, columns } = table(text);
  const read = names.map((name, i) => column(name, columns[i]));
  const rows = columns[0].length;
  if (!read.some((each) => each.values)) throw new Error("no column holds numbers only; expected at least one feature");
  const naming = read.findIndex((each) => !each.values && each.kinds.length === rows);
  const title = el("select", { "aria-label": "Column that names the arms" },
    el("option", { value: "" }, "none: arms by number"),
    read.map((each, i) => el("option", { value: i, selected: i === naming }, each.name)));
  const element = el("div", { class: "form" },
    el("p", { class: "soft" }, `${counted(rows, "arm")}, ${counted(read.length, "column")}. Tick what describes an arm before it is tried.`),
    el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, ["Feature", "Name", "Unit", "Values"].map((name) => el("th", {}, name)), el("th", { colspan: SHOWN }, "First rows"))),
      el("tbody", {}, read.map((each) => each.element)))),
    el("label", {}, "Names of the arms", title));
  return { read, rows, title, element };
}

/** The spec of the list, as ticked. */
export function armsSpec(list) {
  if (!list) throw new Error("there is no list yet; drop a CSV file of arms first");
  const features = list.read.filter((each) => each.tick.checked).flatMap(encoded);
  if (!features.length) throw new Error("no column is ticked; expected at least one feature");
  const names = features.map(({ name }) => name);
  const twice = names.find((name, i) => !name || names.indexOf(name) !== i);
  if (twice !== undefined) throw new Error(`two features are called "${twice}"; expected a name for each`);
  const rows = Array.from({ length: list.rows }, (_, i) => features.map(({ values }) => values[i]));
  const titles = list.title.value === "" ? null : list.read[Number(list.title.value)].cells;
  return { type: "Arms", features: rows, names, ...(titles ? { titles } : {}) };
}

function column(name, cells) {
  const values = numbers(cells) ?? numbers(cells, number);
  const kinds = values ? [] : [...new Set(cells)];
  const usable = values || kinds.length <= MOST_KINDS;
  const label = el("input", { value: name, "aria-label": `Name of ${name}` });
  const unit = el("input", { placeholder: "–", "aria-label": `Unit of ${name}` });
  const tick = el("input", { type: "checkbox", checked: Boolean(values), disabled: !usable, "aria-label": `${name} is a feature` });
  const about = values ? extent(values).map((end) => short(end)).join(" to ") : usable ? `${kinds.length} kinds` : "text";
  const element = el("tr", {},
    el("td", {}, tick), el("td", {}, label), el("td", {}, unit), el("td", {}, about),
    Array.from({ length: SHOWN }, (_, i) => el("td", { class: "soft" }, cells[i] ?? "")));
  return { name, cells, values, kinds, label, unit, tick, element };
}

/** Numbers as they are; a column of kinds as one column for each, of which one is 1. */
function encoded({ label, unit, values, kinds, cells }) {
  const name = withUnit(label.value, unit.value);
  if (values) return [{ name, values }];
  return kinds.map((kind) => ({ name: `${name} = ${kind.trim() || "(empty)"}`, values: cells.map((cell) => Number(cell === kind)) }));
}

export const withUnit = (name, unit) => (unit.trim() ? `${name.trim()} (${unit.trim()})` : name.trim());
