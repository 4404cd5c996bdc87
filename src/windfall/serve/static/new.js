// A new study: from a list of arms in a file, or from a form of parameters.

import { call, studies } from "./api.js";
import { busy, choices, el, find, say } from "./dom.js";
import { armsSpec, armsTable } from "./arms-form.js";
import { parameterRow, parametersSpec } from "./parameters-form.js";

export function newStudy(form) {
  let kind = "list";
  let list = null;
  const message = find("#new-message");

  find("#kind").append(choices("What to choose from", [["list", "A list of arms"], ["parameters", "Parameters"]], kind, (chosen) => {
    kind = chosen;
    find("#from-list").hidden = kind !== "list";
    find("#from-parameters").hidden = kind !== "parameters";
  }));

  const rows = find("#parameters");
  const add = () => rows.append(parameterRow());
  find("#add-parameter").addEventListener("click", () => {
    add();
    rows.lastChild.querySelector("input").focus();
  });
  add();
  add();

  async function take(file) {
    say(message, "");
    try {
      list = armsTable(await file.text());
      find("#columns").replaceChildren(list.element);
      find("#columns").hidden = false;
      if (!form.elements.name.value) form.elements.name.value = file.name.replace(/\.\w+$/, "");
    } catch (error) {
      say(message, `${file.name}: ${error.message}`, "bad");
    }
  }
  const drop = find("#drop");
  find("#file").addEventListener("change", ({ target }) => target.files.length && take(target.files[0]));
  for (const [event, over] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
    drop.addEventListener(event, (happened) => {
      happened.preventDefault();
      drop.classList.toggle("over", over);
      if (event === "drop" && happened.dataTransfer.files.length) take(happened.dataTransfer.files[0]);
    });
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    busy(find("#create"), message, async () => {
      const entered = form.elements;
      const name = entered.name.value.trim();
      const known = entered.context.value.split(",").map((one) => one.trim()).filter(Boolean);
      await call("POST", studies, {
        name,
        space: kind === "list" ? armsSpec(list) : parametersSpec(rows),
        policy: entered.policy.value || null,
        goal: entered.policy.value ? null : entered.goal.value, // a goal has a policy of its own
        budget: entered.budget.value ? Number(entered.budget.value) : null,
        seed: entered.seed.value ? Number(entered.seed.value) : null,
        context: known.length ? known : null,
        drift: entered.drift.value || null,
      });
      location.href = `/studies/${encodeURIComponent(name)}`;
    });
  });
}
