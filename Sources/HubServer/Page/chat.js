// Conversations: turns over this server's /-/chat/turn, what is kept of them, and who answers.
import { alertOf, announce, count, el, get, post, request, toast, working } from "./page.js";
import { Answer, attachment, fill, parts, showAttached, turnOf } from "./turns.js";

const byId = (id) => document.getElementById(id);
const root = document.querySelector(".chat");
const log = byId("log-of-chat"), words = byId("words"), models = byId("model"), find = byId("find"), preset = byId("preset");
const FIELDS = ["temperature", "top_p", "max_tokens", "seed"];
let conversation = { id: null, messages: [] };
/** The models that answer, as `/v1/models` lists them. */
let offered = [];
let running = null, attached = [], contexts = {};
let keeping = Promise.resolve(), listings = 0;

// MARK: Who answers

/** Only where the server was started with another provider. */
const provider = byId("provider"), remote = byId("remote");
const isHere = () => !provider || provider.value === "local";
const model = () => (isHere() ? models.value : remote.value.trim());
const canAnswer = () => !isHere() || offered.length > 0;

function showWho() {
  if (!provider) return;
  models.hidden = !isHere();
  remote.hidden = isHere();
  byId("who").textContent = provider.selectedOptions[0].dataset.who;
}

// MARK: The conversation on the page

function turn(message, index) {
  const node = turnOf(message);
  fill(node, message, conversation.messages);
  actions(node, message, index);
  return node;
}

function actions(node, message, index) {
  const place = node.querySelector(".turn-actions");
  const button = (text, work) => el("button", { type: "button", class: "quiet small", onclick: work }, text);
  place.replaceChildren();
  if (message.tool_calls?.length) return;
  place.append(el("button", { type: "button", class: "copy quiet small", "data-copy": message.role === "user" ? parts(message.content).typed : message.content }, "Copy"));
  if (message.role === "user") place.append(button("Edit", () => edit(node, index)));
  if (message.role === "assistant") place.append(button("Try again", () => { if (!running) { conversation.messages.length = beginning(index); show(); answer(); } }));
  if (message.speed) place.append(el("span", { class: "faint" }, message.speed));
}

/** Where an answer begins: behind the message that it answers, with the calls that were made for it. */
function beginning(index) {
  let place = index;
  while (place > 0 && conversation.messages[place - 1].role !== "user") place -= 1;
  return place;
}

/** What tools answered is shown with their calls; an answer that never came is not. */
const isShown = (message) => message.role !== "tool" && (message.role !== "assistant" || message.content || message.tool_calls?.length);

function show() {
  log.replaceChildren(...conversation.messages.map((message, index) => (isShown(message) ? turn(message, index) : null)).filter(Boolean));
  if (!conversation.messages.length) {
    log.append(el("p", { class: "empty" }, ...(canAnswer() ? ["Write the first message below."]
      : ["No model to chat with is on this machine yet. ", el("a", { href: "/?q=tag%3Aconversational&runs=1" }, "Find one")])));
  }
  byId("send").disabled = !canAnswer();
  gauge();
}

function edit(node, index) {
  const message = conversation.messages[index];
  const { before, typed } = parts(message.content);
  const area = el("textarea", { rows: 3, "aria-label": "Edit the message" });
  area.value = typed;
  const done = (text) => el("button", { type: "button", class: text === "Send" ? "primary" : "" }, text);
  const send = done("Send"), cancel = done("Cancel");
  send.addEventListener("click", () => {
    if (running || !area.value.trim()) return;
    conversation.messages.length = index;
    conversation.messages.push({ ...message, content: before + area.value, typed: area.value });
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
function body() {
  const messages = conversation.messages.map(({ images, content, ...message }) => ({
    ...told(message), typed: message.typed,
    content: images?.length ? [{ type: "text", text: content }, ...images.map((url) => ({ type: "image_url", image_url: { url } }))] : content,
  }));
  const system = byId("system").value.trim();
  if (system) messages.unshift({ role: "system", content: system });
  const out = { ...usualSettings(), model: model(), provider: provider?.value ?? "local", messages };
  for (const field of FIELDS) if (byId(field).value !== "") out[field] = Number(byId(field).value);
  const form = schema();
  if (form !== undefined) out.response_format = { type: "json_schema", json_schema: { name: "answer", schema: form } };
  return out;
}

/** Of a message what the server reads beside its content. */
const told = ({ role, model, provider, tool_calls, tool_call_id, name, sources }) => ({ role, model, provider, tool_calls, tool_call_id, name, sources });

async function answer() {
  if (!model()) return alertOf(new Error("choose a model first"));
  let asked;
  try { asked = body(); } catch (fault) { return alertOf(fault); }
  log.querySelector(".empty")?.remove();
  const made = new Answer(conversation, log, { model: model(), provider: provider?.value ?? "local" }, actions);
  running = new AbortController();
  busy(true);
  let error = null;
  try { await stream(asked, made, running.signal); } catch (fault) { if (fault.name !== "AbortError") error = fault; }
  running = null;
  busy(false);
  made.end(error, asked.max_tokens);
  if (made.talk === conversation) gauge(made.message);
  // Who edits a message or searches meanwhile stays there.
  if (document.activeElement === document.body || byId("composer").contains(document.activeElement)) words.focus({ preventScroll: true });
  if (made.talk.messages.at(-1)?.role === "assistant") await keep(made.talk);
}

/** Reads the events of an answer; the end without its mark is a fault, for the engine may have died. */
async function stream(asked, made, signal) {
  let isWhole = false;
  const found = await request("POST", "/-/chat/turn", asked, { signal });
  if (found.status === 413) throw new Error("the conversation is too large for the server: 16 MB is the most");
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
      made.take(event);
    }
  }
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
  if (contexts[model] === undefined && message.provider && message.provider !== "local") contexts[model] = null;
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
function keep(talk) {
  const asked = { model: model(), provider: provider?.value ?? "local", system: byId("system").value.trim() };
  return (keeping = keeping.then(() => keepNow(talk, asked)));
}

async function keepNow(talk, asked) {
  const messages = talk.messages.map((message) => ({ ...told(message), content: message.content, reasoning_content: message.reasoning_content || undefined }));
  try {
    const kept = await post("/-/chat/keep", { id: talk.id, ...asked, messages });
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
    el("button", { type: "button", class: "quiet small", "aria-label": `Delete: ${one.title || `Conversation ${one.id}`}`, onclick: (event) => remove(event.target, one) }, "✕"))));
  return conversations;
}

