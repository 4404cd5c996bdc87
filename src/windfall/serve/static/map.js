// A map on a canvas: coloured cells, marks on them, axes and a colour bar.
//
// A sheet is what is drawn: {x, y: axes, xEdges, yEdges, values (row by row, from the lowest y), marks:
// [{x, y, kind, …}], quantity}. A cell's colour depends on its value alone, so that pixels can be read back.

import { along, ticks } from "./axes.js";
import { css, extent, share } from "./colours.js";
import { colour, onScheme } from "./dom.js";
import { short } from "./words.js";

const BAR = 14;
const NEAR = 12;

export class HeatMap {
  /** `pointed` is called with {cell, mark} that the reader points at, or null. */
  constructor(canvas, pointed) {
    this.canvas = canvas;
    this.pointed = pointed;
    this.cursor = null;
    canvas.addEventListener("pointermove", (event) => this.#point(event));
    canvas.addEventListener("pointerleave", () => this.#show(null));
    canvas.addEventListener("keydown", (event) => this.#step(event));
    new ResizeObserver(() => this.draw()).observe(canvas.parentElement);
    onScheme(() => this.draw());
  }

  show(sheet) {
    this.sheet = sheet;
    this.cursor = null;
    this.range = extent(sheet.values);
    this.draw();
  }

  draw() {
    if (!this.sheet) return;
    const width = this.canvas.parentElement.clientWidth;
    if (!width) return;
    const height = Math.round(Math.min(Math.max(width * 0.62, 260), 520));
    const density = window.devicePixelRatio || 1;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = Math.round(width * density);
    this.canvas.height = Math.round(height * density);
    const context = this.canvas.getContext("2d");
    context.setTransform(density, 0, 0, density, 0, 0);
    context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    const left = Math.min(14 + this.#widest(context, ticks(this.sheet.y, 6)) + 18, width * 0.35);
    const right = BAR + 16 + this.#widest(context, this.range.map((value) => [value, short(value, 3)]));
    this.frame = { left, top: 10, width: width - left - right, height: height - 10 - 44 };
    this.canvas.dataset.frame = JSON.stringify(this.frame); // where the cells are, for whoever reads pixels
    context.fillStyle = colour("paper");
    context.fillRect(0, 0, width, height);
    this.#cells(context, density);
    this.#axes(context, height);
    this.#bar(context, width);
    for (const mark of this.sheet.marks) this.#mark(context, mark);
    if (this.cursor != null) this.#outline(context);
  }

  /** The middle of a cell in CSS pixels of the canvas. */
  centre(cell) {
    const [columns] = this.#size();
    const { x, y, xEdges, yEdges } = this.sheet;
    const [i, j] = [cell % columns, Math.floor(cell / columns)];
    const middle = (axis, edges, k) => (along(axis, edges[k]) + along(axis, edges[k + 1])) / 2;
    return this.#place(middle(x, xEdges, i), middle(y, yEdges, j));
  }

  #size() {
    return [this.sheet.xEdges.length - 1, this.sheet.yEdges.length - 1];
  }

  #place(u, v) {
    const { left, top, width, height } = this.frame;
    return [left + u * width, top + (1 - v) * height];
  }

  #cells(context, density) {
    const { x, y, xEdges, yEdges, values } = this.sheet;
    const snap = (value) => Math.round(value * density) / density; // no seams between cells
    const lefts = xEdges.map((edge) => snap(this.#place(along(x, edge), 0)[0]));
    const tops = yEdges.map((edge) => snap(this.#place(0, along(y, edge))[1]));
    const [columns] = this.#size();
    values.forEach((value, cell) => {
      if (!Number.isFinite(value)) return;
      const [i, j] = [cell % columns, Math.floor(cell / columns)];
      context.fillStyle = css(share(value, this.range));
      context.fillRect(lefts[i], tops[j + 1], lefts[i + 1] - lefts[i], tops[j] - tops[j + 1]);
    });
  }

  #axes(context, height) {
    const { left, top, width, height: tall } = this.frame;
    const { x, y } = this.sheet;
    context.strokeStyle = colour("line");
    context.strokeRect(left - 0.5, top - 0.5, width + 1, tall + 1);
    context.fillStyle = colour("soft");
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const [value, text] of ticks(x, width / 70)) {
      const [at] = this.#place(along(x, value), 0);
      context.fillRect(at, top + tall, 1, 4);
      context.fillText(fitted(context, text, width / ticks(x, width / 70).length), at, top + tall + 6);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const [value, text] of ticks(y, tall / 40)) {
      const [, at] = this.#place(0, along(y, value));
      context.fillRect(left - 4, at, 4, 1);
      context.fillText(fitted(context, text, left - 26), left - 7, at);
    }
    context.fillStyle = colour("ink");
    context.textAlign = "center";
    context.textBaseline = "bottom";
    context.fillText(fitted(context, x.name, width), left + width / 2, height - 4);
    context.save();
    context.translate(4, top + tall / 2);
    context.rotate(-Math.PI / 2);
    context.textBaseline = "top";
    context.fillText(fitted(context, y.name, tall), 0, 0);
    context.restore();
  }

  #bar(context, width) {
    const { left, top, width: wide, height } = this.frame;
    const at = left + wide + 8;
    for (let i = 0; i < height; i++) {
      context.fillStyle = css(1 - i / (height - 1));
      context.fillRect(at, top + i, BAR, 1.5);
    }
    context.fillStyle = colour("soft");
    context.textAlign = "left";
    context.textBaseline = "top";
    context.fillText(short(this.range[1], 3), at + BAR + 4, top);
    context.textBaseline = "bottom";
    context.fillText(short(this.range[0], 3), at + BAR + 4, top + height, width - at - BAR - 4);
  }

  #mark(context, mark) {
    const [x, y] = this.#place(along(this.sheet.x, mark.x), along(this.sheet.y, mark.y));
    context.globalAlpha = mark.faint ? 0.35 : 1;
    context.beginPath();
    SHAPES[mark.kind](context, x, y);
    // Dark in light, or light in dark: seen on every colour of the scale.
    const [fill, edge] = FILLS[mark.kind];
    context.lineWidth = mark.kind === "failed" ? 5 : 1.5;
    context.strokeStyle = edge;
    context.stroke();
    context.fillStyle = fill;
    context.fill();
    if (mark.kind === "failed") {
      context.lineWidth = 2;
      context.strokeStyle = fill;
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  #outline(context) {
    const [x, y] = this.centre(this.cursor);
    context.strokeStyle = "#ffffff";
    context.lineWidth = 3;
    context.strokeRect(x - 7, y - 7, 14, 14);
    context.strokeStyle = "#000000";
    context.lineWidth = 1;
    context.strokeRect(x - 7, y - 7, 14, 14);
  }

  #point(event) {
    if (!this.sheet || !this.frame) return;
    const box = this.canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    const { left, top, width, height } = this.frame;
    const [u, v] = [(px - left) / width, 1 - (py - top) / height];
    if (u < 0 || u > 1 || v < 0 || v > 1) return this.#show(null);
    const find = (axis, edges, share) => Math.max(0, edges.findLastIndex((edge, i) => i < edges.length - 1 && along(axis, edge) <= share));
    const [columns] = this.#size();
    const cell = find(this.sheet.y, this.sheet.yEdges, v) * columns + find(this.sheet.x, this.sheet.xEdges, u);
    const far = (mark) => {
      const [x, y] = this.#place(along(this.sheet.x, mark.x), along(this.sheet.y, mark.y));
      return Math.hypot(x - px, y - py);
    };
    const near = this.sheet.marks.map((mark) => [far(mark), mark]).filter(([distance]) => distance < NEAR);
    near.sort(([a], [b]) => a - b);
    this.#show({ cell, mark: near[0]?.[1] ?? null });
  }

  #step(event) {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!move || !this.sheet) return;
    event.preventDefault();
    const [columns, rows] = this.#size();
    const start = this.cursor ?? this.sheet.values.indexOf(this.range[1]);
    const clamp = (value, most) => Math.min(Math.max(value, 0), most - 1);
    const i = clamp((start % columns) + move[0], columns);
    const j = clamp(Math.floor(start / columns) + move[1], rows);
    this.cursor = this.cursor == null ? start : j * columns + i;
    this.draw();
    this.#show({ cell: this.cursor, mark: null });
  }

