// What every view shares: elements, requests, messages, and parts of a page that are replaced in place.

/** An element. Texts become text nodes, never markup. */
export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** `12.3 MB`, `140 GB`: three figures, as the program writes sizes. */
export function size(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let value = bytes, unit = 0;
  while (value >= 999.5 && unit < units.length - 1) { value /= 1000; unit += 1; }
  return `${unit === 0 ? value : value.toFixed(value >= 99.95 ? 0 : 1)} ${units[unit]}`;
}

/** `12,345`. */
export function count(number) { return number.toLocaleString("en"); }

/** How fast something goes: `1,230`, `35`, `3.5`. */
export function rate(number) { return number.toLocaleString("en", { maximumFractionDigits: number < 10 ? 1 : 0 }); }

/** How long something took: `340 ms`, `3.4 s`, `1 min 20 s`. */
export function elapsed(seconds) {
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  return seconds < 9.95 ? `${seconds.toFixed(1)} s` : duration(seconds);
}

/** `1 min 20 s`. */
export function duration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** A message of the server or of a command as the sentence of a page: names and addresses at its beginning stay as they are. */
export function sentence(text) { return /^(?!hub )[a-z]+[ ,:]/.test(text) ? text[0].toUpperCase() + text.slice(1) : text; }

/** What an error says, and what to do about it. */
export const told = (error) => [error.message, error.advice].filter(Boolean).map(sentence).join(". ");

/** Says something to people who cannot see it happen. */
export function announce(text) {
  const node = el("span", { class: "hidden" }, text);
  document.getElementById("toasts").append(node);
  setTimeout(() => node.remove(), 3000);
}

// The token of this browser's session; asked for before the first change, and again when the server has forgotten it.
let token = null;

async function session() {
  for (let round = 0; round < 2 && !token; round += 1) {
    const answer = await fetch("/-/session", { headers: { Accept: "application/json" } });
    if (answer.ok) token = (await answer.json()).token;
  }
  return token;
}

/** A request to this server, with the session's token where it changes something. */
export async function request(method, address, body, { session: needsSession = false, ...options } = {}) {
  for (let round = 0; ; round += 1) {
    const headers = { Accept: "application/json" };
    if (method !== "GET") headers["Content-Type"] = "application/json";
    if (method !== "GET" || needsSession) {
      headers["X-Hub-Session"] = (await session()) ?? "";
    }
    const answer = await fetch(address, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), ...options });
    if (answer.status !== 403 || method === "GET" || round > 0) return answer;
    token = null;
  }
}

/** The JSON of an answer; throws what the server says is wrong. */
async function json(method, address, body) {
  let answer;
  try { answer = await request(method, address, body); } catch { throw new Error("the server does not answer"); }
  const document = await answer.json().catch(() => ({}));
  const error = document.error;
  if (!answer.ok) throw new Error(told({ message: error?.message ?? `the server answers ${answer.status}`, advice: error?.advice }));
  return document;
}

export const get = (address) => json("GET", address);
export const post = (address, body = {}) => json("POST", address, body);

/** A message that goes by itself, perhaps with something to do. */
export function toast(text, action) {
  const node = el("div", { class: "toast" }, el("span", { class: "grow" }, text), action ?? null);
  document.getElementById("toasts").append(node);
  setTimeout(() => node.remove(), action ? 15000 : 6000);
  return node;
}

/** What went wrong; it stays until it is closed. */
export function alertOf(error) {
  const node = el("div", { class: "toast" }, el("span", { class: "grow" }, sentence(error.message ?? String(error))));
  node.append(el("button", { type: "button", "aria-label": "Close", onclick: () => node.remove() }, "✕"));
  const place = document.getElementById("alerts");
  place.replaceChildren(node);
}

/** Runs what a button does, once at a time, and shows what went wrong. */
export async function working(button, work) {
  button.disabled = true;
  try { return await work(); } catch (error) { alertOf(error); } finally { button.disabled = false; }
}

