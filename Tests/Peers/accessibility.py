"""What a screen reader and weak eyes need of a page, looked at in the browser itself: names, roles, structure, contrast."""

import importlib.util
import json
from pathlib import Path

# Each fault is a text that names the element. Contrast by WCAG 2.1: 4.5:1, for large text 3:1.
CHECK = r"""
(() => {
  const faults = [];
  const seen = (node) => {
    const style = getComputedStyle(node), box = node.getBoundingClientRect();
    return style.visibility !== "hidden" && style.display !== "none" && box.width > 0 && box.height > 0;
  };
  const show = (node) => node.outerHTML.slice(0, 120).replace(/\s+/g, " ");
  const fault = (text, node) => faults.push(text + ": " + show(node));
  const named = (node) => {
    const by = node.getAttribute("aria-labelledby");
    if (by) return by.split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join(" ").trim();
    if (node.getAttribute("aria-label")) return node.getAttribute("aria-label").trim();
    if (node.labels?.length) return [...node.labels].map((label) => label.textContent).join(" ").trim();
    if (node.nodeName === "IMG") return node.alt;
    return node.textContent.trim() || node.title || "";
  };

  if (!document.documentElement.lang) faults.push("the document has no language");
  if (!document.title) faults.push("the document has no title");
  for (const role of ["main", "nav", "header"]) {
    if (!document.querySelector(role)) faults.push("there is no " + role);
  }
  const levels = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(seen).map((node) => Number(node.nodeName[1]));
  if (document.querySelectorAll("main h1").length !== 1) faults.push("there are " + document.querySelectorAll("main h1").length + " h1");
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  for (const id of new Set(ids)) if (ids.filter((one) => one === id).length > 1) faults.push("the id " + id + " is there twice");

  for (const node of document.querySelectorAll("a[href], button, input, select, textarea, summary, [role=button], [role=img], progress, dialog[open]")) {
    if (node.type === "hidden" || !seen(node)) continue;
    if (!named(node)) fault("no name", node);
  }
  for (const node of document.querySelectorAll("img")) if (!node.hasAttribute("alt")) fault("no alt", node);
  for (const node of document.querySelectorAll("[aria-labelledby], [aria-controls], [aria-describedby], label[for]")) {
    for (const key of ["aria-labelledby", "aria-controls", "aria-describedby", "for"]) {
      for (const id of (node.getAttribute(key) ?? "").split(" ").filter(Boolean)) {
        if (!document.getElementById(id)) fault(key + " names nothing (" + id + ")", node);
      }
    }
  }
  for (const node of document.querySelectorAll("ul, ol")) {
    for (const child of node.children) if (child.nodeName !== "LI") fault("no item of a list", child);
  }
  for (const node of document.querySelectorAll("table")) if (!node.querySelector("th")) fault("no heads", node);
  for (const node of document.querySelectorAll("[tabindex]")) if (node.tabIndex > 0) fault("a tabindex above 0", node);
  if (document.documentElement.scrollWidth > window.innerWidth + 1) {
    faults.push("the page is wider than the window: " + document.documentElement.scrollWidth);
  }

  const numbers = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const parse = (text) => {
    let [r, g, b, a = 1] = numbers(text);
    // color(srgb r g b): what color-mix() computes to.
    if (text.startsWith("color(")) [r, g, b] = [r * 255, g * 255, b * 255];
    return [r, g, b, a];
  };
  const over = (top, below) => top.slice(0, 3).map((value, index) => value * top[3] + below[index] * (1 - top[3]));
  const ground = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
    let color = [255, 255, 255];
    for (const layer of layers.reverse()) if (layer[3] > 0) color = over(layer, color);
    return color;
  };
  const light = (color) => {
    const [r, g, b] = color.map((value) => value / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const done = new Set();
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || done.has(node) || !seen(node)) continue;
    done.add(node);
    const style = getComputedStyle(node), box = node.getBoundingClientRect();
    if (box.width <= 1 || box.height <= 1 || node.closest("[disabled], .busy")) continue;
    const below = ground(node), color = over(parse(style.color), below);
    const [a, b] = [light(color), light(below)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) fault("contrast " + ratio.toFixed(2), node);
  }
  return faults;
})()
"""


def faults(page):
    return page.run(CHECK)


def axe_script():
    """The text of axe-core, which its package for Playwright brings; None without that. Playwright itself is not used."""
    package = importlib.util.find_spec("axe_playwright_python")
    for folder in package.submodule_search_locations if package else []:
        if (script := Path(folder) / "axe.min.js").exists():
            return script.read_text()
    return None


# Rules that every page is held against, those that are only recommended too.
AXE = """axe.run(document, {resultTypes: ['violations']}).then(({violations}) => JSON.stringify(
  violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 160)}`))))"""


def axe_faults(page):
    """What axe-core finds in a page, a text for each element. The page's policy does not hold for what a tool runs."""
    page.run(axe_script() + "; 1")
    return json.loads(page.run(AXE))
