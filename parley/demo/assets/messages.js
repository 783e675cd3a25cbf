// The conversation in the middle, in the look of its platform.

import { fragment } from "./richtext.js";
import { $, around, button, make, query } from "./dom.js";

const log = $("log");
// Discord's nested points; the page's policy takes classes, no styles in the markup.
const INDENT = /<div class="item" style="margin-left:(\d)\d*em">/g;
const NEAR_END = 120; // pixels: closer to the end, the end stays in view
let drawn = new Map(); // id -> { key, element }
let atEnd = true;

const isNearEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END;
log.addEventListener("scroll", () => { atEnd = isNearEnd(); });
// The form below grows over the last message: keep that in view.
new ResizeObserver(() => { if (atEnd) log.scrollTop = log.scrollHeight; }).observe(log);

/** Draw `messages`; what did not change keeps its element. `on` has what can be done with one. */
export function drawMessages(state, messages, on) {
  const pinned = isNearEnd();
  const byId = new Map(messages.map((message) => [message.id, message]));
  const next = new Map();
  messages.forEach((message, index) => {
    if (message.interaction) {
      next.set(message.id, drawn.get(message.id) || { key: "", element: drawInteraction(message) });
      return;
    }
    const before = messages[index - 1];
    const follows = Boolean(
      before && !before.interaction && !message.reply_to && before.by_bot === message.by_bot &&
      before.author === message.author && before.root === message.root,
    );
    const key = JSON.stringify([message, follows, state.person, state.selected === message.id]);
    const known = drawn.get(message.id);
    next.set(message.id, known?.key === key
      ? known
      : { key, element: draw(state, message, byId, follows, on) });
  });
  drawn = next;
  const elements = [...next.values()].map((one) => one.element);
  if (!elements.length) {
    elements.push(make("li", "nothing", emptyText(state)));
  }
  const same = elements.length === log.children.length &&
    elements.every((element, index) => element === log.children[index]);
  if (!same) {
    const focused = document.activeElement;
    log.replaceChildren(...elements);
    if (focused && log.contains(focused)) {
      focused.focus();
    }
  }
  if (pinned) {
    log.scrollTop = log.scrollHeight;
  }
}

/** Forget what was drawn: another room is shown. */
export function clearMessages() {
  drawn = new Map();
  log.replaceChildren();
  log.scrollTop = 0;
}

function emptyText(state) {
  return state.room === "direct"
    ? say("Nothing here yet. Write to {assistant} as {person}: in a direct message, every message is addressed to it.", { assistant: state.assistant, person: state.person })
    : say("Nothing here yet. {assistant} answers here when it is mentioned, and does not store other messages.", { assistant: state.assistant });
}

function draw(state, message, byId, follows, on) {
  const name = message.by_bot ? state.assistant : message.author;
  const mine = message.author === state.person && !message.by_bot;
  const item = make("li", [
    "message", message.by_bot ? "bot" : "person", mine ? "mine" : "theirs",
    follows ? "follows" : "", message.root ? "inside" : "", message.deleted ? "gone" : "",
    state.selected === message.id ? "selected" : "",
  ].filter(Boolean).join(" "));
  item.dataset.id = message.id;
  const avatar = make("span", `avatar person-${message.by_bot ? "bot" : name.toLowerCase()}`, name[0]);
  avatar.setAttribute("aria-hidden", "true");
  const head = make("p", "head", make("b", "name", name));
  if (message.by_bot) {
    head.append(make("span", "badge", state.platform === "slack" || state.platform === "discord" ? "APP" : say("bot")));
  }
  const time = make("time", "at", new Date(1000 * message.at).toLocaleTimeString(page_locale, { hour: "2-digit", minute: "2-digit" }));
  time.dateTime = new Date(1000 * message.at).toISOString();
  const bubble = state.platform === "telegram" || state.platform === "whatsapp";
  if (!bubble && !follows) {
    head.append(time);
  }
  const body = make("div", "body", head);
  const quoted = message.reply_to && byId.get(message.reply_to);
  if (quoted && quoted.id !== message.root) {
    const whose = quoted.by_bot ? state.assistant : quoted.author;
    const line = make("p", "quoted", make("b", "", whose), ` ${(quoted.text || say("a file")).slice(0, 90)}`);
    line.dir = "auto";
    body.append(line);
  }
  body.append(drawContent(message), ...drawExtras(state, message, on));
  if (bubble) {
    body.insertBefore(time, body.querySelector(".buttons"));
  }
  if (!bubble && follows) {
    item.append(time); // beside the message, as it has no head
  }
  item.append(avatar, body, drawTools(state, message, mine, on));
  item.addEventListener("click", (event) => {
    if (!event.target.closest("a, button, input, summary") && !getSelection().toString()) {
      on.select(message);
    }
  });
  return item;
}