  #show(what) {
    this.pointed(what);
  }

  #widest(context, labels) {
    return Math.max(0, ...labels.map(([, text]) => context.measureText(text).width));
  }
}

const FILLS = { pulled: ["#ffffff", "#000000"], pending: ["#000000", "#ffffff"], failed: ["#000000", "#ffffff"], best: ["#ff5fa2", "#000000"] };
const SHAPES = {
  pulled: (context, x, y) => context.arc(x, y, 3.6, 0, 2 * Math.PI),
  pending: (context, x, y) => context.rect(x - 5, y - 5, 10, 10),
  failed: (context, x, y) => {
    for (const slope of [1, -1]) {
      context.moveTo(x - 4, y - 4 * slope);
      context.lineTo(x + 4, y + 4 * slope);
    }
  },
  best: (context, x, y) => star(context, x, y, 9),
};

function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let kept = text;
  while (kept.length > 1 && context.measureText(`${kept}…`).width > width) kept = kept.slice(0, -1);
  return `${kept}…`;
}

function star(context, x, y, size) {
  for (let i = 0; i < 10; i++) {
    const radius = i % 2 ? size * 0.45 : size;
    const angle = -Math.PI / 2 + (i * Math.PI) / 5;
    context.lineTo(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
  }
  context.closePath();
}
