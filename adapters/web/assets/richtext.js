// Safe HTML from the server, rebuilt from a short list of elements: a second lock on the door.

const ELEMENTS = new Set([
  "a", "b", "blockquote", "br", "code", "del", "details", "div", "em", "figcaption", "figure",
  "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "input", "ins", "kbd", "li", "mark", "ol", "p",
  "pre", "q", "s", "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot",
  "th", "thead", "time", "tr", "u", "ul",
]);
const DROPPED = new Set(["script", "style", "template", "iframe", "object", "embed", "noscript"]);
const ATTRIBUTES = new Set(["class", "title", "start", "colspan", "rowspan", "lang", "dir"]);
const MAX_DEPTH = 60;

/** A document fragment with what is allowed of `html`; of other elements the text stays. */
export function fragment(html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  const target = document.createDocumentFragment();
  copyChildren(parsed.body, target, 0);
  return target;
}

function copyChildren(source, target, depth) {
  for (const node of source.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) {
      target.append(node.data);
    } else if (node.nodeType === Node.ELEMENT_NODE) {
      copyElement(node, target, depth);
    }
  }
}

function copyElement(node, target, depth) {
  const name = node.localName;
  if (DROPPED.has(name) || depth > MAX_DEPTH) {
    return;
  }
  if (!ELEMENTS.has(name)) {
    copyChildren(node, target, depth + 1);
    return;
  }
  const copy = document.createElement(name);
  for (const { name: attribute, value } of node.attributes) {
    if (ATTRIBUTES.has(attribute)) {
      copy.setAttribute(attribute, value);
    }
  }
  if (name === "a") {
    link(node, copy);
  } else if (name === "input") {
    copy.type = "checkbox";
    copy.disabled = true;
    copy.checked = node.hasAttribute("checked");
  } else if (name === "pre") {
    copy.tabIndex = 0; // wide code scrolls: reachable with the keyboard
  }
  copyChildren(node, copy, depth + 1);
  target.append(copy);
}

function link(node, copy) {
  const address = node.getAttribute("href") || "";
  if (/^(https?|mailto|tel):/i.test(address)) {
    copy.href = address;
    copy.rel = "noopener noreferrer nofollow";
    copy.target = "_blank";
  }
}
