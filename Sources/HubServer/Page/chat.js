// Conversations over /v1/chat/completions of this server.
import { alertOf, count, el, elapsed, get, post, rate, request, toast, working } from "./page.js";
import { render } from "./markdown.js";

const byId = (id) => document.getElementById(id);
const root = document.querySelector(".chat");
const log = byId("log-of-chat"), words = byId("words"), models = byId("model"), find = byId("find"), preset = byId("preset");
const FIELDS = ["temperature", "top_p", "max_tokens", "seed"];
let conversation = { id: null, messages: [] };
/** The models that write text, as `/v1/models` lists them. */
let offered = [];
let running = null, attached = [], contexts = {};
let keeping = Promise.resolve(), listings = 0;

// MARK: The conversation on the page

function who(message) {
  return message.role === "user" ? "You" : message.role === "assistant" ? message.model ?? "Model" : message.role;
}

function turn(message, index) {
  const body = el("div", { class: "prose" }, el("div", { class: "text" }));
  const node = el("article", { class: `turn ${message.role}`, "aria-label": who(message) }, el("h2", {}, who(message)));
  if (message.role === "assistant") node.append(el("details", { class: "reasoning", hidden: true }, el("summary", {}, "Reasoning"), el("div", { class: "thought" })));
  node.append(body, el("div", { class: "row small turn-actions" }));
  fill(node, message);
  actions(node, message, index);
  return node;
}

function fill(node, message) {
  const text = node.querySelector(".text");
  if (message.role === "user") text.replaceChildren(el("p", { class: "typed" }, message.content));
  else text.replaceChildren(render(message.content));
  if (message.note) text.append(el("p", { class: "note caution" }, message.note));
  for (const image of message.images ?? []) text.append(el("img", { src: image, alt: "attached picture" }));
  const reasoning = node.querySelector(".reasoning");
  if (reasoning && message.reasoning_content) {
    reasoning.hidden = false;
    reasoning.querySelector(".thought").textContent = message.reasoning_content;
  }
}

function actions(node, message, index) {
  const place = node.querySelector(".turn-actions");
  const button = (text, work) => el("button", { type: "button", class: "quiet small", onclick: work }, text);
  place.replaceChildren(el("button", { type: "button", class: "copy quiet small", "data-copy": message.content }, "Copy"));
  if (message.role === "user") place.append(button("Edit", () => edit(node, index)));
  if (message.role === "assistant") place.append(button("Try again", () => { if (!running) { conversation.messages.length = index; show(); answer(); } }));
  if (message.speed) place.append(el("span", { class: "faint" }, message.speed));
}

function show() {
  log.replaceChildren(...conversation.messages.map(turn));
  if (!conversation.messages.length) {
    log.append(el("p", { class: "empty" }, ...(offered.length ? ["Write the first message below."]
      : ["No model that writes text is on this machine yet. ", el("a", { href: "/?runs=1&task=text-generation" }, "Find one")])));
  }
  byId("send").disabled = !offered.length;
  gauge();
}

function edit(node, index) {
  const message = conversation.messages[index];
  const area = el("textarea", { rows: 3, "aria-label": "Edit the message" });
  area.value = message.content;
  const done = (text) => el("button", { type: "button", class: text === "Send" ? "primary" : "" }, text);
  const send = done("Send"), cancel = done("Cancel");
  send.addEventListener("click", () => {
    if (running || !area.value.trim()) return;
    conversation.messages.length = index;
    conversation.messages.push({ ...message, content: area.value });
    show();
    answer();
  });
  cancel.addEventListener("click", show);
  node.querySelector(".prose").replaceChildren(area, el("div", { class: "row" }, send, cancel));
  area.focus();
}

// MARK: Answers

/** The settings of the preset; fields that are empty take them. */
const usualSettings = () => JSON.parse((preset.selectedOptions[0] ?? preset.options[0]).dataset.settings);

/** The schema that answers have to fit; undefined without one. */
function schema() {
  const text = byId("schema").value.trim();
  try { return text ? JSON.parse(text) : undefined; } catch (fault) { throw new Error(`the schema in the settings is not JSON: ${fault.message}`); }
}

