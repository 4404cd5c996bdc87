// The table of arms.

import { get } from "./api.js";
import { find, say } from "./dom.js";
import { LongTable } from "./table.js";
import { counted, short } from "./words.js";

const BELIEFS = [["mean", "mean"], ["std", "uncertainty"], ["ratio", "attention"], ["acquisition", "acquisition"]];

/** The table in its place; `facts()` says what waits. */
export function armsTable(address, view, facts) {
  const column = (key, name, numeric, width) => ({ key, name, numeric, width, text: (row) => (numeric ? short(row[key]) : String(row[key] ?? "")) });
  const columns = [
    column("arm", "arm", true, 90),
    ...(view.titles ? [column("title", "name", false, 180)] : []),
    ...view.axes.map((axis, i) => column(view.columns[i], axis.name, true, 120)),
    column("pulls", "pulls", true, 80),
    ...BELIEFS.map(([key, name]) => column(key, name, true, 120)),
  ];
  const table = new LongTable(find("#arms"), {
    label: `${counted(view.size, "arm")}`,
    columns,
    mark: (row) => (facts()?.waiting.some(({ arm }) => arm === row.arm) ? "pending" : row.pulls ? "pulled" : ""),
    chosen: (row) => {
      const entry = find("#tell-other [name=arm]");
      if (!entry) return;
      entry.value = row.arm;
      find("#other").open = true;
    },
    async fetchPage(offset, limit, sort, filter) {
      const wanted = new URLSearchParams({ offset, limit, beliefs: true, ...(filter && { filter }) });
      if (sort) {
        wanted.set("sort", sort.replace(/^-/, ""));
        wanted.set("ascending", String(!sort.startsWith("-")));
      }
      try {
        const page = await get(`${address}/arms?${wanted}`);
        const names = Object.keys(page.columns);
        const rows = page.columns.arm.map((_, i) => Object.fromEntries(names.map((key) => [key, page.columns[key][i]])));
        find("#arms-count").textContent = page.matching === page.total ? counted(page.total, "arm") : `${page.matching} of ${counted(page.total, "arm")}`;
        say(find("#arms-message"), "");
        return { total: page.matching, rows };
      } catch (error) {
        say(find("#arms-message"), error.message, "bad");
        return { total: 0, rows: [] };
      }
    },
  });
  let typing;
  find("#arms-filter").addEventListener("input", ({ target }) => {
    clearTimeout(typing);
    typing = setTimeout(() => table.search(target.value.trim()), 250);
  });
  return table;
}
