// Models of pictures: labels, labels of one's own, the order by a text, vectors. All of it is asked of the API.
import { copy, count, el, request, size, alertOf, toast } from "./page.js";
import { describe, draw, draws, names, style } from "./overlay.js";

const byId = (id) => document.getElementById(id);
const [root, models, chosen, results, state] = ["looking", "model", "chosen", "results", "state"].map(byId);

/** As many bytes as the chat takes of a file; a request has room for one such picture. */
const MOST_BYTES = 8_000_000;
/** What the server decodes at most. */
const MOST_PIXELS = Number(root.dataset.mostPixels);
const MOST_PICTURES = 100;
/** The longer side of a picture that is made smaller: more than any model here looks at. */
const SMALLER_SIDE = 2048;

const TASKS = {
  "image-classification": { says: "gives pictures its own labels", ways: ["own", "vectors"] },
  "zero-shot-image-classification": { says: "compares pictures with texts", ways: ["tried", "ranking", "vectors"] },
  "image-feature-extraction": { says: "turns pictures into vectors", ways: ["vectors"] },
  "object-detection": { says: "finds things in pictures", ways: ["own"] },
};

let offered = [];
let pictures = [];
let running = null;
let number = 0;

const model = () => offered.find((one) => one.id === models.value);
const way = () => root.querySelector("[name=way]:checked")?.value;

// MARK: Choosing

/** A picture's sides; null where this browser cannot show it, which the server may read all the same. */
async function sides(file) {
  try {
    const image = await createImageBitmap(file);
    const found = { width: image.width, height: image.height };
    image.close();
    return found;
  } catch { return null; }
}

function fault({ file, extent }) {
  if (file.size > MOST_BYTES) return `has ${size(file.size)}; ${size(MOST_BYTES)} are the most that is sent`;
  if (extent && extent.width * extent.height > MOST_PIXELS) {
    return `has ${count(extent.width * extent.height)} pixels; ${count(MOST_PIXELS)} are the most that is sent`;
  }
  return null;
}

async function add(files) {
  const room = MOST_PICTURES - pictures.length;
  if (files.length > room) alertOf(new Error(`${MOST_PICTURES} pictures at once are the most; the rest is left out`));
  for (const file of files.slice(0, room)) {
    if (file.type && !file.type.startsWith("image/")) { alertOf(new Error(`${file.name} is not a picture`)); continue; }
    const one = { id: ++number, file, name: file.name || "pasted picture", extent: await sides(file), vectors: new Map() };
    if (one.extent) one.address = URL.createObjectURL(file);
    one.fault = fault(one);
    pictures.push(one);
  }
  list();
}

