// The list of studies, and the form that makes a new one.

import { get, studies } from "./api.js";
import { el, find, say } from "./dom.js";
import { newStudy } from "./new.js";
import { ago, counted, short } from "./words.js";

const EVERY = 2000; // milliseconds

function row(study) {
  if (study.error) return el("tr", {}, el("td", {}, study.name), el("td", { colspan: 4, class: "soft" }, study.error));
  const share = study.budget ? Math.min(study.pulls / study.budget, 1) : null;
  const bar = el("div", { class: "bar", "aria-hidden": "true" }, el("i"));
  if (share != null) bar.firstChild.style.width = `${100 * share}%`;
  const progress = study.budget ? `${study.pulls} of ${counted(study.budget, "pull")}` : counted(study.pulls, "pull");
  return el("tr", {},
    el("td", {}, el("a", { href: `/studies/${encodeURIComponent(study.name)}` }, study.name)),
    el("td", {}, progress, share != null && bar),
    el("td", { class: "number", "data-label": "waiting" }, String(study.pending)),
    el("td", { "data-label": "best" }, best(study)),
    el("td", { "data-label": "last" }, ago(study.last_activity)));
}

function best({ best }) {
  if (!best) return "–";
  const where = Object.entries(best.parameters).slice(0, 4).map(([name, value]) => `${name} ${short(value)}`);
  const more = Object.keys(best.parameters).length > 4 ? ", …" : "";
  return [el("b", {}, short(best.reward)), " ", el("span", { class: "soft" }, `at ${where.join(", ")}${more}`)];
}

async function refresh() {
  try {
    const found = (await get(studies)).studies;
    find("#studies tbody").replaceChildren(...found.map(row));
    find("#studies").hidden = !found.length;
    find("#studies-empty").hidden = found.length > 0;
    say(find("#studies-message"), "");
  } catch (error) {
    say(find("#studies-message"), error.message, "bad");
  }
}

async function keepFresh() {
  if (!document.hidden) await refresh();
  setTimeout(keepFresh, EVERY);
}

if (find("#new")) newStudy(find("#new"));
keepFresh();
