// Small helpers: elements, icons, requests.

const SVG = "http://www.w3.org/2000/svg";
const REQUEST_SECONDS = 60;

export const $ = (id) => document.getElementById(id);

/** An element with a class and children; strings become text. */
export function make(tag, className = "", ...children) {
  const element = document.createElement(tag);
  if (className) {
    element.className = className;
  }
  element.append(...children.filter((child) => child !== ""));
  return element;
}

export function button(label, onClick, className = "") {
  const element = make("button", className, label);
  element.type = "button";
  element.addEventListener("click", onClick);
  return element;
}

/** A drawing of one path, hidden from screen readers. */
export function icon(path) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const drawn = document.createElementNS(SVG, "path");
  drawn.setAttribute("d", path);
  svg.append(drawn);
  return svg;
}

/** The nodes of a sentence whose holes elements take. */
export function around(sentence, elements) {
  return sentence.split(/\{([a-z_]+)\}/).map((piece, place) => (place % 2 ? elements[piece] : piece));
}

/** A time of day, and a day, in the page's language and the reader's zone. */
export const clock = (at) => at.toLocaleTimeString(page_locale, { hour: "2-digit", minute: "2-digit" });
export const day = (at) => at.toLocaleDateString(page_locale, { day: "numeric", month: "short" });

export function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}

export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** The JSON of a response. Throws `Refused`, with status 0 if nothing answered. */
export async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { signal: AbortSignal.timeout(REQUEST_SECONDS * 1000), ...options });
  } catch {
    throw new Refused(say("The assistant cannot be reached."), 0);
  }
  const text = await response.text();
  let body = null;
  try {
    body = JSON.parse(text);
  } catch {
    body = { error: text };
  }
  if (!response.ok) {
    throw new Refused(body.advice || body.error || say("Refused ({status}). Reload the page, and try again.", { status: String(response.status) }), response.status);
  }
  return body;
}

/** Put text on the clipboard, also where the page is not served securely. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", "visually-hidden");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
