// What the model thinks: a curve over one feature, a map over two, a ranking where there is no order.

import { get, call } from "./api.js";
import { along, edges, valueAt } from "./axes.js";
import { curveChart, savePicture } from "./charts.js";
import { choices, el, find } from "./dom.js";
import { HeatMap } from "./map.js";
import { ranking } from "./strips.js";
import { counted, short } from "./words.js";

const QUANTITIES = [["mean", "mean"], ["std", "uncertainty"], ["ratio", "attention"], ["acquisition", "acquisition"]];
const CELLS = 10_000; // arms; beyond, a map shows points of its own
const FINE = [56, 40]; // columns and rows of these
const NEAR_SLICE = 0.15;

export class Picture {
  constructor(address, view, digest) {
    Object.assign(this, { address, view, digest });
    const many = view.axes.length > 1;
    this.quantity = "mean";
    this.mode = !many ? "curve" : view.geometry ? "map" : "ranking";
    this.axes = many ? [...view.across] : [0, 0];
    this.held = null; // where slices are, once the reader has said so
    this.map = new HeatMap(find("#map canvas"), (what) => this.#tell(what));
    find("#map-png").addEventListener("click", () => {
      const drawn = this.mode === "map" ? find("#map canvas") : find("#curve canvas");
      if (drawn) savePicture(drawn, `${this.quantity}.png`);
    });
    this.#controls(many);
  }

  /** Read the model anew. */
  async refresh(facts) {
    this.facts = facts;
    const empty = facts.pulls === 0;
    find("#map-empty").hidden = !empty;
    find("#map").hidden = empty || this.mode !== "map";
    find("#curve").hidden = empty || this.mode === "map";
    find("#map-png").hidden = empty || this.mode === "ranking";
    find("#slices").hidden = empty || this.mode !== "map" || this.view.axes.length < 3;
    const known = Object.entries(facts.last_context ?? {}).map(([name, value]) => `${name} ${short(value)}`);
    find("#map-context").hidden = !known.length;
    find("#map-context").textContent = `With ${known.join(", ")}, as of the last reward.`;
    if (empty) return;
    if (this.mode === "ranking") return this.#rank();
    this.#sliders();
    if (!this.believed) find("#readout").textContent = "The model is thinking …";
    this.believed = await (this.mode === "curve" ? this.#line() : this.view.grid ? this.#cells() : this.#surface());
    this.draw();
  }

  draw() {
    if (!this.believed) return;
    if (this.mode === "curve") {
      find("#readout").textContent = "";
      return this.#drawCurve();
    }
    if (!this.map.cursor) this.#tell(null);
    const { quantity, axes } = this;
    const [x, y] = [this.believed.x, this.believed.y];
    const values = this.believed.columns[quantity];
    this.map.show({ ...this.believed, values, marks: this.#marks(x, y) });
    const highest = values.reduce((best, value, i) => (value != null && !(value <= values[best]) ? i : best), 0);
    const name = QUANTITIES.find(([key]) => key === quantity)[1];
    const where = this.believed.at(highest);
    find("#map canvas").setAttribute("aria-label",
      `Map of the ${name} over ${this.view.axes[axes[0]].name} and ${this.view.axes[axes[1]].name}: from ${short(this.map.range[0])} to ` +
      `${short(this.map.range[1])}, highest at ${where.map((value) => short(value)).join(" and ")}. Arrow keys move over it.`);
  }

  #controls(many) {
    const pick = (which) => el("label", { class: "narrow" }, which ? "Upwards" : "Across", el("select", {
      "data-axis": which,
      onchange: (event) => {
        const chosen = Number(event.target.value);
        if (this.axes[1 - which] === chosen) this.axes[1 - which] = this.axes[which];
        this.axes[which] = chosen;
        selects.forEach((select, i) => (select.querySelector("select").value = this.axes[i]));
        this.#again();
      },
    }, this.view.axes.map((axis, i) => el("option", { value: i, selected: i === this.axes[which] }, axis.name))));
    const selects = this.view.axes.length > 2 ? [pick(0), pick(1)] : [];
    const quantities = choices("What is shown", QUANTITIES, this.quantity, (chosen) => {
      this.quantity = chosen;
      if (this.mode === "ranking") this.#again();
      else this.draw();
    });
    const modes = many && choices("How it is shown", [["map", "Map"], ["ranking", "Ranking"]], this.mode, (chosen) => {
      this.mode = chosen;
      this.believed = null;
      find("#readout").textContent = "";
      this.#again();
    });
    find("#map-controls").append(...[quantities, modes, ...selects].filter(Boolean));
  }

  #again() {
    if (this.facts) this.refresh(this.facts).catch((error) => (find("#readout").textContent = error.message));
  }

  /** Where the features are held that the map does not show: at the best so far, unless said. */
  #slice() {
    return this.held ?? this.view.axes.map((axis) => {
      const value = this.facts.best?.parameters[axis.name];
      if (value == null) return (axis.low + axis.high) / 2;
      return axis.labels ? axis.labels.indexOf(value) : value;
    });
  }

  #sliders() {
    if (this.view.axes.length < 3 || this.mode !== "map") return find("#slices").replaceChildren();
    const slice = this.#slice();
    const others = this.view.axes.map((axis, i) => [axis, i]).filter(([, i]) => !this.axes.includes(i));
    find("#slices").replaceChildren(...others.map(([axis, i]) => {
      const text = (value) => (axis.labels ? String(axis.labels[Math.round(value)]) : short(value, 3));
      const said = el("span", {}, `${axis.name} = ${text(slice[i])}`);
      const steps = axis.labels ? axis.labels.length - 1 : axis.whole ? axis.high - axis.low : 100;
      const at = (slider) => {
        const value = valueAt(axis, Number(slider.value) / steps);
        return axis.labels || axis.whole ? Math.round(value) : value;
      };
      return el("label", {}, said, el("input", {
        type: "range", min: 0, max: steps, step: 1, value: Math.round(along(axis, slice[i]) * steps),
        oninput: (event) => (said.textContent = `${axis.name} = ${text(at(event.target))}`),
        onchange: (event) => {
          this.held = this.#slice().with(i, at(event.target));
          this.#again();
        },
      }));
    }));
  }

