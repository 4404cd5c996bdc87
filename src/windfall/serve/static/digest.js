// What charts and maps show of all that happened: rewards, points, notes, fits.

import { get } from "./api.js";

export class Digest {
  constructor(page) {
    this.page = page;
    this.rewards = [];
    this.points = [];
    this.notes = [];
    this.hyper = { pulls: [], columns: {} };
  }

  /** Fetch what is new; all rewards once more where some were taken back. */
  async update(forgetting = false) {
    if (forgetting) this.rewards = [];
    const { total, rewards, ...others } = await get(`${this.page}/digest?after=${this.rewards.length}`);
    if (total < this.rewards.length) return this.update(true);
    for (const reward of rewards) this.rewards.push(reward);
    Object.assign(this, others);
  }

  /** [pulls, rewards, best so far], as charts want them. */
  series() {
    let best = -Infinity;
    return [this.rewards.map((_, i) => i + 1), this.rewards, this.rewards.map((reward) => (best = Math.max(best, reward)))];
  }
}