// What a person did with a command or a button.
const DONE = { used: say("{person} used {what}"), pressed: say("{person} pressed {what}") };

/** A command or a press: what was typed stays visible above what came of it. */
function drawInteraction(interaction) {
  const holes = { person: make("b", "", interaction.author), what: make("code", "", interaction.text) };
  const item = make("li", `interaction${interaction.root ? " inside" : ""}`, ...around(DONE[interaction.interaction], holes));
  item.dataset.id = interaction.id;
  return item;
}

function drawContent(message) {
  const content = make("div", "content");
  content.dir = message.deleted ? "" : "auto";
  if (message.deleted) {
    content.append(make("i", "", say("deleted")));
  } else if (message.html) {
    content.append(fragment(message.html.replace(INDENT, '<div class="item indent-$1">')));
    content.querySelectorAll("code").forEach(trim);
    content.querySelectorAll(":is(pre, q, blockquote), code:has(br)").forEach(endLine);
    for (const wide of content.querySelectorAll("code:has(br), table")) {
      wide.tabIndex = 0; // it scrolls: reachable with the keyboard
    }
  } else {
    content.append(message.text);
  }
  if (message.edited && !message.deleted) {
    content.append(" ", make("span", "edited", say("(edited)")));
  }
  return content;
}

/** WhatsApp's code begins and ends with the line breaks beside its marks. */
function trim(code) {
  while (code.firstChild?.nodeName === "BR") {
    code.firstChild.remove();
  }
  while (code.lastChild?.nodeName === "BR") {
    code.lastChild.remove();
  }
}

/** A block ends its line, so that the line break after it shows no empty line. */
function endLine(block) {
  const next = block.nextSibling;
  if (next?.nodeName === "BR") {
    next.remove();
  } else if (next?.nodeType === Node.TEXT_NODE) {
    next.data = next.data.replace(/^\n/, "");
  }
}

function drawExtras(state, message, on) {
  const extras = [];
  if (message.private) {
    extras.push(make("p", "private", say("Only visible to this person")));
  }
  if (message.files.length && !message.deleted) {
    extras.push(make("ul", "files", ...message.files.map((file, index) => drawFile(state, message, file, index))));
  }
  if (message.reactions.length && !message.deleted) {
    extras.push(make("ul", "reactions", ...message.reactions.map(({ emoji, people }) => {
      const chip = make("li", "", `${emoji} ${people.length}`);
      chip.title = people.join(", ");
      chip.setAttribute("aria-label", say("{emoji} from {people}", { emoji, people: people.join(", ") }));
      return chip;
    })));
  }
  if (message.buttons.length && !message.deleted) {
    extras.push(make("div", "buttons", ...message.buttons.map((label) =>
      button(label, () => on.press(message, label)))));
  }
  return extras;
}

function sizeOf(bytes) {
  const [unit, by] = bytes < 1_000 ? [say("bytes"), 1] : bytes < 1_000_000 ? ["kB", 1_000] : ["MB", 1_000_000];
  const digits = by > 1 ? 1 : 0;
  return `${(bytes / by).toLocaleString(page_locale, { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${unit}`;
}

function drawFile(state, message, file, index) {
  const link = make("a", "file-link");
  link.href = `/demo/api/file?${query(state, { message: message.id, index })}`;
  link.target = "_blank";
  if (/^image\/(png|jpeg|gif|webp)$/.test(file.mime)) {
    const image = make("img");
    image.src = link.href;
    image.alt = file.name;
    link.append(image);
  } else {
    link.append(file.name, make("small", "", ` ${sizeOf(file.size)}`));
  }
  return make("li", "", link);
}

function drawTools(state, message, mine, on) {
  const tools = make("div", "tools");
  tools.setAttribute("role", "group");
  tools.setAttribute("aria-label", say("Actions for this message"));
  if (!message.deleted) {
    if (state.threadsUnderMessages && state.room !== "direct") {
      tools.append(button(say("Thread"), () => on.begin("thread", message)));
    } else {
      tools.append(button(say("Reply"), () => on.begin("reply", message)));
    }
    const like = button("👍", () => on.react(message, "👍"));
    like.setAttribute("aria-label", say("React with thumbs up"));
    tools.append(like);
    if (mine) {
      tools.append(
        button(say("Edit"), () => on.begin("edit", message)),
        button(say("Delete"), () => on.remove(message)),
      );
    }
  }
  tools.append(button(say("Why?"), () => on.why(message)));
  return tools;
}
