// The turns of a conversation as elements: texts, attached files, reasoning, calls of tools, questions, sources.
import { count, el, elapsed, post, rate, sentence, size, working } from "./page.js";
import { render } from "./markdown.js";

const FILE = /^<file name="([^"]*)">\n([^]*?)\n<\/file>\n\n/;
const plain = (text) => text.replaceAll("&lt;", "<").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
const bytes = (text) => new TextEncoder().encode(text).length;

/** What a message of a person has: files before what was typed, as `hub chat` writes them. */
export function parts(content) {
  const files = [];
  let rest = content;
  for (let found; (found = FILE.exec(rest)); rest = rest.slice(found[0].length)) files.push({ name: plain(found[1]), text: found[2] });
  return { files, before: content.slice(0, content.length - rest.length), typed: rest };
}

export function who(message) {
  return message.role === "user" ? "You" : message.role === "assistant" ? message.model ?? "Model" : message.role;
}

/** An element for a message; what a tool answered is shown with its call. */
export function turnOf(message) {
  const node = el("article", { class: `turn ${message.role}`, "aria-label": who(message) }, el("h2", {}, who(message)));
  if (message.role === "assistant") node.append(el("details", { class: "reasoning", hidden: true }, el("summary", {}, "Reasoning"), el("div", { class: "thought" })));
  node.append(el("div", { class: "prose" }, el("div", { class: "text" })), el("div", { class: "calls" }), el("div", { class: "row small turn-actions" }));
  return node;
}

/** Fills an element with what its message has by now. */
export function fill(node, message, messages) {
  const text = node.querySelector(".text");
  if (message.role === "user") {
    const { files, typed } = parts(message.content);
    text.replaceChildren(...files.map((file) => folded("file", `${file.name}, ${size(bytes(file.text))}`, file.text)), el("p", { class: "typed" }, typed));
  } else text.replaceChildren(render(message.content));
  if (message.note) text.append(el("p", { class: "note caution" }, message.note));
  for (const image of message.images ?? []) text.append(el("img", { src: image, alt: "attached picture" }));
  if (message.sources?.length) text.append(sources(message));
  const reasoning = node.querySelector(".reasoning");
  if (reasoning && message.reasoning_content) {
    reasoning.hidden = false;
    reasoning.querySelector(".thought").textContent = message.reasoning_content;
  }
  fillCalls(node, message, messages);
}

function folded(kind, title, text) {
  return el("details", { class: kind }, el("summary", {}, title), el("pre", {}, text));
}

/** Each call with its arguments, and what came of it; one that is open stays so. */
function fillCalls(node, message, messages) {
  const place = node.querySelector(".calls");
  const isOpen = [...place.children].map((one) => one.open);
  place.replaceChildren(...(message.tool_calls ?? []).map((call, index) => {
    const output = outputOf(call, message, messages);
    const state = !output ? "is called …" : output.failed ? "did not answer" : "answered";
    const box = el("details", { class: `call${output?.failed ? " failed" : ""}` }, el("summary", {}, el("b", {}, call.function.name), ` ${state}`),
      el("pre", {}, written(call.function.arguments)), output ? el("pre", { class: "output" }, output.content) : null);
    box.open = isOpen[index] ?? false;
    return box;
  }));
}

/** What a tool answered to a call; undefined before. Ids of other answers may be the same. */
function outputOf(call, message, messages) {
  const later = messages.slice(messages.indexOf(message) + 1);
  const end = later.findIndex((one) => one.role !== "tool");
  return later.slice(0, end < 0 ? undefined : end).find((one) => one.tool_call_id === call.id);
}

/** Arguments are the text that the model wrote, or what of it was kept. */
const written = (value) => (typeof value === "string" ? value : JSON.stringify(value));

/** The excerpts that an answer names by their numbers; all, if it names none. */
function sources(message) {
  const all = message.sources.map((text, index) => ({ text, mark: `[${index + 1}]` }));
  const cited = all.filter(({ mark }) => message.content.includes(mark));
  return el("ul", { class: "sources small", "aria-label": "Sources" }, ...(cited.length ? cited : all).map(({ text, mark }) => el("li", {}, `${mark} ${text}`)));
}

/** A question of the server's that waits for a yes or a no. */
export function questionOf(question) {
  const text = question.text ?? `The model calls ${question.tool}. Run it?`;
  const node = el("div", { class: "question card", role: "group", "aria-label": text }, el("p", {}, text));
  if (question.arguments) node.append(el("pre", {}, question.arguments));
  const answer = (label, allowed, kind) => el("button", { type: "button", class: kind, onclick: (event) => working(event.currentTarget, async () => {
    await post("/-/chat/answer", { id: question.id, allowed });
    node.remove();
  }) }, label);
  node.append(el("div", { class: "row" }, ...(question.tool
    ? [answer("Run it", true, "primary"), answer("Do not run it", false, "")]
    : [answer("Send it", true, "primary"), answer("Do not send it", false, "")])));
  return node;
}

// MARK: Answers

/** Why an answer ends before its end; null for one that is whole. */
function cutShort({ finish, usage }, most) {
  if (finish === "content_filter") return "The provider withheld the rest of the answer.";
  if (finish !== "length") return null;
  return usage?.completion_tokens >= most
    ? `Cut at ${count(most)} tokens, the most that the settings allow.`
    : "The context is full, and the answer ends here. Begin a new conversation, or edit an earlier message.";
}

