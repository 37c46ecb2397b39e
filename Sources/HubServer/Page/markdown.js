// Markdown as elements. What a model or a card writes is never markup: every text becomes a text node, links lead to
// http and https alone, and no picture is fetched from anywhere.
import { highlight } from "./highlight.js";
import { el } from "./page.js";

// Whoever writes the text chooses what these run over: none may try a part of a line again and again. So no two
// neighbours in one can match the same character, and what ends a line has no condition.
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/s;
const HEADING = /^ {0,3}(#{1,6})\s(.*)$/s;
const QUOTE = /^ {0,3}> ?(.*)$/s;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s(.*)$/s;
const MOST_DEPTH = 12;
// Characters of one text in which emphasis, links and code are looked for.
const MOST_INLINE = 400_000;
let left = 0;
// The level of the last heading; the text stands below one of the second.
let level = 2;

/** The elements of a text. */
export function render(text) {
  left = MOST_INLINE;
  level = 2;
  return blocks(text.replace(/\r\n?/g, "\n").split("\n"), 0);
}

/** The text without the settings at the head of a card. */
export function withoutFrontMatter(text) {
  const found = /^---\r?\n[\s\S]*?\n---\r?\n/.exec(text);
  return found ? text.slice(found[0].length) : text;
}

function blocks(lines, depth) {
  const out = document.createDocumentFragment();
  if (depth > MOST_DEPTH) {
    out.append(lines.join("\n"));
    return out;
  }
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    let found;
    if (!line.trim()) { at += 1; continue; }
    if ((found = fence(line))) { at = fenced(lines, at, found, out); continue; }
    if ((found = HEADING.exec(line))) { out.append(heading(found[1].length + 1, title(found[2]))); at += 1; continue; }
    if (isRule(line)) { out.append(el("hr")); at += 1; continue; }
    if (QUOTE.test(line)) { at = quoted(lines, at, out, depth); continue; }
    if (ITEM.test(line)) { at = list(lines, at, out, depth); continue; }
    if (line.includes("|") && at + 1 < lines.length && isDivider(lines[at + 1])) { at = table(lines, at, out); continue; }
    if (/^ {4}|^\t/.test(line)) { at = indented(lines, at, out); continue; }
    const words = [];
    while (at < lines.length && lines[at].trim() && !(words.length && startsBlock(lines[at]))) { words.push(lines[at].trim()); at += 1; }
    const paragraph = el("p", {}, inline(withoutTags(words.join("\n"))));
    if (paragraph.hasChildNodes() && (paragraph.textContent.trim() || paragraph.querySelector("*"))) out.append(paragraph);
  }
  return out;
}

function startsBlock(line) {
  return fence(line) || HEADING.test(line) || isRule(line) || QUOTE.test(line) || ITEM.test(line);
}

/** The beginning of a block of code: what the block ends with at least, and its language. */
function fence(line) {
  const found = FENCE.exec(line);
  const rest = found?.[2].trim();
  return found && !rest.includes("`") ? { mark: found[1], language: /^\S{0,30}/.exec(rest)[0] } : null;
}

/** A heading at most one level below the last: who listens to a list of headings would else miss something. */
function heading(wanted, text) {
  level = Math.min(wanted, level + 1, 6);
  return el(`h${level}`, {}, inline(text));
}

/** A heading's text without the signs that may close it. */
function title(text) {
  const words = text.trim();
  let end = words.length;
  while (end > 0 && words[end - 1] === "#") end -= 1;
  return words.slice(0, end).trim();
}

function isRule(line) {
  return /^ {0,3}[-*_]/.test(line) && /^(-{3,}|\*{3,}|_{3,})$/.test(line.replace(/\s/g, ""));
}

function isDivider(line) {
  if (!line.includes("-")) return false;
  return withoutEdges(line).split("|").every((cell) => /^:?-+:?$/.test(cell.trim()));
}

/** A block of code, with a button that copies it. */
function codeBlock(text, language) {
  return el("div", { class: "code" },
    el("div", { class: "code-head" }, el("span", { class: "language" }, language),
      el("button", { type: "button", class: "copy", "aria-label": language ? `Copy the ${language} code` : "Copy the code" }, "Copy")),
    el("pre", { tabindex: "0" }, el("code", {}, highlight(text, language))));
}

