// Charts over pulls, drawn by uPlot.

import { colour, onScheme, save } from "./dom.js";
import { short } from "./words.js";

const HEIGHT = 240;
const WHOLE = [0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));

/** A chart in `host` that is as wide as its place and follows the reader's scheme. */
export class Chart {
  /** `series()` describes the lines with today's colours, `bands()` what lies between two; `axis` names x. */
  constructor(host, { axis, series, bands = () => [], log = false, counts = true }) {
    Object.assign(this, { host, axis, series, bands, log, counts });
    this.data = null;
    new ResizeObserver(() => {
      if (this.plot && host.clientWidth) this.plot.setSize({ width: host.clientWidth, height: HEIGHT });
      else this.#make();
    }).observe(host);
    onScheme(() => this.#make());
  }

  show(data, label) {
    const lines = this.data?.length;
    this.data = data;
    this.host.setAttribute("role", "img");
    this.host.setAttribute("aria-label", label);
    if (this.plot && lines === data.length) this.plot.setData(data);
    else this.#make();
  }

  /** As a picture, on paper. */
  picture(name) {
    const drawn = this.host.querySelector("canvas");
    if (drawn) savePicture(drawn, name);
  }

  #make() {
    if (!this.data || !this.host.clientWidth) return;
    this.plot?.destroy();
    const lines = { stroke: colour("line"), width: 1 };
    const axis = { stroke: colour("soft"), grid: lines, ticks: { ...lines, size: 4 }, font: `12px ${getComputedStyle(document.body).fontFamily}` };
    this.plot = new uPlot({
      width: this.host.clientWidth,
      height: HEIGHT,
      scales: { x: { time: false }, y: this.log ? { distr: 3 } : {} },
      axes: [
        { ...axis, label: this.axis, labelSize: 20, labelFont: axis.font, ...(this.counts ? { incrs: WHOLE } : {}) },
        { ...axis, size: 56, ...(this.log ? { grid: { ...lines, filter: decades }, ticks: { ...lines, size: 4, filter: decades } } : {}), values: (_, ticks) => ticks.map((tick) => (tick == null ? "" : short(tick))) },
      ],
      series: [{ label: this.axis }, ...this.series()],
      bands: this.bands(),
      cursor: { drag: { x: true, y: false } },
    }, this.data, this.host);
  }
}

/** Of the lines of a logarithmic scale only those at powers of ten. */
const decades = (_, splits) => splits.map((value) => (Number.isInteger(Math.round(1e9 * Math.log10(value)) / 1e9) ? value : null));

/** A canvas as a PNG file, on paper even where the canvas is clear. */
export function savePicture(canvas, name) {
  const copy = document.createElement("canvas");
  copy.width = canvas.width;
  copy.height = canvas.height;
  const context = copy.getContext("2d");
  context.fillStyle = colour("paper");
  context.fillRect(0, 0, copy.width, copy.height);
  context.drawImage(canvas, 0, 0);
  copy.toBlob((blob) => save(blob, name), "image/png");
}

/** Rewards over pulls, and the best so far. */
export function rewardsChart(host) {
  const value = (_, y) => short(y);
  return new Chart(host, {
    axis: "pull",
    series: () => [
      { label: "reward", stroke: colour("reward"), paths: () => null, points: { show: true, size: 6, fill: colour("reward") }, value },
      { label: "best so far", stroke: colour("best"), width: 2, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false }, value },
    ],
  });
}

const LINES = ["#21918c", "#c2410c", "#7c5cd6", "#b58900", "#2f6db5", "#d6246e", "#6b7280", "#3f9b3f"];

/** Positive numbers over pulls, on a logarithmic scale: how hyper-parameters moved. */
export function hyperChart(host, names) {
  return new Chart(host, {
    axis: "pull",
    log: true,
    series: () => names.map((label, i) => ({
      label, stroke: LINES[i % LINES.length], width: 1.5, dash: i >= LINES.length ? [6, 4] : [], points: { size: 4 }, value: (_, y) => short(y),
    })),
  });
}

/** A quantity along one feature, in a band of two deviations where it is the mean. */
export function curveChart(host, name, quantity, banded) {
  const line = (label, more) => ({ label, points: { show: false }, value: (_, y) => short(y), ...more });
  return new Chart(host, {
    axis: name,
    counts: false,
    bands: () => (banded ? [{ series: [2, 3], fill: `${colour("accent")}2e` }] : []),
    series: () => [
      line(quantity, { stroke: colour("accent"), width: 2 }),
      ...(banded ? [line("mean + 2σ", { stroke: `${colour("accent")}66` }), line("mean − 2σ", { stroke: `${colour("accent")}66` })] : []),
      ...(banded ? [line("reward", { stroke: colour("reward"), paths: () => null, points: { show: true, size: 6, fill: colour("reward") } })] : []),
    ],
  });
}
