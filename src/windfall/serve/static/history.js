// What happened to a study, the latest first: kept here in columns, and fetched only once.

import { get } from "./api.js";
import { el } from "./dom.js";
import { clock, short } from "./words.js";

const FIRST = 60;
const MORE = 500;
const OWN = new Set(["number", "time", "kind", "worker", "id", "arm", "reward", "noise", "count", "deviation", "propensity", "text"]);
const WORDS = { asked: "proposed", told: "result", failed: "failed", forgotten: "skipped", expired: "lease over", noted: "note", undone: "undone", fitted: "fitted" };

export class History {
  constructor(address) {
    this.address = address;
    this.columns = null;
    this.first = null; // events up to this number are not shown yet
    this.last = 0;
    this.undone = 0; // how often something was taken back
  }

  /** Fetch what is new, of a study with so many events. */
  async update(events) {
    this.first ??= Math.max(0, events - 1 - FIRST);
    const { columns } = await get(`${this.address}/history?after=${this.columns ? this.last : this.first}`);
    this.columns ??= Object.fromEntries(Object.keys(columns).map((name) => [name, []]));
    for (const [name, values] of Object.entries(columns)) this.columns[name].push(...values);
    this.undone += columns.kind.filter((kind) => kind === "undone").length;
    this.last = Math.max(this.last, columns.number.at(-1) ?? 0);
  }

  /** Fetch what came before. */
  async older() {
    this.first = Math.max(0, this.first - MORE);
    this.columns = null;
    await this.update();
  }

  get length() {
    return this.columns?.number.length ?? 0;
  }

  /** The columns that say where: names of features or parameters. */
  get names() {
    return Object.keys(this.columns).filter((name) => !OWN.has(name));
  }

  at(i, name) {
    return this.columns[name]?.[i] ?? null; // no arm where there is no list
  }

  show(body, older) {
    body.replaceChildren(...Array.from({ length: this.length }, (_, i) => this.#row(this.length - 1 - i)));
    older.hidden = this.first === 0;
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
