// All that happened to a study: kept here in columns, and fetched only once.

import { get } from "./api.js";
import { el } from "./dom.js";
import { clock, short } from "./words.js";

const FIRST = 40;
const MORE = 400;
const OWN = new Set(["number", "time", "kind", "worker", "id", "arm", "reward", "noise", "count", "deviation", "text"]);
const WORDS = { asked: "proposed", told: "result", failed: "failed", forgotten: "skipped", expired: "lease over", noted: "note", undone: "undone", fitted: "fitted" };

export class History {
  constructor(address) {
    this.address = address;
    this.columns = {};
    this.last = 0;
    this.shown = FIRST;
  }

  /** Fetch what is new; whether there was anything. */
  async update() {
    const { columns } = await get(`${this.address}/history?after=${this.last}`);
    const count = columns.number.length;
    for (const [name, values] of Object.entries(columns)) {
      const kept = (this.columns[name] ??= []);
      for (const value of values) kept.push(value);
    }
    if (count) this.last = columns.number[count - 1];
    return count > 0;
  }

  get length() {
    return this.columns.number?.length ?? 0;
  }

  /** The columns that say where: names of features or parameters. */
  get names() {
    return Object.keys(this.columns).filter((name) => !OWN.has(name));
  }

  at(i, name) {
    return this.columns[name]?.[i] ?? null;
  }

  /** The rows of results that still count. */
  told() {
    const undone = new Set();
    for (let i = 0; i < this.length; i++) if (this.at(i, "kind") === "undone") undone.add(this.at(i, "id"));
    const rows = [];
    for (let i = 0; i < this.length; i++) {
      if (this.at(i, "kind") === "told" && !undone.has(this.at(i, "number"))) rows.push(i);
    }
    return rows;
  }

  /** [pulls, rewards, best so far], as charts want them. */
  rewards() {
    const rewards = this.told().map((row) => this.at(row, "reward"));
    let best = -Infinity;
    return [rewards.map((_, i) => i + 1), rewards, rewards.map((reward) => (best = Math.max(best, reward)))];
  }

  /** Distinct points with their rewards: [{arm, values, rewards}], the latest last. */
  points() {
    const found = new Map();
    for (const row of this.told()) {
      const arm = this.at(row, "arm");
      const values = this.names.map((name) => this.at(row, name));
      const key = arm ?? JSON.stringify(values);
      const point = found.get(key) ?? { arm, values, rewards: [] };
      found.delete(key);
      found.set(key, point);
      point.rewards.push(this.at(row, "reward"));
    }
    return [...found.values()];
  }

  /** The number of the last result or failure that still counts; null where there is none. */
  lastEntry() {
    const undone = new Set();
    for (let i = this.length - 1; i >= 0; i--) {
      const kind = this.at(i, "kind");
      if (kind === "undone") undone.add(this.at(i, "id"));
      else if ((kind === "told" || kind === "failed") && !undone.has(this.at(i, "number"))) return this.at(i, "number");
    }
    return null;
  }

  show(body, older) {
    const rows = [];
    const first = Math.max(0, this.length - this.shown);
    for (let i = this.length - 1; i >= first; i--) rows.push(this.#row(i));
    body.replaceChildren(...rows);
    older.hidden = first === 0;
    older.onclick = () => {
      this.shown += MORE;
      this.show(body, older);
    };
  }

  notes() {
    const rows = [];
    for (let i = this.length - 1; i >= 0 && rows.length < 50; i--) {
      if (this.at(i, "kind") !== "noted") continue;
      rows.push(el("p", {}, this.at(i, "text"), " ", el("span", { class: "soft small" }, clock(this.at(i, "time")))));
    }
    return rows;
  }

  #row(i) {
    const arm = this.at(i, "arm");
    const where = this.names.map((name) => [name, this.at(i, name)]).filter(([, value]) => value != null);
    const values = where.slice(0, 6).map(([name, value]) => `${name} ${short(value)}`).join(", ");
    const noise = this.at(i, "noise") ?? this.at(i, "deviation");
    const reward = this.at(i, "reward");
    return el("tr", {},
      el("td", { class: "number soft" }, String(this.at(i, "number"))),
      el("td", { class: "soft" }, clock(this.at(i, "time"))),
      el("td", {}, WORDS[this.at(i, "kind")] ?? this.at(i, "kind")),
      el("td", {}, this.at(i, "worker") ?? ""),
      el("td", {}, arm == null ? "" : el("b", {}, `arm ${arm} `), el("span", { class: "soft" }, values + (where.length > 6 ? ", …" : ""))),
      el("td", { class: "number" }, reward == null ? "" : `${short(reward, 6)}${noise == null ? "" : ` ± ${short(noise, 3)}`}`),
      el("td", { class: "soft small" }, this.at(i, "text") ?? ""));
  }
}
