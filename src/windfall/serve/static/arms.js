// The table of arms.

import { get } from "./api.js";
import { find, say } from "./dom.js";
import { LongTable } from "./table.js";
import { counted, short } from "./words.js";

const BELIEFS = [["mean", "mean"], ["std", "uncertainty"], ["ratio", "attention"], ["acquisition", "acquisition"]];
const KNOWN = 20_000;

/** The table in its place; `facts()` says what waits. */
export function armsTable(address, view, facts) {
  const column = (key, name, numeric, width) => ({ key, name, numeric, width, text: (row) => (numeric ? (key in row ? short(row[key]) : "") : String(row[key] ?? "")) });
  const columns = [
    column("arm", "arm", true, 90),
    ...(view.titles ? [column("title", "name", false, 180)] : []),
    ...view.axes.map((axis, i) => column(view.columns[i], axis.name, true, 120)),
    column("pulls", "pulls", true, 80),
    ...BELIEFS.map(([key, name]) => column(key, name, true, 120)),
  ];
  const known = new Map(); // rows as they last were, shown until the model has spoken again
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
      const wanted = { offset, limit, ...(filter && { filter }), ...(sort && { sort: sort.replace(/^-/, ""), ascending: !sort.startsWith("-") }) };
      const fetchRows = async (beliefs) => {
        const page = await get(`${address}/arms?${new URLSearchParams({ ...wanted, beliefs })}`);
        const names = Object.keys(page.columns);
        const rows = page.columns.arm.map((arm, i) => ({ ...known.get(arm), ...Object.fromEntries(names.map((key) => [key, page.columns[key][i]])) }));
        if (beliefs) {
          if (known.size > KNOWN) known.clear();
          for (const row of rows) known.set(row.arm, row);
        }
        find("#arms-count").textContent = page.matching === page.total ? counted(page.total, "arm") : `${page.matching} of ${counted(page.total, "arm")}`;
        say(find("#arms-message"), "");
        return { total: page.matching, rows };
      };
      const trouble = (error) => say(find("#arms-message"), error.message, "bad");
      const onBeliefs = BELIEFS.some(([key]) => key === wanted.sort || filter.includes(key));
      try {
        const first = await fetchRows(onBeliefs);
        if (onBeliefs || !facts()?.pulls) return first;
        // A model may have to be compiled first; the rows need not wait for it.
        return { ...first, better: fetchRows(true).then(({ rows }) => rows, (error) => (trouble(error), first.rows)) };
      } catch (error) {
        trouble(error);
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
