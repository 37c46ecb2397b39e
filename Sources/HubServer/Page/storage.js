// Marks, the plan, deleting, the trash. Each change loads the page anew: the server knows what there is.
import { alertOf, count, el, post, replace, toast, working } from "./page.js";

const marked = document.getElementById("marked");
const text = document.getElementById("marked-text");
const dialog = document.getElementById("plan");
const boxes = () => [...document.querySelectorAll("#items input[name=item]:enabled")];
const items = () => boxes().filter((box) => box.checked).map((box) => box.value);
let plan = null, latest = 0;

async function update() {
  const chosen = items();
  const all = document.getElementById("all");
  if (all) all.checked = chosen.length > 0 && chosen.length === boxes().length;
  marked.hidden = chosen.length === 0;
  if (!chosen.length) return;
  const number = ++latest;
  const many = `${count(chosen.length)} marked`;
  text.textContent = `${many} …`;
  try {
    const found = await post("/-/storage/plan", { items: chosen });
    // Files that two marked models share are freed only together, so the sum is the plan's.
    if (number === latest) { plan = found; text.textContent = `${many}, frees ${found.frees}`; }
  } catch (error) { alertOf(error); }
}

function review() {
  const rows = plan.rows.map((row) => el("li", {}, el("span", { class: "grow" }, row.name), el("span", { class: "size" }, row.frees)));
  const notes = [...plan.protected.map((one) => `stays: ${one}`), ...plan.remarks].map((one) => el("p", { class: "note" }, one));
  document.getElementById("plan-rows").replaceChildren(
    el("ul", { tabindex: "0", "aria-label": "What goes" }, ...rows),
    el("p", {}, el("b", {}, `${plan.frees} freed`), `, ${plan.free_after} free on the disk then. `,
      el("span", { class: "faint" }, "What goes into the trash takes its space until the trash is emptied.")), ...notes);
  dialog.showModal();
}

async function remove(button, trash) {
  await working(button, async () => {
    const done = await post("/-/storage/delete", { items: items(), freed_bytes: plan.freed_bytes, trash });
    dialog.close();
    if (done.error) throw new Error(done.error.message);
    if (trash) sessionStorage.setItem("hub.undo", JSON.stringify(done.entries));
    sessionStorage.setItem("hub.done", trash ? "Moved to the trash" : `${plan.frees} freed`);
    location.reload();
  });
}

async function restore(button, entries) {
  await working(button, async () => {
    await post("/-/storage/restore", { entries });
    sessionStorage.setItem("hub.done", "Restored");
    location.reload();
  });
}

function mark(isWanted) {
  for (const box of boxes()) box.checked = isWanted(box.value);
  return update();
}

// The list is another element after it was ordered anew.
document.addEventListener("change", (event) => {
  if (event.target.id === "all") mark(() => event.target.checked);
  else if (event.target.name === "item") update();
});
document.addEventListener("click", async (event) => {
  const link = event.target.closest("#orders a");
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  const chosen = new Set(items());
  await replace("#items", link.href);
  history.replaceState(null, "", link.href);
  document.querySelector("#orders [aria-current]")?.focus({ preventScroll: true });
  mark((value) => chosen.has(value));
});
document.getElementById("unmark").addEventListener("click", () => mark(() => false));
document.getElementById("review").addEventListener("click", (event) => working(event.target, async () => { await update(); if (plan) review(); }));
document.getElementById("plan-cancel").addEventListener("click", () => dialog.close());
document.getElementById("plan-trash").addEventListener("click", (event) => remove(event.target, true));
document.getElementById("plan-delete").addEventListener("click", (event) => remove(event.target, false));
document.getElementById("trash").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.restore) restore(button, [button.dataset.restore]);
  if (button?.id === "empty") {
    if (button.dataset.sure) {
      working(button, async () => {
        await post("/-/storage/empty");
        sessionStorage.setItem("hub.done", "The trash is empty");
        location.reload();
      });
    } else {
      button.dataset.sure = "1";
      button.textContent = "Delete it for good?";
    }
  }
});

// What was done before the page was loaded anew.
const done = sessionStorage.getItem("hub.done");
const undo = JSON.parse(sessionStorage.getItem("hub.undo") ?? "null");
sessionStorage.removeItem("hub.done");
sessionStorage.removeItem("hub.undo");
if (done) {
  const button = undo?.length ? el("button", { type: "button", id: "undo", onclick: (event) => restore(event.target, undo) }, "Undo") : undefined;
  toast(done, button);
}

// A model's page leads here with the revision that is to go.
const wanted = new URLSearchParams(location.search).get("mark");
if (wanted) {
  history.replaceState(null, "", "/-/storage");
  await mark((value) => value === `revision ${wanted}`);
  if (items().length) review();
  else toast("It cannot be deleted now: the list says why");
} else update();