/** An answer while it is made: the message that grows, its element, and those before it that called tools. */
export class Answer {
  /** @param actions fills the buttons below an answer that has ended */
  constructor(talk, log, whose, actions) {
    Object.assign(this, { talk, log, whose, actions });
    this.began = performance.now();
    this.begin();
  }

  begin() {
    this.message = { role: "assistant", content: "", reasoning_content: "", ...this.whose };
    this.talk.messages.push(this.message);
    this.node = turnOf(this.message);
    this.node.querySelector(".text").append(el("p", { class: "faint waiting" }, "…"));
    this.log.append(this.node);
  }

  /** Takes an event; what comes after the answers of tools is another message. */
  take(event) {
    const choice = event.choices?.[0], delta = choice?.delta;
    // A question may come before what it is about.
    if (event.tool_call || event.question || delta?.content || delta?.reasoning_content) {
      if (this.outputs) { this.outputs = 0; this.isApart = true; this.draw(); this.begin(); }
    }
    if (event.tool_call) {
      const { id, name, arguments: words } = event.tool_call;
      (this.message.tool_calls ??= []).push({ id, type: "function", function: { name, arguments: words } });
    }
    if (event.tool_output) {
      const { id, name, content, failed } = event.tool_output;
      this.talk.messages.push({ role: "tool", tool_call_id: id, name, content, failed });
      this.outputs = (this.outputs ?? 0) + 1;
    }
    if (event.question) {
      const question = questionOf(event.question);
      this.node.append(question);
      // Nothing goes on until it is answered.
      question.scrollIntoView({ block: "center" });
    }
    if (delta?.content || delta?.reasoning_content) {
      this.first ??= performance.now();
      const text = delta.content ?? "";
      // The server parts the texts of one answer.
      this.message.content += this.isApart && !this.message.content ? text.replace(/^\n+/, "") : text;
      this.message.reasoning_content += delta.reasoning_content ?? "";
    }
    this.message.finish = choice?.finish_reason ?? this.message.finish;
    this.message.provider = event.provider ?? this.message.provider;
    if (event.sources?.length) this.message.sources = event.sources;
    if (event.usage) this.measure(event.usage);
    this.timer ??= setTimeout(() => this.draw(), 60);
  }

  measure(usage) {
    const first = this.first ?? this.began, tokens = usage.completion_tokens;
    const seconds = Math.max((performance.now() - first) / 1000, 0.001);
    this.message.usage = usage;
    this.message.speed = `${count(tokens)} ${tokens === 1 ? "token" : "tokens"}, ${rate(tokens / seconds)} tokens/s, first after ${elapsed((first - this.began) / 1000)}`;
  }

  draw() {
    clearTimeout(this.timer);
    this.timer = null;
    const isAtEnd = window.innerHeight + window.scrollY >= document.body.scrollHeight - 80;
    fill(this.node, this.message, this.talk.messages);
    // It follows only who reads at the end.
    if (isAtEnd) window.scrollTo(0, document.body.scrollHeight);
  }

  /** Ends it, however it went: every call has an answer, and nothing is asked any more. */
  end(error, most) {
    const { message, node } = this;
    for (const call of message.tool_calls ?? []) {
      if (outputOf(call, message, this.talk.messages)) continue;
      this.talk.messages.push({ role: "tool", tool_call_id: call.id, name: call.function.name, content: "the call was interrupted", failed: true });
    }
    for (const question of this.log.querySelectorAll(".question")) question.remove();
    message.note = cutShort(message, most);
    this.draw();
    this.actions(node, message, this.talk.messages.indexOf(message));
    if (error) node.querySelector(".text").append(el("p", { class: "bad", role: "alert" }, sentence(error.message)));
    if (message.tool_calls?.length) this.talk.messages.push({ role: "assistant", content: "", model: message.model, provider: message.provider });
    else if (!message.content && this.talk.messages.at(-2)?.role !== "tool") this.talk.messages.pop();
  }
}

// MARK: Attachments

const MOST = 8e6;

/** A file for the next message: a picture as it is, a text as `hub chat --attach` would put it before the message. */
export async function attachment(file) {
  if (file.size > MOST) throw new Error(`"${file.name}" has ${size(file.size)}; ${size(MOST)} is the most, and nothing of it is sent`);
  const facts = { name: file.name, size: file.size };
  if (["image/png", "image/jpeg", "image/gif", "image/webp"].includes(file.type)) {
    const image = await new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result);
      reader.onerror = () => reject(reader.error);
      reader.readAsDataURL(file);
    });
    return { ...facts, image };
  }
  const content = await file.arrayBuffer();
  let text;
  try { text = new TextDecoder("utf-8", { fatal: true }).decode(content); } catch { text = "\0"; }
  if (text.includes("\0")) throw new Error(`"${file.name}" is neither UTF-8 text nor a PNG, JPEG, GIF or WebP picture`);
  if (!text) throw new Error(`"${file.name}" is empty`);
  return { ...facts, block: (await post("/-/chat/attach", { name: file.name, text })).content };
}

/** What is attached, each with a button to take it off. */
export function showAttached(place, attached, remove) {
  place.replaceChildren(...attached.map((one) => el("span", { class: "badge" }, `${one.name}, ${size(one.size)} `,
    el("button", { type: "button", class: "quiet small", "aria-label": `Remove ${one.name}`, onclick: () => remove(one) }, "✕"))));
}
