// The colour scale of maps: viridis, even to the eye, and readable to the colour-blind.

const VIRIDIS =
  "440154470d6048186a482374472d7b4537814240863e49893b528b375b8d33638d2f6b8e2c728e297a8e26828e23898e" +
  "21918c1f988b1fa08822a78528ae8032b67a3fbc734ec36b5ec96270cf5784d44b98d83eaddc30c2df23d8e219ece51bfde725";
const STOPS = VIRIDIS.match(/.{6}/g).map((hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)));

/** [red, green, blue] of a share from 0 to 1. */
export function shade(share) {
  const place = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1);
  const at = Math.min(Math.floor(place), STOPS.length - 2);
  return STOPS[at].map((low, i) => Math.round(low + (STOPS[at + 1][i] - low) * (place - at)));
}

export const css = (share) => `rgb(${shade(share).join(" ")})`;

/** [lowest, highest] of the numbers that are finite; [0, 1] where there is none. */
export function extent(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

/** Where a value lies between two others; in the middle where they are one. */
export const share = (value, [low, high]) => (high > low ? (value - low) / (high - low) : 0.5);