function fenced(lines, at, found, out) {
  const body = [];
  at += 1;
  while (at < lines.length) {
    const end = fence(lines[at]);
    if (end && !end.language && end.mark[0] === found.mark[0] && end.mark.length >= found.mark.length) break;
    body.push(lines[at]);
    at += 1;
  }
  out.append(codeBlock(body.join("\n"), found.language));
  return at + 1;
}

function indented(lines, at, out) {
  const body = [];
  while (at < lines.length && (/^ {4}|^\t/.test(lines[at]) || !lines[at].trim())) { body.push(lines[at].replace(/^ {4}|^\t/, "")); at += 1; }
  while (body.length && !body[body.length - 1].trim()) body.pop();
  out.append(codeBlock(body.join("\n"), ""));
  return at;
}

function quoted(lines, at, out, depth) {
  const body = [];
  while (at < lines.length && lines[at].trim()) {
    const found = QUOTE.exec(lines[at]);
    if (!found && startsBlock(lines[at])) break;
    body.push(found ? found[1] : lines[at]);
    at += 1;
  }
  out.append(el("blockquote", {}, blocks(body, depth + 1)));
  return at;
}

function list(lines, at, out, depth) {
  const first = ITEM.exec(lines[at]);
  const indent = first[1].length;
  const isOrdered = /\d/.test(first[2]);
  const node = el(isOrdered ? "ol" : "ul", isOrdered && parseInt(first[2], 10) !== 1 ? { start: parseInt(first[2], 10) } : {});
  while (at < lines.length) {
    const found = ITEM.exec(lines[at]);
    if (!found || found[1].length < indent || found[1].length > indent + 3 || /\d/.test(found[2]) !== isOrdered) break;
    const body = [found[3].trimStart()];
    at += 1;
    while (at < lines.length) {
      const next = lines[at];
      if (!next.trim()) {
        const after = lines[at + 1];
        if (after === undefined || !/^\s{2,}/.test(after) || /^\s*/.exec(after)[0].length <= indent) break;
        body.push("");
      } else {
        const spaces = /^\s*/.exec(next)[0].length;
        if (spaces <= indent && (ITEM.test(next) || startsBlock(next) || !body[body.length - 1].trim())) break;
        body.push(next.slice(Math.min(spaces, indent + found[2].length + 1)));
      }
      at += 1;
    }
    node.append(item(body, depth));
    while (at < lines.length && !lines[at].trim() && ITEM.test(lines[at + 1] ?? "")) at += 1;
  }
  out.append(node);
  return at;
}

function item(body, depth) {
  const task = /^\[([ xX])\]\s(.*)$/s.exec(body[0]);
  if (task) body[0] = task[2].trimStart();
  const content = blocks(body, depth + 1);
  // A short item is no paragraph of its own.
  const only = content.firstChild;
  const node = el("li", task ? { class: "task" } : {});
  if (task) node.append(el("input", { type: "checkbox", disabled: true, checked: task[1] !== " ", "aria-label": task[1] === " " ? "open" : "done" }), " ");
  if (only?.nodeName === "P") { node.append(...only.childNodes); only.remove(); }
  node.append(content);
  return node;
}

/** A row of a table without the bars around it. */
function withoutEdges(line) {
  const text = line.trim().replace(/^\|/, "");
  return text.endsWith("|") && !text.endsWith("\\|") ? text.slice(0, -1) : text;
}