/** The same picture with fewer pixels, as a JPEG. */
async function shrink(one) {
  const image = await createImageBitmap(one.file);
  const scale = Math.min(1, SMALLER_SIDE / Math.max(image.width, image.height));
  const canvas = el("canvas", { width: Math.max(1, Math.round(image.width * scale)), height: Math.max(1, Math.round(image.height * scale)) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  image.close();
  const blob = await new Promise((done) => canvas.toBlob(done, "image/jpeg", 0.92));
  if (!blob) throw new Error(`this browser cannot make ${one.name} smaller`);
  URL.revokeObjectURL(one.address);
  one.file = new File([blob], one.name, { type: blob.type });
  one.extent = { width: canvas.width, height: canvas.height };
  one.address = URL.createObjectURL(one.file);
  one.fault = fault(one);
  one.vectors.clear();
}

function preview(one, alt = "") {
  if (one.address) return el("img", { src: one.address, alt, loading: "lazy" });
  return el("span", { class: "unseen faint small" }, "this browser cannot show it");
}

function list() {
  chosen.replaceChildren(...pictures.map((one) => {
    const parts = [el("b", { class: "cut" }, one.name), el("span", { class: "faint small" },
      one.extent ? `${one.extent.width} × ${one.extent.height}, ${size(one.file.size)}` : size(one.file.size))];
    if (one.fault) {
      parts.push(el("span", { class: "bad small" }, `It ${one.fault}.`));
      if (one.extent) {
        parts.push(el("button", { type: "button", class: "small", "aria-label": `Make ${one.name} smaller`, onclick: async () => {
          try { await shrink(one); list(); } catch (error) { alertOf(error); }
        } }, "Make it smaller"));
      }
    }
    const remove = el("button", { type: "button", class: "quiet small", "aria-label": `Remove ${one.name}`, onclick: () => {
      if (one.address) URL.revokeObjectURL(one.address);
      pictures = pictures.filter((other) => other !== one);
      list();
      byId("files").focus();
    } }, "✕");
    return el("li", {}, preview(one), el("div", { class: "grow" }, ...parts), remove);
  }));
  chosen.hidden = pictures.length === 0;
  byId("clear").hidden = pictures.length < 2;
  ready();
}

// MARK: What to do

function showModel() {
  const task = TASKS[model()?.task];
  byId("for").textContent = task ? `It ${task.says}.` : "";
  const ways = task?.ways ?? [];
  for (const input of root.querySelectorAll("[name=way]")) {
    input.closest("label").hidden = !ways.includes(input.value);
    if (!ways.includes(input.value)) input.checked = false;
  }
  if (!way() && ways.length) root.querySelector(`[name=way][value=${ways[0]}]`).checked = true;
  byId("ways").hidden = ways.length < 2;
  showWay();
}

function showWay() {
  byId("for-labels").hidden = way() !== "tried";
  byId("for-query").hidden = way() !== "ranking";
  ready();
}

const labels = () => byId("labels").value.split(",").map((one) => one.trim()).filter(Boolean);

/** What is missing; null when everything is there. */
function missing() {
  if (!model()) return "Choose a model.";
  if (!pictures.length) return "Choose a picture.";
  if (pictures.some((one) => one.fault)) return "A picture is too large.";
  if (way() === "tried" && !labels().length) return "Write labels.";
  if (way() === "tried" && !byId("template").value.includes("{}")) return "The sentence needs {} in the label's place.";
  if (way() === "ranking" && !byId("query").value.trim()) return "Write a text.";
  return null;
}

function ready() {
  const text = running ? null : missing();
  byId("look").disabled = Boolean(running || text);
  if (!running) state.textContent = text ?? "";
}

// MARK: Asking

/** The JSON of an answer of the API. */
async function ask(path, body, signal) {
  const answer = await request("POST", path, body, { signal });
  const document = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(document.error?.message ?? `the server answers ${answer.status}`);
  return document;
}

const dataURL = (file) => new Promise((done, failed) => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result);
  reader.onerror = () => failed(new Error(`${file.name} cannot be read`));
  reader.readAsDataURL(file);
});

const sent = async (one) => ({ image: await dataURL(one.file) });

/** The float32 of a base64 text, in little-endian order. */
function floats(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 4 }, (_, place) => view.getFloat32(4 * place, true));
}

async function vector(input, signal) {
  const { data } = await ask("/v1/embeddings", { model: models.value, input: [input], encoding_format: "base64" }, signal);
  return floats(data[0].embedding);
}

/** The vectors of all pictures, each computed once for a model. */
async function vectors(signal, tell) {
  for (const [place, one] of pictures.entries()) {
    tell(place);
    if (!one.vectors.has(models.value)) one.vectors.set(models.value, await vector(await sent(one), signal));
  }
  return pictures.map((one) => one.vectors.get(models.value));
}

function cosine(a, b) {
  let [dot, left, right] = [0, 0, 0];
  for (let place = 0; place < a.length; place += 1) { dot += a[place] * b[place]; left += a[place] ** 2; right += b[place] ** 2; }
  return left && right ? dot / Math.sqrt(left * right) : 0;
}

