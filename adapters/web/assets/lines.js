// The lines of the conversation: how each one is drawn, and what can be done with it.

import { $, button, clock, copy, make } from "./dom.js";
import { highlight } from "./highlight.js";
import { fragment } from "./richtext.js";

const NEAR_END = 80; // pixels: closer to the end, new lines scroll into view
const MAX_LANGUAGE = 24; // characters of the name above a block of code
const log = $("log");
const lines = new Map(); // id -> { line, element }
let on = {};
let atEnd = true;
let assistant = "";

/** `handlers`: reply, edit, remove, press, regenerate, announce. */
export function startLines(handlers) {
  on = handlers;
  log.addEventListener("click", (event) => event.target.closest?.(".spoiler")?.classList.toggle("open"));
  log.addEventListener("scroll", () => { atEnd = isNearEnd(); });
  // The box for writing grows over the last line: keep that in view.
  new ResizeObserver(() => atEnd && scrollToEnd()).observe(log);
}

export function nameAssistant(name) {
  assistant = name;
}

export function clearLines() {
  lines.clear();
  log.replaceChildren();
}

export const lineCount = () => lines.size;

/** True while the assistant writes a line, as far as the lines tell. */
export const writesLine = () => [...lines.values()].some(({ line }) => line.live);

const isNearEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END;

export function scrollToEnd() {
  log.scrollTop = log.scrollHeight;
}

/** Draw one line, or draw it again. */
export function show(line) {
  const known = lines.get(line.id);
  const pinned = isNearEnd();
  const element = draw(line);
  lines.set(line.id, { line, element });
  if (known) {
    const focused = [...known.element.querySelectorAll("button, a")].indexOf(document.activeElement);
    known.element.replaceWith(element);
    if (focused >= 0) {
      element.querySelectorAll("button, a")[focused]?.focus();
    }
  } else {
    log.append(element);
  }
  log.setAttribute("aria-busy", String(writesLine()));
  if (pinned || (!known && line.by === "person")) {
    scrollToEnd();
  }
}

/** Offer to answer the last question again, below the last line and nowhere else. */
export function offerAgain(allowed) {
  const all = [...lines.values()];
  const asked = all.findLast(({ line }) => line.by === "person" && !line.deleted);
  const last = all.at(-1);
  const can = allowed && asked && !asked.line.command && asked.line.text.trim() && last.line.by === "assistant";
  for (const { line, element } of all) {
    const again = element.querySelector(".again");
    if (again) {
      again.hidden = !(can && line === last.line);
      again.onclick = () => on.regenerate(asked.line);
    }
  }
}

function draw(line) {
  const mine = line.by === "person";
  const item = make("li", `line ${mine ? "mine" : "theirs"}${line.deleted ? " gone" : ""}${line.live ? " live" : ""}`);
  item.dataset.id = line.id;
  const bubble = make("div", "bubble", make("span", "visually-hidden", `${mine ? say("You") : assistant}: `));
  const quoted = mine && line.reply_to && lines.get(line.reply_to);
  if (quoted) {
    bubble.append(make("span", "quoted", quoted.line.text.slice(0, 140)));
  }
  if (line.deleted) {
    bubble.append(say("deleted"));
  } else if (line.html) {
    bubble.append(drawAnswer(line));
  } else {
    bubble.append(line.text || (line.files.length ? "" : say("A file that is no longer stored")));
  }
  if (line.files.length) {
    bubble.append(drawFiles(line.files));
  }
  if (line.buttons.length) {
    bubble.append(drawButtons(line));
  }
  item.append(bubble, drawFoot(line, mine));
  return item;
}

function drawAnswer(line) {
  const body = make("div", "said");
  body.dir = "auto";
  body.append(fragment(line.html));
  for (const table of body.querySelectorAll("table")) {
    table.tabIndex = 0; // a wide table scrolls: reachable with the keyboard
  }
  for (const pre of body.querySelectorAll("pre")) {
    drawCode(pre, line.live);
  }
  return body;
}

function drawCode(pre, unfinished) {
  const code = pre.querySelector("code") || pre;
  const text = code.textContent;
  const language = /^language-(\S+)/.exec(code.className)?.[1] || "";
  if (!unfinished) {
    highlight(code, language);
  }
  pre.setAttribute("aria-label", language ? say("Code in {language}", { language: language.slice(0, MAX_LANGUAGE) }) : say("Code"));
  pre.setAttribute("role", "region");
  const copyCode = button(say("Copy"), async () => on.announce(await copy(text) ? say("Code copied") : say("The browser does not allow copying")));
  copyCode.setAttribute("aria-label", say("Copy code"));
  pre.dir = "ltr";
  const bar = make("div", "bar", make("span", "", language.slice(0, MAX_LANGUAGE) || say("code")), copyCode);
  const box = make("div", "code");
  pre.replaceWith(box);
  box.append(bar, pre);
}

function drawFiles(files) {
  const list = make("ul", "files");
  for (const file of files) {
    const link = make("a", "", file.name);
    link.href = `api/files/${encodeURIComponent(file.id)}`;
    if (/^image\/(png|jpeg|gif|webp)$/.test(file.mime)) {
      const image = make("img");
      image.src = link.href;
      image.alt = file.name;
      link.replaceChildren(image);
    }
    link.target = "_blank";
    const item = make("li", "", link);
    if (/^audio\/(ogg|webm|mp4|mpeg|wav)$/.test(file.mime)) {
      const player = make("audio");
      player.controls = true;
      player.preload = "none";
      player.src = link.href;
      player.setAttribute("aria-label", file.name);
      item.prepend(player);
    }
    list.append(item);
  }
  return list;
}

function drawButtons(line) {
  const row = make("div", "buttons");
  for (const { label, value } of line.buttons) {
    row.append(button(label, () => on.press(line, value)));
  }
  return row;
}

function drawFoot(line, mine) {
  const time = make("time", "", clock(new Date(line.at)));
  time.dateTime = line.at;
  const foot = make("div", "foot", time);
  if (line.edited && mine) {
    foot.append(make("span", "", say("edited")));
  }
  if (line.deleted || line.live) {
    return foot;
  }
  foot.append(button(say("Reply"), () => on.reply(line)));
  if (line.text) {
    foot.append(button(say("Copy"), async () => on.announce(await copy(line.text) ? say("Message copied") : say("The browser does not allow copying"))));
  }
  if (mine && !line.command) {
    foot.append(button(say("Edit"), () => on.edit(line)), button(say("Delete"), () => on.remove(line)));
  }
  if (!mine) {
    const again = button(say("Regenerate"), () => {}, "again");
    again.hidden = true;
    foot.append(again);
  }
  return foot;
}
