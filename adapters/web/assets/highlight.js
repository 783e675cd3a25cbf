// Colours code: one pass from left to right, each character is looked at a bounded number of times.

const MAX_CODE = 50_000; // characters; longer code stays plain

const SLASHES = { line: ["//"], block: [["/*", "*/"]], quotes: "\"'`" };
const HASHES = { line: ["#"], block: [], quotes: "\"'`" };
const DASHES = { line: ["--"], block: [["/*", "*/"]], quotes: "\"'" };
const PYTHON = { line: ["#"], block: [], quotes: "\"'", long: ['"""', "'''"] };
const PHP = { line: ["//", "#"], block: [["/*", "*/"]], quotes: "\"'" };
const CSS = { line: [], block: [["/*", "*/"]], quotes: "\"'" };
const MARKUP = { line: [], block: [["<!--", "-->"]], quotes: "\"'", tags: true };
const JSON_LIKE = { line: [], block: [], quotes: "\"" };

const WORDS = {
  c: "auto bool break case catch char class const constexpr continue default delete do double else enum extern false float for if inline int long namespace new nullptr operator private protected public return short signed sizeof static struct switch template this throw true try typedef union unsigned using virtual void volatile while",
  go: "break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var",
  java: "abstract boolean break byte case catch char class const continue default do double else enum extends false final finally float for if implements import instanceof int interface long new null package private protected public record return sealed short static super switch this throw throws true try val var void volatile when while fun object override data companion",
  js: "as async await break case catch class const continue debugger default delete do else enum export extends false finally for from function if implements import in instanceof interface let new null of private protected public readonly return static super switch this throw true try type typeof undefined var void while yield",
  json: "false null true",
  php: "abstract and array as break case catch class const continue default do echo else elseif extends false final finally fn for foreach function if implements interface match namespace new null or private protected public return static switch this throw trait true try use var while yield",
  python: "False None True and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield",
  ruby: "alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield",
  rust: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
  shell: "case do done elif else esac export fi for function if in local return select set then until while",
  sql: "add all alter and as asc begin between by case check column commit constraint create cross database default delete desc distinct drop else end exists false foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references right rollback select set table then true union unique update using values view when where with",
  yaml: "false no null off on true yes",
};

const LANGUAGES = new Map();
for (const [names, rules, words] of [
  ["c h cpp c++ cc hpp cs csharp swift arduino", SLASHES, "c"], ["go golang", SLASHES, "go"],
  ["java kotlin kt scala groovy dart", SLASHES, "java"], ["js javascript jsx mjs ts typescript tsx", SLASHES, "js"],
  ["json jsonc json5", JSON_LIKE, "json"], ["php", PHP, "php"], ["py python py3 python3", PYTHON, "python"],
  ["rb ruby", HASHES, "ruby"], ["rs rust", { ...SLASHES, quotes: "\"" }, "rust"],
  ["sh bash shell zsh console dockerfile makefile make", HASHES, "shell"], ["sql sqlite postgres postgresql mysql", DASHES, "sql"],
  ["yaml yml toml ini conf", { ...HASHES, quotes: "\"'" }, "yaml"], ["css scss less", CSS, "json"],
  ["html xml svg xhtml vue", MARKUP, "json"],
]) {
  const known = new Set(WORDS[words].split(" "));
  for (const name of names.split(" ")) {
    LANGUAGES.set(name, { ...rules, words: known, anyCase: words === "sql" });
  }
}

/** Replace the text of `element` by coloured pieces; an unknown language stays plain. */
export function highlight(element, language) {
  const rules = LANGUAGES.get(language.toLowerCase());
  const code = element.textContent;
  if (!rules || code.length > MAX_CODE) {
    return;
  }
  const pieces = document.createDocumentFragment();
  for (const [kind, text] of tokens(code, rules)) {
    if (kind) {
      const span = document.createElement("span");
      span.className = `tok-${kind}`;
      span.textContent = text;
      pieces.append(span);
    } else {
      pieces.append(text);
    }
  }
  element.replaceChildren(pieces);
}

/** The pieces of `code`, together the whole of it: [kind, text], kind "" for plain text. */
export function tokens(code, rules) {
  const found = [];
  let plain = 0;
  let at = 0;
  const add = (kind, end) => {
    if (at > plain) {
      found.push(["", code.slice(plain, at)]);
    }
    found.push([kind, code.slice(at, end)]);
    at = plain = end;
  };
  while (at < code.length) {
    const end = commentEnd(code, at, rules);
    const quoted = end < 0 ? stringEnd(code, at, rules) : -1;
    if (end >= 0) {
      add("comment", end);
    } else if (quoted >= 0) {
      add("string", quoted);
    } else if (isWordPart(code.charCodeAt(at))) {
      const stop = wordEnd(code, at);
      const kind = wordKind(code, at, stop, rules);
      if (kind) {
        add(kind, stop);
      }
      at = stop;
    } else {
      at += 1;
    }
  }
  if (at > plain) {
    found.push(["", code.slice(plain, at)]);
  }
  return found;
}

function commentEnd(code, at, rules) {
  for (const [open, close] of rules.block) {
    if (code.startsWith(open, at)) {
      const end = code.indexOf(close, at + open.length);
      return end < 0 ? code.length : end + close.length;
    }
  }
  if (rules.line.some((mark) => code.startsWith(mark, at) && startsComment(code, at, mark))) {
    const end = code.indexOf("\n", at);
    return end < 0 ? code.length : end;
  }
  return -1;
}

// "#" inside of a word, as in $# or a colour, and "//" after ":" are no comments.
function startsComment(code, at, mark) {
  const before = at ? code[at - 1] : "\n";
  return mark === "#" ? " \t\n;".includes(before) : !(mark === "//" && before === ":");
}

function stringEnd(code, at, rules) {
  const long = rules.long?.find((mark) => code.startsWith(mark, at));
  if (long) {
    const end = code.indexOf(long, at + 3);
    return end < 0 ? code.length : end + 3;
  }
  const quote = code[at];
  if (!rules.quotes.includes(quote)) {
    return -1;
  }
  for (let end = at + 1; end < code.length; end += 1) {
    if (code[end] === "\\") {
      end += 1;
    } else if (code[end] === quote) {
      return end + 1;
    } else if (code[end] === "\n" && quote !== "`") {
      return end; // not closed on its line: an apostrophe, or unfinished
    }
  }
  return code.length;
}

function isWordPart(unit) {
  return (unit >= 48 && unit <= 57) || (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122) || unit === 95 || unit > 127;
}

function wordEnd(code, at) {
  let end = at;
  while (end < code.length && isWordPart(code.charCodeAt(end))) {
    end += 1;
  }
  return end;
}

function wordKind(code, at, end, rules) {
  const unit = code.charCodeAt(at);
  if (unit >= 48 && unit <= 57) {
    return "number";
  }
  const before = at ? code[at - 1] : "";
  if (rules.tags) {
    return before === "<" || (before === "/" && code[at - 2] === "<") ? "keyword" : "";
  }
  const word = code.slice(at, end);
  if (rules.words.has(rules.anyCase ? word.toLowerCase() : word) && before !== ".") {
    return "keyword";
  }
  return code[end] === "(" ? "call" : "";
}
