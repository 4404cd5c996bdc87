// One study: reads it, draws it, and follows what happens to it.

import { get, post, study } from "./api.js";
import { hyperChart, rewardsChart } from "./charts.js";
import { busy, el, find, say, terms } from "./dom.js";
import { Digest } from "./digest.js";
import { History } from "./history.js";
import { calmly, follow } from "./live.js";
import { armsTable } from "./arms.js";
import { Cards, askForm, otherForm } from "./next.js";
import { Picture } from "./picture.js";
import { ago, clock, counted, short } from "./words.js";

const name = document.body.dataset.study;
const writable = document.body.dataset.writes === "true";
const address = study(name);
const page = `/studies/${encodeURIComponent(name)}`;

const history = new History(address);
const digest = new Digest(page);
const rewards = rewardsChart(find("#rewards"));
const cards = new Cards(find("#pending"), address, () => refresh());
let hyper = null;
let picture = null;
let arms = null;
let facts = null;

/** What everybody may read at once. */
async function happenings() {
  const undone = history.undone;
  facts = await get(address);
  await history.update(facts.events);
  await digest.update(history.undone !== undone);
  showFacts();
  cards.show(facts.waiting, facts.best?.reward, writable);
  showHistory();
  find("#notes").replaceChildren(...digest.notes.map(({ text, time, worker }) =>
    el("p", {}, text, " ", el("span", { class: "soft small" }, [worker, clock(time)].filter(Boolean).join(" · ")))));
  showRewards();
  showHyper();
}

/** What the model has to be asked for. */
async function beliefs() {
  if (!facts) return;
  await Promise.all([arms?.refresh(), picture.refresh(facts)]);
}

const said = (work) => async () => {
  try {
    await work();
    say(find("#message"), "");
  } catch (error) {
    say(find("#message"), error.message, "bad");
  }
};
const readAgain = calmly(said(happenings));
const thinkAgain = calmly(said(beliefs), 400);
const refresh = () => readAgain().then(() => void thinkAgain());

function showFacts() {
  const { pulls, budget, best, pending, goal, policy, failed, space } = facts;
  const spent = budget ? `of ${budget}` : "";
  const where = best && Object.entries(best.parameters).slice(0, 5).map(([key, value]) => `${key} ${short(value)}`).join(", ");
  const title = best && (best.name ?? (best.arm == null ? null : `arm ${best.arm}`));
  find("#facts").replaceChildren(terms("facts", [
    ["Pulls", String(pulls), " ", el("small", {}, spent)],
    ["Best so far", best ? short(best.reward) : "–", " ", el("small", {}, best ? `at ${[title, where].filter(Boolean).join(": ")}` : "")],
    ["Waiting", String(pending)],
    ...(failed ? [["Failed", String(failed)]] : []),
    ["To choose from", space.type === "Arms" ? counted(space.size, "arm") : counted(space.size, "parameter")],
    ...(goal ? [["Goal", goal === "best" ? "the best thing found" : "the sum of rewards"]] : []),
    ["Policy", policy?.acquisition?.type ?? String(policy)],
    ["Last activity", ago(facts.last_activity)],
  ]));
}

function showRewards() {
  const data = digest.series();
  const count = data[0].length;
  find("#rewards").hidden = find("#rewards-png").hidden = count === 0;
  find("#rewards-empty").hidden = count > 0;
  if (count) rewards.show(data, `Rewards of ${counted(count, "pull")}; the last is ${short(data[1].at(-1))}, the best ${short(data[2].at(-1))}.`);
}

function showHyper() {
  const { pulls, columns } = digest.hyper;
  const moved = pulls.length > 1;
  find("#hyper").hidden = find("#hyper-png").hidden = !moved;
  find("#hyper-empty").hidden = moved;
  if (!moved) return;
  hyper ??= hyperChart(find("#hyper"), Object.keys(columns));
  const last = Object.entries(columns).map(([key, values]) => `${key} ${short(values.at(-1), 3)}`);
  hyper.show([pulls, ...Object.values(columns)], `Settings of the model after ${counted(pulls.length, "fit")}; now ${last.join(", ")}.`);
}

function showHistory() {
  history.show(find("#history tbody"), find("#older"));
  const last = facts.last_entry;
  const button = find("#undo");
  button.hidden = !writable;
  button.disabled = last == null;
  button.title = last == null ? "" : `Takes back entry ${last}`;
}

function forms(view) {
  askForm(find("#ask"), find("#ask-context"), find("#ask-button"), find("#ask-message"), address, view, refresh);
  otherForm(find("#tell-other"), find("#other-fields"), find("#other-context"), find("#other-message"), address, view, refresh);
  find("#note").addEventListener("submit", (event) => {
    event.preventDefault();
    busy(find("#note button"), find("#note-message"), async () => {
      await post(`${address}/note`, { text: find("#note input").value });
      find("#note input").value = "";
      await refresh();
    });
  });
  find("#undo").addEventListener("click", () => busy(find("#undo"), find("#undo-message"), async () => {
    await post(`${address}/undo`, { event: facts.last_entry });
    await refresh();
  }));
  for (const form of document.querySelectorAll("form, #other")) form.hidden = !writable;
}

function pictures() {
  find("#older").addEventListener("click", () => busy(find("#older"), find("#undo-message"), async () => {
    await history.older();
    showHistory();
  }));
  find("#rewards-png").addEventListener("click", () => rewards.picture("rewards.png"));
  find("#hyper-png").addEventListener("click", () => hyper.picture("settings.png"));
}

function state(now) {
  find("#state").dataset.state = now;
  find("#state").textContent = { live: "live", lost: "connection lost, trying again" }[now];
}

async function start() {
  const view = await get(`${page}/view`);
  picture = new Picture(address, view, digest);
  if (view.size != null) arms = armsTable(address, view, () => facts);
  find("#arms-section").hidden = view.size == null;
  forms(view);
  pictures();
  await readAgain();
  follow(`${address}/events`, history.last, refresh, state);
  void thinkAgain();
}

said(start)();