function cells(line) {
  return withoutEdges(line).split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function table(lines, at, out) {
  const heads = cells(lines[at]);
  const node = el("table", { tabindex: "0" }, el("thead", {}, el("tr", {}, ...heads.map((cell) => el("th", { scope: "col" }, inline(cell))))));
  const body = el("tbody");
  at += 2;
  while (at < lines.length && lines[at].includes("|") && lines[at].trim()) {
    const row = cells(lines[at]).slice(0, heads.length);
    body.append(el("tr", {}, ...row.map((cell) => el("td", {}, inline(cell)))));
    at += 1;
  }
  node.append(body);
  out.append(node);
  return at;
}

/** HTML in Markdown: breaks stay, a picture becomes its description, other tags go. */
function withoutTags(text) {
  if (!text.includes("<")) return text;
  return text.replace(/<!--[\s\S]*?(-->|$)/g, "").replace(/<br\s{0,9}\/?>/gi, "\n")
    .replace(/<img\b[^<>]{0,2000}>/gi, (tag) => { const alt = /alt\s?=\s?["']([^"']*)["']/i.exec(tag); return alt?.[1] ? `![${alt[1]}]()` : ""; })
    .replace(/<\/?[a-z][a-z0-9-]*(\s[^<>]{0,2000})?\/?>/gi, "");
}

// Longest first; a part that is not closed stays a text. Each looks ahead some hundred characters at most.
const INLINE = new RegExp([
  /(?<!`)(`{1,100})(?!`)([\s\S]{0,500}?[^`])\1(?!`)/,
  /!\[([^\]]{0,500})\]\(([^()\s]{0,500})(?:\s{1,9}"[^"]{0,500}")?\)/,
  /\[((?:[^[\]\\]|\\.|!\[[^\]]{0,500}\]\([^)]{0,500}\)){1,500})\]\(<?([^()\s<>]{0,500}(?:\([^()\s]{0,500}\)[^()\s<>]{0,500})?)>?(?:\s{1,9}["'][^"']{0,500}["'])?\)/,
  /(\*\*|__)(?=\S)([\s\S]{0,500}?\S)\7/,
  /(\*|_)(?=\S)([\s\S]{0,500}?\S)\9(?![*\w])/,
  /~~(?=\S)([\s\S]{0,500}?\S)~~/,
  /<?(https?:\/\/[^\s<>"'`\])]{1,2000})>?/,
  /\\([!-/:-@[-`{-~])/,
].map((part) => part.source).join("|"), "g");

function inline(text, depth = 0) {
  const out = document.createDocumentFragment();
  // The cost of an expression grows with the line.
  left -= text.length;
  if (text.length > 10000 || left < 0 || depth > MOST_DEPTH) { plain(text, out); return out; }
  let end = 0;
  for (const found of text.matchAll(INLINE)) {
    if (found.index < end) continue;
    const isWord = found[9] === "_" && /\w/.test(text[found.index - 1] ?? "");
    if (isWord) continue;
    plain(text.slice(end, found.index), out);
    out.append(piece(found, depth));
    end = found.index + found[0].length;
  }
  plain(text.slice(end), out);
  return out;
}

function piece(found, depth) {
  if (found[1]) return el("code", {}, found[2].trim());
  if (found[3] !== undefined) return found[3] ? el("span", { class: "image", title: "a picture that is not loaded" }, found[3]) : "";
  if (found[5] !== undefined) return link(found[6], inline(found[5], depth + 1));
  if (found[7]) return el("strong", {}, inline(found[8], depth + 1));
  if (found[9]) return el("em", {}, inline(found[10], depth + 1));
  if (found[11] !== undefined) return el("s", {}, inline(found[11], depth + 1));
  if (found[12]) {
    const address = found[12].replace(/[.,;:!?]+$/, "");
    const rest = found[12].slice(address.length);
    const node = link(address, address);
    if (!rest) return node;
    const both = document.createDocumentFragment();
    both.append(node, rest);
    return both;
  }
  return found[13];
}

function plain(text, out) {
  const lines = text.split("\n");
  let words = "";
  lines.forEach((line, index) => {
    const isLast = index + 1 === lines.length;
    if (isLast || !(line.endsWith("  ") || line.endsWith("\\"))) { words += isLast ? line : line + "\n"; return; }
    out.append(words + line.replace(/\\$/, "").trimEnd(), el("br"));
    words = "";
  });
  if (words) out.append(words);
}

/** A link to the web; anything else is only its text. */
function link(address, content) {
  let target = null;
  try { target = new URL(address); } catch { /* a path within the repository, or no address at all */ }
  if (!target || !["http:", "https:"].includes(target.protocol)) return el("span", {}, content);
  return el("a", { href: target.href, rel: "noopener noreferrer nofollow", target: "_blank" }, content);
}

for (const place of document.querySelectorAll("[data-markdown]")) {
  place.replaceChildren(render(withoutFrontMatter(place.textContent)));
}
