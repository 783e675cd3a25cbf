// The list of conversations beside the conversation; on a small screen it opens over it.

import { $, ask, clock, day, make } from "./dom.js";

const NEW_TITLE = say("New chat");
const NO_TITLE = say("Message without text");
const narrow = matchMedia("(max-width: 48rem)");
let titles = new Map();
let wanted = 0;

export function newChat() {
  const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  const random = crypto.getRandomValues(new Uint8Array(16));
  return `chat-${Array.from(random, (byte) => letters[byte % letters.length]).join("")}`;
}

export function titleOf(chat) {
  return titles.has(chat) ? titles.get(chat) || NO_TITLE : NEW_TITLE;
}

/** The address of a conversation within the page. */
export const addressOf = (chat) => `#${chat || "first"}`;

/** The conversation that the page's address names; null for none. */
export function chatOf(hash) {
  if (hash === "#first") {
    return "";
  }
  return /^#chat-[a-z0-9]{16}$/.test(hash) ? hash.slice(1) : null;
}

/** Load the list and draw it; returns the ids, newest first. Throws `Refused`. */
export async function drawList(current) {
  const mine = ++wanted;
  const { chats, most } = await ask("api/chats");
  if (mine !== wanted) {
    return chats.map((chat) => chat.id); // a later request draws the list
  }
  titles = new Map(chats.map((chat) => [chat.id, chat.title]));
  $("chats").replaceChildren(...chats.map((chat) => drawEntry(chat, chat.id === current)));
  $("no-chats").hidden = chats.length > 0;
  $("more-chats").hidden = chats.length < most;
  $("more-chats").textContent = say_count("The latest conversation is listed.", "The latest {count} conversations are listed.", { count: most });
  return chats.map((chat) => chat.id);
}

/** Mark the conversation that is shown. */
export function markCurrent(current) {
  for (const link of $("chats").querySelectorAll("a")) {
    if (link.getAttribute("href") === addressOf(current)) {
      link.setAttribute("aria-current", "page");
    } else {
      link.removeAttribute("aria-current");
    }
  }
}

function drawEntry(chat, isCurrent) {
  const title = make("span", "chat-title", chat.title || NO_TITLE);
  title.dir = "auto";
  const at = new Date(chat.at);
  const today = at.toDateString() === new Date().toDateString();
  const time = make("time", "", today ? clock(at) : day(at));
  time.dateTime = chat.at;
  const link = make("a", "", title, time);
  link.href = addressOf(chat.id);
  link.title = chat.title || NO_TITLE;
  if (isCurrent) {
    link.setAttribute("aria-current", "page");
  }
  return make("li", "", link);
}

// --- the list on a small screen ------------------------------------------------------------------

export function startList() {
  $("menu").addEventListener("click", () => openList(document.body.dataset.list !== "open"));
  $("shade").addEventListener("click", () => openList(false));
  $("close-list").addEventListener("click", () => openList(false));
  $("side").addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      openList(false);
    }
  });
  narrow.addEventListener("change", () => openList(false, false));
  openList(false, false);
}

/** Open or close the list; where there is room for it, it is always open. */
export function openList(open, moveFocus = true) {
  const was = document.body.dataset.list === "open";
  document.body.dataset.list = open ? "open" : "closed";
  $("menu").setAttribute("aria-expanded", String(open));
  $("shade").hidden = !open;
  $("side").inert = narrow.matches && !open;
  $("page").inert = narrow.matches && open;
  if (moveFocus && open !== was && narrow.matches) {
    (open ? $("close-list") : $("menu")).focus();
  }
}
