// The arms that lead by some quantity, a strip each: for features that no map can show.

import { css, extent, share } from "./colours.js";
import { el } from "./dom.js";
import { counted, short } from "./words.js";

export function ranking(columns, quantity, view) {
  const values = columns[quantity];
  const range = extent([0, ...values]);
  const colours = extent(values);
  const rows = values.map((value, i) => {
    const name = columns.title?.[i] ?? (view.size == null ? `point ${columns.arm[i]}` : `arm ${columns.arm[i]}`);
    const bar = el("i");
    bar.style.width = `${100 * share(value, range)}%`;
    bar.style.background = css(share(value, colours));
    const text = quantity === "mean" ? `${short(value)} ± ${short(columns.std[i], 3)}` : short(value);
    return el("li", { title: view.columns.map((key) => `${key} ${short(columns[key][i])}`).join(", ") },
      el("span", { class: "name" }, name),
      el("span", { class: "strip", "aria-hidden": "true" }, bar),
      el("span", { class: "number" }, text),
      el("span", { class: "soft small" }, columns.pulls[i] ? counted(columns.pulls[i], "pull") : ""));
  });
  return el("ol", { class: "strips" }, rows);
}