async function remove(button, { id, title }) {
  if (!button.dataset.sure) {
    button.dataset.sure = "1";
    button.textContent = "Delete?";
    button.setAttribute("aria-label", `Really delete: ${title}?`);
    announce("Press again to delete");
    return;
  }
  await working(button, async () => {
    await post("/-/chat/remove", { id });
    if (id === conversation.id) fresh();
    await list();
  });
}

async function open(id) {
  const kept = await get(`/-/chat/one/${encodeURIComponent(id)}`);
  // A message with pictures has parts.
  const textOf = (content) => (Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : content ?? "");
  conversation = { id: kept.id, messages: (kept.messages ?? []).map((one) => ({ ...one, content: textOf(one.content) })) };
  byId("system").value = kept.system ?? "";
  if (provider) {
    provider.value = kept.provider === provider.options[1].value ? kept.provider : "local";
    if (!isHere()) remote.value = kept.model;
    showWho();
    if (!isHere()) return show();
  }
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

// MARK: Messages

async function attach(files) {
  for (const file of files) {
    try { attached.push(await attachment(file)); } catch (error) { alertOf(error); }
  }
  listAttached();
}

function listAttached() {
  showAttached(byId("attached"), attached, (gone) => {
    attached = attached.filter((one) => one !== gone);
    listAttached();
  });
}

function send() {
  const text = words.value.trim();
  if (running || !canAnswer() || (!text && !attached.length)) return;
  try { schema(); } catch (fault) { return alertOf(fault); }
  const blocks = attached.filter((one) => one.block).map((one) => one.block);
  const message = { role: "user", content: blocks.join("") + text, typed: text };
  const images = attached.filter((one) => one.image).map((one) => one.image);
  if (images.length) message.images = images;
  attached = [];
  listAttached();
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

// The settings lie over the conversation.
const settings = root.querySelector(".settings");
function closeSettings() {
  const hadFocus = settings.contains(document.activeElement);
  settings.open = false;
  if (hadFocus) settings.querySelector("summary").focus();
}
document.addEventListener("pointerdown", (event) => { if (settings.open && !settings.contains(event.target)) settings.open = false; });
root.addEventListener("dragover", (event) => event.preventDefault());
root.addEventListener("drop", (event) => { event.preventDefault(); attach([...event.dataTransfer.files]); });
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") settings.open ? closeSettings() : running?.abort();
  if (event.ctrlKey && event.shiftKey && event.key.toLowerCase() === "o") { event.preventDefault(); fresh(); }
  if (event.ctrlKey && !event.shiftKey && event.key.toLowerCase() === "k") { event.preventDefault(); byId("history").open = true; find.focus(); }
});
find.addEventListener("input", () => list().catch(alertOf));
provider?.addEventListener("change", () => { showWho(); show(); localStorage.setItem("hub.chat.provider", provider.value); });
remote?.addEventListener("change", () => localStorage.setItem("hub.chat.remote", remote.value.trim()));

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
if (provider) {
  remote.value = localStorage.getItem("hub.chat.remote") ?? "";
  if (localStorage.getItem("hub.chat.provider") === provider.options[1].value) provider.selectedIndex = 1;
  showWho();
}

try {
  const [found, conversations] = await Promise.all([request("GET", "/v1/models", undefined, { session: true }), list()]);
  const { data } = await found.json();
  offered = data.filter(({ task, chat }) => chat ?? (!task || task === "text-generation"));
  models.append(...offered.map((one) => el("option", { value: one.id }, one.id)));
  const { model: wanted, id } = root.dataset;
  const chosen = (wanted && named(wanted)) ?? preferred(conversations);
  if (chosen) models.value = chosen.id;
  if (wanted && !named(wanted)) toast(`${wanted} is not among the models here that one can chat with`);
  if (id) await open(id); else show();
  if (!id) words.focus({ preventScroll: true });
} catch (error) { alertOf(error); }