/** What is sent: the settings, the system's message, the turns. */
function body(model) {
  const messages = conversation.messages.map(({ role, content, images }) => ({
    role, content: images?.length ? [{ type: "text", text: content }, ...images.map((url) => ({ type: "image_url", image_url: { url } }))] : content,
  }));
  const system = byId("system").value.trim();
  if (system) messages.unshift({ role: "system", content: system });
  const out = { ...usualSettings(), model, messages, stream: true, stream_options: { include_usage: true } };
  for (const field of FIELDS) if (byId(field).value !== "") out[field] = Number(byId(field).value);
  const form = schema();
  if (form !== undefined) out.response_format = { type: "json_schema", json_schema: { name: "answer", schema: form } };
  return out;
}

/** Why an answer ends before its end; null for one that is whole. */
function cutShort({ finish, usage }, most) {
  if (finish !== "length") return null;
  return usage?.completion_tokens >= most
    ? `Cut at ${count(most)} tokens, the most that the settings allow.`
    : "The context is full, and the answer ends here. Begin a new conversation, or edit an earlier message.";
}

async function answer() {
  const model = models.value;
  if (!model) return alertOf(new Error("choose a model first"));
  const message = { role: "assistant", content: "", reasoning_content: "", model };
  let asked;
  try { asked = body(model); } catch (fault) { return alertOf(fault); }
  conversation.messages.push(message);
  log.querySelector(".empty")?.remove();
  const node = turn(message, conversation.messages.length - 1);
  node.querySelector(".text").append(el("p", { class: "faint waiting" }, "…"));
  log.append(node);
  running = new AbortController();
  busy(true);
  let error = null;
  try { await stream(asked, message, node, running.signal); } catch (fault) { if (fault.name !== "AbortError") error = fault; }
  running = null;
  busy(false);
  message.note = cutShort(message, asked.max_tokens);
  fill(node, message);
  actions(node, message, conversation.messages.length - 1);
  if (error) {
    node.querySelector(".text").append(el("p", { class: "bad", role: "alert" }, error.message));
    if (!message.content) conversation.messages.pop();
  }
  gauge(message);
  // Who edits a message or searches meanwhile stays there.
  if (document.activeElement === document.body || byId("composer").contains(document.activeElement)) words.focus({ preventScroll: true });
  if (message.content) await keep();
}

/** Reads the events of an answer; the end without its mark is a fault, for the engine may have died. */
async function stream(asked, message, node, signal) {
  const began = performance.now();
  let first = null, isWhole = false, timer = null;
  const draw = () => {
    timer = null;
    const isAtEnd = window.innerHeight + window.scrollY >= document.body.scrollHeight - 80;
    fill(node, message);
    // It follows only who reads at the end.
    if (isAtEnd) window.scrollTo(0, document.body.scrollHeight);
  };
  const found = await request("POST", "/v1/chat/completions", asked, { signal });
  if (!found.ok) throw new Error((await found.json().catch(() => null))?.error?.message ?? `the server answers ${found.status}`);
  const reader = found.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (!line.startsWith("data:")) continue;
      const data = line.slice(5).trim();
      if (data === "[DONE]") { isWhole = true; continue; }
      const event = JSON.parse(data);
      if (event.error) throw new Error(event.error.message ?? "the answer failed");
      const delta = event.choices?.[0]?.delta;
      message.finish = event.choices?.[0]?.finish_reason ?? message.finish;
      if (delta?.content || delta?.reasoning_content) {
        first ??= performance.now();
        message.content += delta.content ?? "";
        message.reasoning_content += delta.reasoning_content ?? "";
        timer ??= setTimeout(draw, 60);
      }
      if (event.usage) {
        message.usage = event.usage;
        const seconds = (performance.now() - (first ?? began)) / 1000;
        const tokens = event.usage.completion_tokens;
        message.speed = `${count(tokens)} ${tokens === 1 ? "token" : "tokens"}, ${rate(tokens / Math.max(seconds, 0.001))} tokens/s, first after ${elapsed(((first ?? began) - began) / 1000)}`;
      }
    }
  }
  clearTimeout(timer);
  if (!isWhole) throw new Error("the answer was cut off");
}

function busy(isBusy) {
  byId("send").hidden = isBusy;
  byId("stop").hidden = !isBusy;
  log.setAttribute("aria-busy", String(isBusy));
}

