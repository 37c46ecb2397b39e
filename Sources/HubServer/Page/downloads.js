// The list of downloads, brought up to date in place so that focus and open details stay. A model's page has its own.
import { count, duration, el, onDownloads, post, replace, sentence, size, told, watchDownloads, working } from "./page.js";

const list = document.getElementById("downloads");
const own = list.dataset.page;
const none = document.getElementById("no-downloads");
const rows = new Map();
list.replaceChildren();

const VERBS = {
  planning: ["cancel"], downloading: ["pause", "cancel"], waiting: ["pause", "cancel"], verifying: ["cancel"],
  paused: ["resume", "cancel"], done: ["forget"], failed: ["retry", "forget"], cancelled: ["retry", "forget"],
};
const WORDS = { pause: "Pause", resume: "Resume", cancel: "Cancel", forget: "Clear from list", retry: "Try again" };
const STATES = {
  planning: "Looking up the files", downloading: "Downloading", waiting: "Waiting", paused: "Paused",
  verifying: "Checking digests", done: "Done, every digest checked", failed: "Failed", cancelled: "Cancelled; what arrived is kept",
};

function row(one) {
  const node = el("li", { class: "card download", "data-id": one.id, "aria-label": `Download of ${one.model}` });
  node.append(
    el("div", { class: "row" },
      el("b", { class: "grow" }, el("a", { class: "name", href: one.page }, one.model), one.choice ? el("span", { class: "faint" }, ` ${one.choice}`) : null),
      el("span", { class: "buttons row" })),
    el("progress", { max: 1, "aria-label": `Progress of ${one.model}` }),
    el("div", { class: "row facts" }, el("span", { class: "state grow", role: "status" }), el("span", { class: "numbers size" })),
    el("p", { class: "error bad", role: "alert" }), el("p", { class: "remark faint" }),
    el("details", {}, el("summary", {}, el("span", { class: "summary" })), el("ul", { class: "files" })));
  return node;
}

function set(node, selector, text) {
  const place = node.querySelector(selector);
  if (place.textContent !== text) place.textContent = text;
  place.hidden = !text;
}

function update(node, one) {
  const was = node.dataset.state;
  node.dataset.state = one.state;
  node.classList.toggle("failed", one.state === "failed");
  node.classList.toggle("paused", one.state === "paused");
  const progress = node.querySelector("progress");
  if (one.state === "planning") progress.removeAttribute("value");
  else progress.value = one.total_bytes ? one.done_bytes / one.total_bytes : 1;
  // The state is announced; the numbers, which change each second, are not.
  set(node, ".state", STATES[one.state]);
  set(node, ".numbers", [
    one.total_bytes ? `${size(one.done_bytes)} of ${size(one.total_bytes)}` : "",
    one.bytes_per_second ? `${size(one.bytes_per_second)}/s` : "",
    one.seconds_left !== undefined ? `${duration(one.seconds_left)} left` : "",
  ].filter(Boolean).join(", "));
  set(node, ".error", one.error ? told(one.error) : "");
  set(node, ".remark", one.state === "done" ? "" : sentence(one.note ?? ""));
  set(node, ".summary", `${count(one.files_done)} of ${count(one.files_total)} files`);
  if (was !== one.state) buttons(node, one);
  const files = node.querySelector(".files");
  if (node.querySelector("details").open) files.replaceChildren(...one.files.map(file));
}

function file(one) {
  const bar = one.state === "active"
    ? el("progress", { max: one.size_bytes || 1, value: one.received_bytes, "aria-label": one.path })
    : el("span", { class: one.state === "failed" ? "bad" : "faint" }, one.state);
  return el("li", {}, el("span", {}, one.path),
    el("span", { class: "size faint" }, one.state === "active" ? `${size(one.received_bytes)} of ${size(one.size_bytes)}` : size(one.size_bytes)), bar);
}

function buttons(node, one) {
  const place = node.querySelector(".buttons");
  const hadFocus = place.contains(document.activeElement);
  const next = one.state !== "done" ? [] : [one.chat
    ? el("a", { class: "button small primary", href: one.chat, "aria-label": `Chat with ${one.model}` }, "Chat")
    : el("a", { class: "button small", href: `${one.page}#use`, "aria-label": `Use it: ${one.model}` }, "Use it")];
  place.replaceChildren(...next, ...VERBS[one.state].map((verb) => el("button", {
    type: "button", class: "small", "data-verb": verb, "aria-label": `${WORDS[verb]}: ${one.model}`,
    onclick: (event) => working(event.target, async () => {
      if (verb === "retry") await post("/-/downloads", one.order);
      else await post(`/-/downloads/${one.id}/${verb}`);
      watchDownloads();
    }),
  }, WORDS[verb])));
  if (hadFocus) place.querySelector("a, button")?.focus();
}

// On a model's page: what had ended before it was loaded is on it already.
let earlier = null;

onDownloads((all) => {
  earlier ??= new Set(all.filter((one) => own && ["done", "cancelled"].includes(one.state)).map((one) => one.id));
  const downloads = all.filter((one) => !earlier.has(one.id) && (!own || one.page === own));
  if (none) none.hidden = downloads.length > 0;
  const isUnderWay = downloads.some((one) => !["done", "failed", "cancelled"].includes(one.state));
  if (own) for (const button of document.querySelectorAll("#head [data-download]")) button.hidden = isUnderWay;
  const known = new Set(downloads.map((one) => one.id));
  for (const [id, node] of rows) if (!known.has(id)) { node.remove(); rows.delete(id); }
  let before = null;
  for (const one of downloads) {
    let node = rows.get(one.id);
    if (!node) {
      node = row(one);
      rows.set(one.id, node);
      before ? before.after(node) : list.prepend(node);
      node.querySelector("details").addEventListener("toggle", () => watchDownloads());
    }
    const was = node.dataset.state;
    update(node, one);
    if (own && was !== "done" && one.state === "done") replace("#head, #facts, #weights, #files", location.href);
    before = node;
  }
});
