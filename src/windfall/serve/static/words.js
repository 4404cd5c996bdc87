// Numbers and times as people read them.

/** Four digits that count: 1234568 → 1.235e+6, 0.12345 → 0.1235, 60 → 60. */
export function short(value, digits = 4) {
  if (value == null || Number.isNaN(value)) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) return value.toExponential(digits - 1).replace(/\.?0+e/, "e");
  return String(Number(value.toPrecision(digits)));
}

const STEPS = [[60, "s"], [3600, "min"], [86400, "h"], [Infinity, "days"]];

/** Seconds as a length of time: 90 → 2 min. */
export function lasting(seconds) {
  const size = Math.abs(seconds);
  const at = STEPS.findIndex(([limit]) => size < limit * 1.5);
  const unit = at === 0 ? 1 : STEPS[at - 1][0];
  return `${Math.round(size / unit)} ${STEPS[at][1]}`;
}

/** A moment, in seconds since 1970 or as ISO text, from now. */
export function ago(time) {
  const moment = seconds(time);
  if (moment == null) return "–";
  const past = Date.now() / 1000 - moment;
  return past < 5 ? "just now" : `${lasting(past)} ago`;
}

export function seconds(time) {
  if (time == null) return null;
  return typeof time === "number" ? time : Date.parse(time) / 1000;
}

export function clock(time) {
  const moment = seconds(time);
  return moment == null ? "–" : new Date(moment * 1000).toLocaleString([], { dateStyle: "short", timeStyle: "medium" });
}

/** A number as people write it, also with a decimal comma; NaN for anything else. */
export function number(text) {
  const trimmed = text.trim();
  const plain = /^[-+]?\d+,\d+$/.test(trimmed) ? trimmed.replace(",", ".") : trimmed;
  return plain === "" ? NaN : Number(plain);
}

/**
 * A result as it was typed: one number, or several replicates with their mean and sample
 * deviation. Null where it is not a result.
 */
export function result(text) {
  const values = text.split(/[\s;]+/).filter(Boolean).map(number);
  if (!values.length || !values.every(Number.isFinite)) return null;
  if (values.length === 1) return { reward: values[0] };
  const reward = values.reduce((a, b) => a + b, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - reward) ** 2, 0);
  return { reward, count: values.length, deviation: Math.sqrt(squares / (values.length - 1)) };
}

/** "1 pull", "2 pulls". */
export const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
