// Small helpers: elements and requests.

export const $ = (id) => document.getElementById(id);

/** An element with a class, text or children. */
export function make(tag, className = "", ...children) {
  const element = document.createElement(tag);
  if (className) {
    element.className = className;
  }
  element.append(...children);
  return element;
}

/** The nodes of a sentence whose holes elements take. */
export function around(sentence, elements) {
  return sentence.split(/\{([a-z_]+)\}/).map((piece, place) => (place % 2 ? elements[piece] : piece));
}

/** A button that never submits. */
export function button(label, onClick, className = "") {
  const element = make("button", className, label);
  element.type = "button";
  element.addEventListener("click", onClick);
  return element;
}

/** The address of a place: platform, room and the person who looks. */
export function query(state, more = {}) {
  return new URLSearchParams({
    platform: state.platform, room: state.room, person: state.person, ...more,
  }).toString();
}

/** Do something; the answer, or an Error whose message is for people. */
export async function act(state, action) {
  const place = { platform: state.platform, room: state.room, person: state.person };
  const response = await fetch("/demo/api/act", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...place, ...action }),
  }).catch(() => { throw new Error(say("The demo has ended. Start it again with parley demo, or in a checkout with make demo.")); });
  const body = await response.json().catch(() => ({}));
  if (!response.ok) {
    throw new Error(body.error || say("Refused ({status}). Reload the page, and try again.", { status: String(response.status) }));
  }
  return body;
}