async function look() {
  if (running || missing()) return;
  running = new AbortController();
  const { signal } = running;
  byId("stop").hidden = false;
  results.setAttribute("aria-busy", "true");
  ready();
  const many = pictures.length > 1;
  const tell = (place) => { state.textContent = many ? `Picture ${place + 1} of ${pictures.length}` : "Looking"; };
  try {
    const asked = way();
    if (asked === "ranking") await rank(signal, tell);
    else if (asked === "vectors") showVectors(await vectors(signal, tell));
    else await classify(asked, signal, tell);
    state.textContent = "Done.";
  } catch (error) {
    state.textContent = error.name === "AbortError" ? "Stopped." : "";
    if (error.name !== "AbortError") alertOf(error instanceof TypeError ? new Error("the server does not answer") : error);
  }
  const said = state.textContent;
  running = null;
  byId("stop").hidden = true;
  results.removeAttribute("aria-busy");
  ready();
  state.textContent = said;
}

// MARK: Results

/** A line with a bar; what the bar shows is said by its text as well. */
function bar(name, share, text, mark) {
  return el("li", {}, el("span", { class: "bar-name" }, mark ?? null, name), el("span", { class: "bar-text number" }, text),
    el("progress", { max: 1, value: Math.max(0, Math.min(1, share)), "aria-hidden": "true", title: text }));
}

const percent = (share) => `${(100 * share).toLocaleString("en", { maximumFractionDigits: 1, minimumFractionDigits: 1 })} %`;

function card(one, ...parts) {
  return el("article", { class: "card seen" }, el("div", { class: "shown" }, preview(one, one.name)),
    el("div", { class: "grow" }, el("h2", {}, one.name), ...parts));
}

async function classify(asked, signal, tell) {
  results.replaceChildren();
  const settings = { model: models.value, top_n: 20 };
  if (asked === "tried") Object.assign(settings, { labels: labels(), label_template: byId("template").value });
  for (const [place, one] of pictures.entries()) {
    tell(place);
    const { data } = await ask("/v1/classify", { ...settings, input: [await sent(one)] }, signal);
    await show(one, data[0]);
  }
}

/** The labels of a picture, and what was found at places of it. */
async function show(one, found) {
  const parts = [];
  if (found.predictions?.length) {
    const few = found.predictions.slice(0, asShown(found.predictions));
    parts.push(el("ol", { class: "bars" }, ...few.map((entry) => bar(entry.label, entry.score, percent(entry.score)))));
    const rest = (found.num_classes ?? few.length) - few.length;
    if (rest > 0) parts.push(el("p", { class: "faint small" }, `and ${count(rest)} more labels`));
  }
  const known = names(found);
  if (known.length) {
    const things = [...(found.objects ?? []), ...(found.segments ?? [])];
    parts.push(el("ol", { class: "bars" }, ...things.map((entry) => {
      const swatch = el("span", { class: "swatch" });
      swatch.style.background = style(known.indexOf(entry.label)).colour;
      return bar(entry.label, entry.score ?? 1, entry.score === undefined ? "" : percent(entry.score), swatch);
    })));
  }
  const node = card(one, ...parts);
  results.append(node);
  if (!one.address || !draws(found)) return;
  const canvas = el("canvas", { role: "img", "aria-label": `${one.name}: ${describe(found)}` });
  const image = new Image();
  image.src = one.address;
  await image.decode();
  await draw(canvas, image, found);
  node.querySelector(".shown").replaceChildren(canvas);
}

/** Five labels, or all that were asked for. */
const asShown = (predictions) => (way() === "tried" ? predictions.length : Math.min(5, predictions.length));