  /** Every arm is a cell. */
  async #cells() {
    const { columns } = await get(`${this.address}/arms?limit=${CELLS}&beliefs=true`);
    const [x, y] = this.axes.map((i) => columns[this.view.columns[i]]);
    const distinct = (values) => [...new Set(values)].sort((a, b) => a - b);
    const [xs, ys] = [distinct(x), distinct(y)];
    const place = (values) => new Map(values.map((value, i) => [value, i]));
    const [column, row] = [place(xs), place(ys)];
    const arms = new Array(xs.length * ys.length).fill(null);
    x.forEach((value, arm) => (arms[row.get(y[arm]) * xs.length + column.get(value)] = arm));
    const cell = (values) => arms.map((arm) => (arm == null ? null : values[arm]));
    const [xEdges, yEdges] = [edges(xs), edges(ys)];
    const axis = (i, ends) => ({ name: this.view.axes[i].name, low: ends[0], high: ends.at(-1) });
    return {
      x: axis(this.axes[0], xEdges), y: axis(this.axes[1], yEdges), xEdges, yEdges,
      columns: Object.fromEntries(QUANTITIES.map(([key]) => [key, cell(columns[key])])),
      arm: (i) => arms[i],
      at: (i) => [xs[i % xs.length], ys[Math.floor(i / xs.length)]],
    };
  }

  /** Points of a grid, the other features held. */
  async #surface() {
    const [across, up] = this.axes.map((i, k) => steps(this.view.axes[i], FINE[k]));
    const slice = this.#slice();
    const points = up.values.flatMap((v) => across.values.map((u) => slice.with(this.axes[0], u).with(this.axes[1], v)));
    const columns = await this.#explained(points);
    return {
      x: across.axis, y: up.axis, xEdges: across.edges, yEdges: up.edges, columns,
      arm: () => null,
      at: (i) => [across.values[i % across.values.length], up.values[Math.floor(i / across.values.length)]],
    };
  }

  /** What the model says about points, in the context of the last reward. */
  async #explained(points) {
    return (await call("POST", `${this.address}/explain`, { points, context: this.facts.last_context })).columns;
  }

  /** Points along the only feature. */
  async #line() {
    const along = steps(this.view.axes[0], 240);
    const columns = await this.#explained(along.values.map((value) => [value]));
    return { x: along.values, columns };
  }

  #drawCurve() {
    const { x, columns } = this.believed;
    const banded = this.quantity === "mean";
    const name = this.view.axes[0].name;
    const host = find("#curve");
    if (this.curve?.quantity !== this.quantity) {
      host.replaceChildren();
      this.curve = { quantity: this.quantity, chart: curveChart(host, name, QUANTITIES.find(([key]) => key === this.quantity)[1], banded) };
    }
    const values = columns[this.quantity];
    const lines = [values];
    let all = x;
    if (banded) {
      // Rewards lie between the points of the curve: one list of x for both.
      const told = this.digest.points.map(({ values: [value], mean }) => [value, mean]);
      const rows = [
        ...x.map((value, i) => [value, columns.mean[i], columns.mean[i] + 2 * columns.std[i], columns.mean[i] - 2 * columns.std[i], null]),
        ...told.map(([value, reward]) => [value, undefined, undefined, undefined, reward]),
      ].sort(([a], [b]) => a - b);
      all = rows.map(([value]) => value);
      lines.splice(0, 1, ...[1, 2, 3, 4].map((k) => rows.map((row) => row[k])));
    }
    this.curve.chart.show([all, ...lines], `The ${this.quantity} over ${name}, ${x.length} points.`);
  }

  async #rank() {
    const { columns } = await get(`${this.address}/arms?limit=20&beliefs=true&sort=${this.quantity}&ascending=false`);
    this.curve = null;
    find("#curve").removeAttribute("role");
    find("#curve").replaceChildren(ranking(columns, this.quantity, this.view));
  }

  #marks(x, y) {
    const slice = this.#slice();
    const spot = (values, kind, more) => {
      const numbers = values.map((value, i) => (this.view.axes[i].labels ? this.view.axes[i].labels.indexOf(value) : value));
      const off = this.view.axes.some((axis, i) => !this.axes.includes(i) && Math.abs(along(axis, numbers[i]) - along(axis, slice[i])) > NEAR_SLICE);
      return { x: numbers[this.axes[0]], y: numbers[this.axes[1]], kind, faint: off, values, ...more };
    };
    const of = (choice) => this.view.axes.map((axis) => choice.parameters[axis.name]);
    const { waiting, failures, best } = this.facts;
    const inside = (mark) => [[x, mark.x], [y, mark.y]].every(([axis, value]) => { const at = along(axis, value); return at >= 0 && at <= 1; });
    return [
      ...this.digest.points.map((point) => spot(point.values, "pulled", point)),
      ...failures.map((choice) => spot(of(choice), "failed", choice)),
      ...waiting.map((choice) => spot(of(choice), "pending", choice)),
      ...(best ? [spot(of(best), "best", { ...best, mean: best.reward })] : []),
    ].filter(inside);
  }

  /** All about what the reader points at. */
  #tell(what) {
    const readout = find("#readout");
    if (!what || !this.believed) {
      readout.replaceChildren(el("span", { class: "soft" }, "○ pulled   ■ waiting   × failed   ★ best so far. Point at the map, or use the arrow keys."));
      return;
    }
    const { mark, cell } = what;
    const { columns } = this.believed;
    const arm = mark?.arm ?? this.believed.arm(cell);
    const title = mark?.name ?? (arm == null ? null : `arm ${arm}`);
    const where = mark ? this.view.axes.map((axis, i) => [axis.name, mark.values[i]]) : this.axes.map((i, k) => [this.view.axes[i].name, this.#worded(i, this.believed.at(cell)[k])]);
    const kinds = { pulled: "pulled", pending: "waiting", failed: "failed", best: "best so far" };
    const parts = [
      title && el("b", {}, title), mark && kinds[mark.kind],
      where.map(([name, value]) => `${name} ${short(value)}`).join(", "),
      mark?.pulls && `${counted(mark.pulls, "pull")}, mean reward ${short(mark.mean)}`,
      `model: ${short(columns.mean[cell])} ± ${short(columns.std[cell], 3)}, attention ${short(columns.ratio[cell], 3)}, acquisition ${short(columns.acquisition[cell], 3)}`,
    ].filter(Boolean);
    readout.replaceChildren(...parts.flatMap((part, i) => (i ? [" · ", part] : [part])));
  }

  #worded(i, value) {
    const { labels } = this.view.axes[i];
    return labels ? labels[value] : value;
  }
}

/** Values along an axis with the edges of their cells: each choice and whole number, or evenly. */
function steps(axis, most) {
  const whole = axis.labels ? axis.labels.length : axis.whole && !axis.log ? axis.high - axis.low + 1 : Infinity;
  if (whole <= most) {
    const values = Array.from({ length: whole }, (_, i) => axis.low + i);
    const ends = edges(values);
    return { values, edges: ends, axis: { ...axis, low: ends[0], high: ends.at(-1) } };
  }
  const at = (i) => valueAt(axis, i / most);
  const values = Array.from({ length: most }, (_, i) => (axis.whole ? Math.round(at(i + 0.5)) : at(i + 0.5)));
  return { values, edges: Array.from({ length: most + 1 }, (_, i) => at(i)), axis };
}
