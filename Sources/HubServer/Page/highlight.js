// Colours for code: comments, strings, numbers and the words of common languages. What a model writes is only cut into
// pieces here; each becomes a text node, and what is not known stays as it is.
import { el } from "./page.js";

// Whoever writes the text chooses what runs over it, so each part of it is looked at once.
const MOST = 60_000;

const COMMON = "break case catch class const continue default do else enum extends false finally for if import in new null "
  + "return static super switch this throw true try void while";
/** The languages: their words, and how comments and strings begin. A string ends as it begins. */
const FAMILIES = [
  {
    names: "c h cpp c++ cc hpp java kotlin kt csharp cs c# scala dart go golang rust rs swift zig objc php",
    line: ["//"], block: ["/*", "*/"], strings: ['"""', '"'], hasCharacters: true,
    words: `${COMMON} abstract any as assert async auto await bool boolean byte char chan crate defer delete deinit double dyn `
      + "echo explicit extension extern fallthrough final fileprivate float fn func fun function goto guard impl implements include "
      + "init inline inout int interface internal instanceof is let lateinit long loop map match mod move mut mutating namespace nil "
      + "nullptr object open operator override package private protected protocol pub public range record ref repeat select "
      + "self Self short signed sizeof some string struct template throws trait type typealias typedef typename union "
      + "unsafe unsigned use using val var vararg virtual volatile weak where yield",
  },
  {
    names: "js javascript jsx ts typescript tsx mjs", line: ["//"], block: ["/*", "*/"], strings: ['"', "'", "`"],
    words: `${COMMON} any as async await boolean declare delete export from function get implements instanceof interface keyof let `
      + "namespace never number of private protected public readonly set string symbol type typeof undefined unknown var with yield",
  },
  { names: "css scss less", line: [], block: ["/*", "*/"], strings: ['"', "'"], words: "" },
  {
    names: "python py python3 ipython pycon", line: ["#"], strings: ['"""', "'''", '"', "'"],
    words: "False None True and as assert async await break case class continue def del elif else except finally for from global "
      + "if import in is lambda match nonlocal not or pass raise return self try while with yield",
  },
  {
    names: "ruby rb elixir ex crystal", line: ["#"], strings: ['"', "'"],
    words: "alias and begin break case class def defmodule defp do else elsif end ensure false fn for if in module next nil not or "
      + "puts redo require rescue retry return self super then true undef unless until when while yield",
  },
  {
    names: "bash sh shell zsh fish console dockerfile docker makefile make powershell", line: ["#"], strings: ['"', "'"],
    words: "alias case cd cp do done echo elif else esac exit export fi for function if in local mkdir mv return rm set "
      + "source sudo then unset until while FROM RUN COPY ENV CMD WORKDIR ENTRYPOINT",
  },
  {
    names: "json jsonc json5 yaml yml toml ini conf", line: ["#", "//"], strings: ['"', "'"], words: "true false null yes no on off",
  },
  {
    names: "sql sqlite postgresql mysql", line: ["--"], block: ["/*", "*/"], strings: ["'", '"'], ignoresCase: true,
    words: "add all alter and as asc begin between by case check column commit constraint create cross database default delete desc "
      + "distinct drop else end exists foreign from full group having if in index inner insert integer into is join key left "
      + "like limit not null offset on or order outer primary real references right rollback select set table text then "
      + "transaction union unique update values view when where with",
  },
  {
    names: "lua haskell hs", line: ["--"], strings: ['"', "'"],
    words: "and break case class data deriving do else elseif end false for function if import in instance let local module "
      + "newtype nil not of or repeat return then true type until where while",
  },
];

const languages = new Map(FAMILIES.flatMap((family) => {
  const known = { ...family, words: new Set(family.words.split(" ")) };
  return family.names.split(" ").map((name) => [name, known]);
}));

const WORD = /[A-Za-z_$][\w$]*/y;
const NUMBER = /0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?/y;

function match(expression, text, at) {
  expression.lastIndex = at;
  return expression.exec(text)?.[0];
}

/** The end of what a mark ends; of the text where it does not come. */
function after(text, mark, at) {
  const end = text.indexOf(mark, at);
  return end < 0 ? text.length : end + mark.length;
}

/** The end of a string. A line ends it as well, unless its quotes are of those for several lines. */
function endOfString(text, at, quote) {
  const spansLines = quote.length > 1 || quote === "`";
  for (let place = at + quote.length; place < text.length; place += 1) {
    if (text[place] === "\\") place += 1;
    else if (text[place] === "\n" && !spansLines) return place;
    else if (text.startsWith(quote, place)) return place + quote.length;
  }
  return text.length;
}

/** The kind of what begins there, and its end; null if it is nothing special. */
function piece(text, at, { line, block, strings, hasCharacters, ignoresCase, words }) {
  // Within a word or an address these marks begin no comment.
  const isFree = at === 0 || /[\s;,()}]/.test(text[at - 1]);
  if (isFree && line.some((mark) => text.startsWith(mark, at))) return ["comment", after(text, "\n", at)];
  if (block && text.startsWith(block[0], at)) return ["comment", after(text, block[1], at + 2)];
  const quote = strings.find((mark) => text.startsWith(mark, at));
  if (quote) return ["string", endOfString(text, at, quote)];
  // 'a' is a character; 'a alone is a lifetime of Rust.
  const character = hasCharacters && text[at] === "'" && /^'(?:[^\\'\n]|\\[^\n]{1,9}?)'/.exec(text.slice(at, at + 12));
  if (character) return ["string", at + character[0].length];
  const word = match(WORD, text, at);
  if (word) return [words.has(ignoresCase ? word.toLowerCase() : word) ? "keyword" : null, at + word.length];
  const number = match(NUMBER, text, at);
  return number ? ["number", at + number.length] : null;
}

/** A text with its pieces marked; as it is where the language is not known. */
export function highlight(text, language) {
  const out = document.createDocumentFragment();
  const family = languages.get(language.toLowerCase());
  let plain = 0, at = family && text.length <= MOST ? 0 : text.length;
  while (at < text.length) {
    const found = piece(text, at, family);
    const end = found ? found[1] : at + 1;
    if (found?.[0]) {
      out.append(text.slice(plain, at), el("span", { class: `code-${found[0]}` }, text.slice(at, end)));
      plain = end;
    }
    at = end;
  }
  out.append(text.slice(plain));
  return out;
}