async function rank(signal, tell) {
  const query = byId("query").value.trim();
  const wanted = await vector(query, signal);
  const found = await vectors(signal, tell);
  const ranked = pictures.map((one, place) => ({ one, cosine: cosine(found[place], wanted) })).sort((a, b) => b.cosine - a.cosine);
  const best = ranked[0].cosine;
  results.replaceChildren(el("section", { class: "card" }, el("h2", {}, `Nearest to “${query}”`),
    el("ol", { class: "ranked" }, ...ranked.map(({ one, cosine: near }) => el("li", {}, preview(one, ""),
      el("div", { class: "grow" }, el("b", { class: "cut" }, one.name),
        el("progress", { max: 1, value: best > 0 ? Math.max(0, near / best) : 0, "aria-hidden": "true", title: near.toFixed(3) })),
      el("span", { class: "number" }, near.toFixed(3)))))));
}

function showVectors(found) {
  const text = JSON.stringify(found.map((one) => [...one]));
  const actions = el("div", { class: "row" },
    el("button", { type: "button", onclick: () => copy(text).then(() => toast("Copied")).catch(alertOf) }, "Copy as JSON"));
  const rows = pictures.map((one, place) => el("li", {}, el("b", { class: "cut" }, one.name),
    el("code", { class: "cut small" }, [...found[place].slice(0, 6)].map((value) => value.toFixed(4)).join(" ") + " …")));
  results.replaceChildren(el("section", { class: "card" }, el("h2", {}, `Vectors of ${count(found[0].length)} numbers`),
    el("ul", { class: "vectors" }, ...rows), actions));
  if (pictures.length < 2 || pictures.length > 12) return;
  const head = el("tr", {}, el("th", { scope: "col" }, "Picture"), ...pictures.map((_, place) => el("th", { scope: "col", class: "number" }, String(place + 1))));
  const body = pictures.map((one, row) => el("tr", {}, el("th", { scope: "row" }, `${row + 1} ${one.name}`),
    ...found.map((other, place) => el("td", { class: "number", "data-label": String(place + 1) }, cosine(found[row], other).toFixed(3)))));
  results.append(el("section", { class: "card flush" }, el("h2", {}, "How alike they are"), el("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": "How alike they are" },
    el("table", {}, el("caption", { class: "hidden" }, "The cosine of each two"), el("thead", {}, head), el("tbody", {}, ...body)))));
}

// MARK: Beginning

root.addEventListener("submit", (event) => { event.preventDefault(); look(); });
root.addEventListener("change", (event) => {
  if (event.target.name === "way") showWay();
  if (event.target === models) showModel();
});
root.addEventListener("input", ready);
for (const id of ["files", "camera"]) {
  byId(id).addEventListener("change", (event) => { add([...event.target.files]).catch(alertOf); event.target.value = ""; });
}
byId("stop").addEventListener("click", () => running?.abort());
byId("clear").addEventListener("click", () => {
  for (const one of pictures) if (one.address) URL.revokeObjectURL(one.address);
  pictures = [];
  list();
  byId("files").focus();
});
document.addEventListener("paste", (event) => {
  const files = [...(event.clipboardData?.files ?? [])];
  if (files.length) { event.preventDefault(); add(files).catch(alertOf); }
});
const place = byId("drop");
document.addEventListener("dragover", (event) => { event.preventDefault(); place.classList.add("over"); });
document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) place.classList.remove("over"); });
document.addEventListener("drop", (event) => {
  event.preventDefault();
  place.classList.remove("over");
  add([...event.dataTransfer.files]).catch(alertOf);
});
document.addEventListener("keydown", (event) => { if (event.key === "Escape") running?.abort(); });

try {
  const answer = await request("GET", "/v1/models", undefined, { session: true });
  offered = (await answer.json()).data.filter(({ task }) => TASKS[task]);
  models.append(...offered.map((one) => el("option", { value: one.id }, one.id)));
  const wanted = root.dataset.model;
  if (offered.some((one) => one.id === wanted)) models.value = wanted;
  else if (wanted) toast(`${wanted} is not among the models here that read pictures`);
  byId("none").hidden = offered.length > 0;
  models.hidden = offered.length === 0;
} catch (error) { alertOf(error); }
showModel();
list();
