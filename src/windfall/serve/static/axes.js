// Axes: where a value lies, and which values to write beside it.
//
// An axis is {name, low, high, log, labels}; labels stand at 0, 1, 2, … where values are choices.

import { short } from "./words.js";

const scaled = (axis, value) => (axis.log ? Math.log(value) : value);

/** From 0 to 1 along an axis. */
export function along(axis, value) {
  const low = scaled(axis, axis.low);
  return (scaled(axis, value) - low) / (scaled(axis, axis.high) - low);
}

/** The value at a share of an axis. */
export function valueAt(axis, share) {
  const low = scaled(axis, axis.low);
  const value = low + (scaled(axis, axis.high) - low) * share;
  return axis.log ? Math.exp(value) : value;
}

/** [value, text] to write, at most about so many. */
export function ticks(axis, most) {
  if (axis.labels) return axis.labels.map((label, i) => [i, String(label)]);
  if (axis.log) return decades(axis, most);
  const step = nice((axis.high - axis.low) / Math.max(most, 1));
  const found = [];
  for (let i = Math.ceil(axis.low / step - 1e-9); i * step <= axis.high + 1e-9 * step; i++) {
    found.push([i * step, short(Number((i * step).toPrecision(12)))]);
  }
  return found;
}

function decades(axis, most) {
  const first = Math.ceil(Math.log10(axis.low) - 1e-9);
  const last = Math.floor(Math.log10(axis.high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / Math.max(most, 1)));
  const found = [];
  for (let power = first; power <= last; power += every) found.push([10 ** power, short(10 ** power)]);
  return found.length ? found : [[axis.low, short(axis.low)], [axis.high, short(axis.high)]];
}

function nice(step) {
  const power = 10 ** Math.floor(Math.log10(step));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= step * (1 - 1e-9));
  return factor * power;
}

/** Edges between values in ascending order: midway, and as far outside as inside. */
export function edges(values) {
  if (values.length === 1) return [values[0] - 0.5, values[0] + 0.5];
  const between = values.slice(1).map((value, i) => (value + values[i]) / 2);
  const [first, last] = [values[0], values.at(-1)];
  return [2 * first - between[0], ...between, 2 * last - between.at(-1)];
}
