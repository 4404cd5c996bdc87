// A table of any length: only the rows in sight exist, and only the pages in sight are fetched.

import { el } from "./dom.js";

const ROW = 30;
const HEAD = 36;
const PAGE = 200;
const TALLEST = 4_000_000; // pixels; browsers draw nothing beyond some 17 million
const KEPT = 40; // pages

export class LongTable {
  /**
   * `columns`: [{key, name, numeric, width, text(row)}]; `fetchPage(offset, limit, sort, filter)` gives
   * {total, rows, better}, where `better` may promise the same rows with more in them; `mark(row)` what a
   * row is marked with.
   */
  constructor(host, { label, columns, fetchPage, mark, chosen }) {
    Object.assign(this, { host, columns, fetchPage, mark, chosen });
    this.sort = "";
    this.filter = "";
    this.top = 0; // the first row in sight, with fractions
    this.total = 0;
    this.pages = new Map();
    this.version = 0;
    host.setAttribute("role", "table");
    host.setAttribute("aria-label", label);
    host.tabIndex = 0;
    host.style.setProperty("--columns", columns.map((column) => `minmax(${column.width}px, 1fr)`).join(" "));
    this.heading = el("div", { class: "line heading", role: "row" }, columns.map((column) => this.#heading(column)));
    this.body = el("div", { role: "rowgroup" });
    this.sky = el("div", { class: "sky" }, this.heading, this.body);
    host.replaceChildren(this.sky);
    host.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    host.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.#draw()).observe(host);
  }

  /** Fetch anew what is in sight; what is there stays until it is replaced. */
  async refresh() {
    this.version++;
    this.stale = this.pages;
    this.pages = new Map();
    await this.#need(Math.floor(this.top / PAGE));
    this.#resize();
    this.#draw();
  }

  async search(filter) {
    this.filter = filter;
    this.host.scrollTop = this.top = 0;
    await this.refresh();
  }

  #heading(column) {
    const arrow = el("span", { "aria-hidden": "true" });
    const button = el("button", { type: "button", onclick: () => this.#sortBy(column) }, column.name, arrow);
    const cell = el("div", { role: "columnheader", class: column.numeric ? "number" : "", title: column.name }, button);
    column.cell = cell;
    column.arrow = arrow;
    return cell;
  }

  #sortBy(column) {
    const first = column.numeric && column.key !== "arm" ? "-" : "";
    const other = first ? "" : "-";
    this.sort = this.sort === first + column.key ? other + column.key : first + column.key;
    for (const each of this.columns) {
      const direction = { [each.key]: "ascending", [`-${each.key}`]: "descending" }[this.sort];
      if (direction) each.cell.setAttribute("aria-sort", direction);
      else each.cell.removeAttribute("aria-sort");
      each.arrow.textContent = { ascending: "▲", descending: "▼" }[direction] ?? "";
    }
    this.host.scrollTop = this.top = 0;
    this.refresh();
  }

  get #sight() {
    return Math.max(1, (this.host.clientHeight - HEAD) / ROW);
  }

  get #height() {
    return Math.min(this.total * ROW, TALLEST);
  }

  #resize() {
    this.sky.style.height = `${this.#height + HEAD}px`;
    this.host.setAttribute("aria-rowcount", String(this.total + 1));
    this.top = Math.min(this.top, Math.max(0, this.total - this.#sight));
  }

  /** Small movements go row by row; a drag of the bar goes to its share of the rows. */
  #scrolled() {
    const room = this.#height + HEAD - this.host.clientHeight;
    const last = Math.max(0, this.total - this.#sight);
    const at = this.host.scrollTop;
    const moved = at - (this.before ?? 0);
    this.before = at;
    const near = Math.abs(moved) < 3 * this.host.clientHeight && at > 0 && at < room;
    if (this.total * ROW <= TALLEST) this.top = at / ROW;
    else this.top = near ? this.top + moved / ROW : (at / Math.max(room, 1)) * last;
    this.top = Math.min(Math.max(this.top, 0), last);
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.#settle(room, last), 200);
    this.#draw();
  }

  #settle(room, last) {
    if (this.total * ROW <= TALLEST || !last) return;
    this.before = Math.round((this.top / last) * room);
    this.host.scrollTop = this.before;
    this.#draw();
  }

  #key(event) {
    if (event.target !== this.host) return;
    const pages = { Home: -Infinity, End: Infinity, PageDown: this.#sight - 1, PageUp: 1 - this.#sight, ArrowDown: 1, ArrowUp: -1 };
    const step = pages[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const last = Math.max(0, this.total - this.#sight);
    this.top = Math.min(Math.max(this.top + step, 0), last);
    const room = this.#height + HEAD - this.host.clientHeight;
    this.before = this.total * ROW <= TALLEST ? this.top * ROW : Math.round((this.top / Math.max(last, 1)) * room);
    this.host.scrollTop = this.before;
    this.#draw();
  }

  async #need(page) {
    if (this.pages.has(page)) return;
    const version = this.version;
    this.pages.set(page, null);
    const { total, rows, better } = await this.fetchPage(page * PAGE, PAGE, this.sort, this.filter);
    if (version !== this.version) return;
    this.pages.set(page, rows);
    better?.then((found) => {
      if (version !== this.version || !this.pages.has(page)) return;
      this.pages.set(page, found);
      this.#draw();
    });
    if (this.pages.size > KEPT) this.pages.delete(this.pages.keys().next().value);
    if (total !== this.total) {
      this.total = total;
      this.#resize();
    }
  }

  #draw() {
    const first = Math.max(0, Math.floor(this.top));
    const last = Math.min(this.total, Math.ceil(this.top + this.#sight) + 1);
    const base = this.host.scrollTop + HEAD;
    const lines = [];
    for (let i = first; i < last; i++) {
      const page = Math.floor(i / PAGE);
      if (!this.pages.has(page)) this.#need(page).then(() => this.#draw());
      const row = (this.pages.get(page) ?? this.stale?.get(page))?.[i % PAGE];
      lines.push(this.#line(i, row, base + (i - this.top) * ROW));
    }
    this.body.replaceChildren(...lines);
  }

  #line(i, row, top) {
    const cells = this.columns.map((column) =>
      el("div", { role: "cell", class: column.numeric ? "number" : "" }, row ? column.text(row) : "…"));
    const line = el("div", { class: "line", role: "row", "aria-rowindex": i + 2 }, cells);
    if (row) {
      line.dataset.mark = this.mark(row);
      line.addEventListener("click", () => this.chosen(row));
    }
    line.style.top = `${top}px`;
    return line;
  }
}
