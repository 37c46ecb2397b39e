// Jobs and log, brought up to date while the page can be seen; the checks start by themselves.
import { count, el, get, replace } from "./page.js";

async function update() {
  if (!document.hidden) {
    try {
      const { jobs, log } = await get("/-/machine/state");
      document.getElementById("jobs").replaceChildren(...jobs.map((job) => el("div", {}, el("dt", {}, job.name), el("dd", {}, count(job.count)))));
      const place = document.getElementById("log");
      const text = log.join("\n") || "none yet";
      if (place.textContent !== text) place.textContent = text;
    } catch { /* the next round asks again */ }
  }
  setTimeout(update, 2000);
}

update();
const link = document.querySelector("[data-auto]");
if (link) replace(link.dataset.replace, link.href);