// navigator.clipboard is missing on plain http from another machine.
export async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = el("textarea", { class: "hidden", "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** Loads parts of a page anew: the elements that the selector names by their ids, from the page at the address. */
export async function replace(selector, address) {
  const places = [...document.querySelectorAll(selector)];
  for (const place of places) { place.classList.add("busy"); place.setAttribute("aria-busy", "true"); }
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!answer.ok) throw new Error(page.querySelector("main p")?.textContent ?? `the server answers ${answer.status}`);
    for (const place of places) {
      const found = page.getElementById(place.id);
      if (found) place.replaceWith(document.importNode(found, true));
    }
    document.title = page.title;
    return document.querySelector(selector);
  } catch (error) {
    alertOf(error instanceof TypeError ? new Error("the server does not answer") : error);
  } finally {
    for (const place of places) { place.classList.remove("busy"); place.removeAttribute("aria-busy"); }
  }
}

document.addEventListener("click", async (event) => {
  const target = event.target.closest("button, a");
  if (!target) return;
  if (target.classList.contains("copy")) {
    await copy(target.dataset.copy ?? target.closest(".code, .command").querySelector("code").textContent);
    target.textContent = "Copied";
    announce("Copied");
    setTimeout(() => { target.textContent = "Copy"; }, 1500);
  } else if (target.dataset.download !== undefined) {
    await working(target, async () => {
      const { download: model, format, quant } = target.dataset;
      await post("/-/downloads", { model, format, quant });
      toast(`Downloading ${model}`, el("a", { href: "/-/downloads", class: "button" }, "Show"));
      watchDownloads();
    });
  } else if (target.dataset.pin !== undefined) {
    await working(target, async () => {
      const pinned = target.dataset.pinned !== "1";
      await post("/-/storage/pin", { model: target.dataset.pin, pinned });
      location.reload();
    });
  } else if (target.dataset.replace && !event.metaKey && !event.ctrlKey && !event.shiftKey) {
    event.preventDefault();
    // What is new gets the focus: the rows behind those that were there, else the part itself.
    const { id } = target.closest("[id]");
    const before = document.querySelectorAll(`#${id} .model a`).length;
    if (!await replace(target.dataset.replace, target.href)) return;
    const part = document.getElementById(id);
    const next = part.querySelectorAll(".model a")[before] ?? part.querySelector("a, button, input") ?? part;
    if (next === part) part.tabIndex = -1;
    next.focus({ preventScroll: true });
    if (target.dataset.auto === undefined) history.replaceState(null, "", target.href);
  }
});

// A search answers while it is typed; without scripts the form is sent as it is.
const form = document.querySelector("form.search");
if (form) {
  let latest = 0, timer;
  const search = async () => {
    const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    if (query.get("sort") === "relevance") query.delete("sort");
    const address = query.size ? `/?${query}` : "/";
    const text = form.q.value.trim();
    if (/^(https?:\/\/|hf:\/\/|huggingface\.co\/|hf\.co\/)/.test(text)) return void (location.href = address);
    const number = ++latest;
    await replace(form.dataset.replace, address);
    if (number !== latest) return;
    history.replaceState(null, "", address);
    announce(document.querySelector(`${form.dataset.replace} h2`)?.textContent ?? "");
  };
  form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(timer); search(); });
  form.addEventListener("input", (event) => {
    clearTimeout(timer);
    timer = setTimeout(search, ["search", "text"].includes(event.target.type) ? 350 : 0);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    form.q.focus();
  });
}

// The number of downloads in the navigation. Asked for seldom, and only while the page can be seen.
const listeners = new Set();
let timer = null;

/** Calls back with the downloads, now and at each change. */
export function onDownloads(listener) {
  listeners.add(listener);
  watchDownloads();
}

export function watchDownloads() {
  clearTimeout(timer);
  if (document.hidden) return;
  get("/-/downloads/state").then(({ downloads }) => {
    const active = downloads.filter((one) => !["done", "failed", "cancelled"].includes(one.state)).length;
    const badge = document.getElementById("downloads-count");
    badge.hidden = active === 0;
    badge.replaceChildren(String(active), el("span", { class: "hidden" }, " running"));
    for (const listener of listeners) listener(downloads);
    clearTimeout(timer);
    if (active || listeners.size) timer = setTimeout(watchDownloads, active ? (listeners.size ? 700 : 3000) : 5000);
  }).catch(() => {
    clearTimeout(timer);
    if (listeners.size) timer = setTimeout(watchDownloads, 3000);
  });
}
// Who has not signed in is not told.
if (document.getElementById("downloads-count")) {
  document.addEventListener("visibilitychange", watchDownloads);
  watchDownloads();
}