/** How much of the model's context is used. */
async function gauge(message = [...conversation.messages].reverse().find((one) => one.usage)) {
  const place = byId("gauge");
  if (!message?.usage) { place.textContent = ""; return; }
  const model = message.model;
  if (contexts[model] === undefined) {
    contexts[model] = null;
    const shown = await request("POST", "/api/show", { model }).then((found) => (found.ok ? found.json() : {})).catch(() => ({}));
    const found = Object.entries(shown.model_info ?? {}).find(([key]) => key.endsWith("context_length"));
    if (found) contexts[model] = found[1];
  }
  const used = message.usage.total_tokens;
  place.textContent = contexts[model] ? `${count(used)} of ${count(contexts[model])} tokens of context` : `${count(used)} tokens of context`;
}

// MARK: Keeping

/** One after the other: the first keep names the conversation, and the last one holds. */
function keep() {
  const talk = conversation, model = models.value, system = byId("system").value.trim();
  return (keeping = keeping.then(() => keepNow(talk, model, system)));
}

async function keepNow(talk, model, system) {
  const messages = talk.messages.map(({ role, content, reasoning_content, model }) => ({ role, content, reasoning_content: reasoning_content || undefined, model }));
  try {
    const kept = await post("/-/chat/keep", { id: talk.id, model, system, messages });
    if (talk === conversation && kept.id !== talk.id) history.replaceState(null, "", `/-/chat?id=${kept.id}`);
    talk.id = kept.id;
    await list();
  } catch (error) { alertOf(error); }
}

async function list() {
  const listing = ++listings;
  const { conversations } = await get(`/-/chat/list?q=${encodeURIComponent(find.value.trim())}`);
  if (listing !== listings) return conversations; // a later question was answered before
  byId("kept").replaceChildren(...conversations.map((one) => el("li", {},
    el("a", { href: `/-/chat?id=${one.id}`, "aria-current": one.id === conversation.id ? "true" : null, title: one.excerpt ?? one.model }, one.title || `Conversation ${one.id}`),
    el("button", { type: "button", class: "quiet small", "aria-label": `Delete: ${one.title}`, onclick: (event) => remove(event.target, one.id) }, "✕"))));
  return conversations;
}

async function remove(button, id) {
  if (!button.dataset.sure) { button.dataset.sure = "1"; button.textContent = "Delete?"; return; }
  await working(button, async () => {
    await post("/-/chat/remove", { id });
    if (id === conversation.id) fresh();
    await list();
  });
}

async function open(id) {
  const kept = await get(`/-/chat/one/${encodeURIComponent(id)}`);
  conversation = { id: kept.id, messages: (kept.messages ?? []).filter((one) => typeof one.content === "string" && one.content) };
  byId("system").value = kept.system ?? "";
  const found = named(kept.model);
  if (found) models.value = found.id;
  // A name without a quantization stands for any.
  if (offered.length && found?.id !== kept.model && !found?.id.startsWith(`${kept.model}:`)) toast(`This conversation was with ${kept.model}; now ${models.value} answers`);
  show();
}

// MARK: Models

const repository = (id) => id.split(":")[0];

/** Of several sets of weights the usual one: Q4_K_M, else the largest quantized one that leaves memory to run. */
function usual(sets) {
  const fitting = sets.filter((one) => one.size_bytes <= Number(root.dataset.room) && !/F(16|32)$/i.test(one.id));
  return sets.find((one) => one.id.endsWith(":Q4_K_M")) ?? fitting.sort((a, b) => b.size_bytes - a.size_bytes)[0] ?? sets[0];
}

/** The model of a name: it, or the usual set of its repository; undefined if there is none. */
function named(name) {
  return offered.find((one) => one.id === name) ?? usual(offered.filter((one) => repository(one.id) === repository(name)));
}

/** Without a wish: that of the last conversation, else what was downloaded last. */
function preferred(conversations) {
  const last = conversations.map((talk) => offered.find((one) => one.id === talk.model)).find(Boolean);
  const newest = [...offered].sort((a, b) => b.created - a.created)[0];
  return last ?? (newest && named(repository(newest.id)));
}

function fresh() {
  running?.abort();
  conversation = { id: null, messages: [] };
  history.replaceState(null, "", "/-/chat");
  show();
  list().catch(alertOf);
  words.focus();
}

// MARK: Attachments

async function attach(files) {
  for (const file of files) {
    if (file.size > 8e6) { alertOf(new Error(`${file.name} is larger than 8 MB`)); continue; }
    if (file.type.startsWith("image/")) {
      const image = await new Promise((resolve) => { const reader = new FileReader(); reader.onload = () => resolve(reader.result); reader.readAsDataURL(file); });
      attached.push({ name: file.name, image });
    } else {
      const text = await file.text();
      if (text.includes("\0")) { alertOf(new Error(`${file.name} is not a text or a picture`)); continue; }
      attached.push({ name: file.name, text });
    }
  }
  showAttached();
}

function showAttached() {
  byId("attached").replaceChildren(...attached.map((one) => el("span", { class: "badge" }, one.name, " ",
    el("button", { type: "button", class: "quiet small", "aria-label": `Remove ${one.name}`, onclick: () => { attached = attached.filter((other) => other !== one); showAttached(); } }, "✕"))));
}

function send() {
  const text = words.value.trim();
  if (running || !offered.length || (!text && !attached.length)) return;
  try { schema(); } catch (fault) { return alertOf(fault); }
  const texts = attached.filter((one) => one.text !== undefined).map((one) => `${one.name}:\n\`\`\`\n${one.text}\n\`\`\`\n`);
  const message = { role: "user", content: [...texts, text].join("\n").trim() };
  const images = attached.filter((one) => one.image).map((one) => one.image);
  if (images.length) message.images = images;
  attached = [];
  showAttached();
  words.value = "";
  conversation.messages.push(message);
  show();
  window.scrollTo(0, document.body.scrollHeight);
  answer();
}

// MARK: Beginning

byId("composer").addEventListener("submit", (event) => { event.preventDefault(); send(); });
byId("stop").addEventListener("click", () => running?.abort());
byId("new").addEventListener("click", fresh);
byId("files").addEventListener("change", (event) => { attach([...event.target.files]); event.target.value = ""; });
words.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); send(); }
});
words.addEventListener("paste", (event) => { if (event.clipboardData.files.length) { event.preventDefault(); attach([...event.clipboardData.files]); } });
root.addEventListener("dragover", (event) => event.preventDefault());
root.addEventListener("drop", (event) => { event.preventDefault(); attach([...event.dataTransfer.files]); });
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") running?.abort();
  if (event.ctrlKey && event.shiftKey && event.key.toLowerCase() === "o") { event.preventDefault(); fresh(); }
  if (event.ctrlKey && !event.shiftKey && event.key.toLowerCase() === "k") { event.preventDefault(); byId("history").open = true; find.focus(); }
});
find.addEventListener("input", () => list().catch(alertOf));

// Settings stay in this browser; another's may differ.
const KEPT = ["preset", ...FIELDS];
const saved = JSON.parse(localStorage.getItem("hub.chat") ?? "{}");
function showUsual() {
  const settings = usualSettings();
  for (const field of FIELDS) byId(field).placeholder = settings[field] ?? (field === "seed" ? "random" : "until the context is full");
}
for (const field of KEPT) {
  if (saved[field] !== undefined) byId(field).value = saved[field];
  byId(field).addEventListener("change", () => {
    localStorage.setItem("hub.chat", JSON.stringify(Object.fromEntries(KEPT.map((one) => [one, byId(one).value]))));
    showUsual();
  });
}
showUsual();
if (window.innerWidth < 860) byId("history").open = false;

try {
  const [found, conversations] = await Promise.all([request("GET", "/v1/models", undefined, { session: true }), list()]);
  const { data } = await found.json();
  offered = data.filter(({ task }) => !task || task === "text-generation");
  models.append(...offered.map((one) => el("option", { value: one.id }, one.id)));
  const { model: wanted, id } = root.dataset;
  const chosen = (wanted && named(wanted)) ?? preferred(conversations);
  if (chosen) models.value = chosen.id;
  if (wanted && !named(wanted)) toast(`${wanted} is not among the models here that write text`);
  if (id) await open(id); else show();
  if (!id) words.focus({ preventScroll: true });
} catch (error) { alertOf(error); }
