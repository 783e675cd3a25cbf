import { fragment } from "./richtext.js";

const $ = (id) => document.getElementById(id);
const log = $("log");
const text = $("text");
const lines = new Map(); // id -> { line, element }
const waiting = []; // files that were uploaded and not yet sent
let about = null; // { kind: "reply" | "edit", id }
let assistant = "Parley";
let maxUpload = 5_000_000;
let stream = null;

function make(tag, className = "", content = "") {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = content;
  return element;
}

function button(label, onClick) {
  const element = make("button", "", label);
  element.type = "button";
  element.addEventListener("click", onClick);
  return element;
}

// --- lines ---------------------------------------------------------------------------------------

function show(line) {
  const known = lines.get(line.id);
  const pinned = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
  const element = draw(line);
  lines.set(line.id, { line, element });
  if (known) {
    known.element.replaceWith(element);
  } else {
    log.append(element);
  }
  $("empty").hidden = true;
  if (pinned || (!known && line.by === "person")) {
    log.scrollTop = log.scrollHeight;
  }
}

function draw(line) {
  const mine = line.by === "person";
  const item = make("li", `line ${mine ? "mine" : "theirs"}${line.deleted ? " gone" : ""}`);
  item.dataset.id = line.id;
  const bubble = make("div", "bubble");
  bubble.append(make("span", "visually-hidden", mine ? "You: " : `${assistant}: `));
  const quoted = mine && line.reply_to && lines.get(line.reply_to);
  if (quoted) {
    bubble.append(make("span", "quoted", quoted.line.text.slice(0, 140)));
  }
  if (line.deleted) {
    bubble.append("deleted");
  } else if (line.html) {
    const body = make("div");
    body.append(fragment(line.html));
    bubble.append(...body.childNodes);
  } else {
    bubble.append(line.text);
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

function drawFiles(files) {
  const list = make("ul", "files");
  for (const file of files) {
    const entry = make("li");
    const link = make("a", "", file.name);
    link.href = `api/files/${encodeURIComponent(file.id)}`;
    if (/^image\/(png|jpeg|gif|webp)$/.test(file.mime)) {
      const image = make("img");
      image.src = link.href;
      image.alt = file.name;
      link.replaceChildren(image);
    }
    link.target = "_blank";
    entry.append(link);
    list.append(entry);
  }
  return list;
}

function drawButtons(line) {
  const row = make("div", "buttons");
  for (const { label, value } of line.buttons) {
    row.append(button(label, () => act({ type: "button", message_id: line.id, value })));
  }
  return row;
}

function drawFoot(line, mine) {
  const foot = make("div", "foot");
  const time = make("time", "", new Date(line.at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
  time.dateTime = line.at;
  foot.append(time);
  if (line.edited && mine) {
    foot.append(make("span", "", "edited"));
  }
  if (!line.deleted) {
    foot.append(button("Reply", () => begin("reply", line)));
    if (mine) {
      foot.append(button("Edit", () => begin("edit", line)));
      foot.append(button("Delete", () => act({ type: "delete", message_id: line.id })));
    }
  }
  return foot;
}

// --- what the person does ------------------------------------------------------------------------

async function post(path, body, headers) {
  let response;
  try {
    response = await fetch(path, { method: "POST", body, headers });
  } catch {
    return problem("Parley cannot be reached. What you wrote is still here.");
  }
  if (response.ok) {
    problem("");
    return response.json();
  }
  const told = await response.text();
  try {
    return problem(JSON.parse(told).error);
  } catch {
    return problem(told || `Refused (${response.status}).`);
  }
}

function problem(message) {
  $("problem").textContent = message;
  $("problem").hidden = !message;
  return null;
}

function act(action) {
  // The same id on a retry: the gateway recognises the repetition.
  const body = JSON.stringify({ id: newId(), ...action });
  return post("api/actions", body, { "Content-Type": "application/json" });
}

function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}

let attempt = null; // what is being sent, kept with its id until it was accepted

async function submit(event) {
  event.preventDefault();
  const written = text.value;
  if (!written.trim() && !waiting.length) {
    return;
  }
  const action = about?.kind === "edit"
    ? { type: "edit", message_id: about.id, text: written }
    : { type: "message", text: written, files: waiting.map((f) => f.id), reply_to: about?.id };
  const key = JSON.stringify(action);
  attempt = attempt?.key === key ? attempt : { key, id: newId() };
  $("send").disabled = true;
  const accepted = await act({ ...action, id: attempt.id });
  $("send").disabled = false;
  if (accepted) {
    attempt = null;
    waiting.length = 0;
    drawWaiting();
    if (text.value === written) {
      text.value = "";
    }
    begin(null);
    grow();
  }
  text.focus();
}

function begin(kind, line) {
  about = kind && { kind, id: line.id };
  $("about").hidden = !kind;
  if (kind) {
    $("about-text").textContent = `${kind === "edit" ? "Editing" : "Replying to"}: ${line.text.slice(0, 80)}`;
    text.value = kind === "edit" ? line.text : text.value;
    grow();
    text.focus();
  }
}

async function attach(files) {
  for (const file of files) {
    if (file.size > maxUpload) {
      problem(`${file.name} is larger than ${Math.floor(maxUpload / 1e6)} MB.`);
      continue;
    }
    const stored = await post("api/files", file, {
      "Content-Type": file.type || "application/octet-stream",
      "X-File-Name": encodeURIComponent(file.name),
    });
    if (stored) {
      waiting.push(stored);
    }
  }
  $("files").value = "";
  drawWaiting();
}

function drawWaiting() {
  $("attached").hidden = !waiting.length;
  $("attached").replaceChildren(...waiting.map((file, index) => {
    const item = make("li", "", `${file.name} `);
    const drop = button("Remove", () => {
      waiting.splice(index, 1);
      drawWaiting();
    });
    drop.setAttribute("aria-label", `Remove ${file.name}`);
    item.append(drop);
    return item;
  }));
}

function grow() {
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight + 2}px`;
}

// --- what arrives --------------------------------------------------------------------------------

async function load() {
  const response = await fetch("api/history");
  if (!response.ok) {
    $("state").textContent = await response.text();
    return;
  }
  const history = await response.json();
  assistant = history.assistant;
  maxUpload = history.max_upload_bytes;
  document.title = assistant;
  $("assistant").textContent = assistant;
  $("typing-name").textContent = `${assistant} is writing`;
  $("me").textContent = history.me;
  $("empty").hidden = history.lines.length > 0;
  history.lines.forEach(show);
  listen(history.version);
}

function listen(after) {
  stream = new EventSource(`api/events?after=${after}`);
  stream.addEventListener("open", () => { $("state").textContent = "Connected"; });
  stream.addEventListener("error", () => { $("state").textContent = "Reconnecting …"; });
  stream.addEventListener("line", (event) => show(JSON.parse(event.data)));
  stream.addEventListener("typing", (event) => { $("typing").hidden = !JSON.parse(event.data).on; });
}

$("composer").addEventListener("submit", submit);
$("files").addEventListener("change", () => attach([...$("files").files]));
$("about-drop").addEventListener("click", () => { begin(null); text.focus(); });
text.addEventListener("input", grow);
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    submit(event);
  }
});
log.addEventListener("click", (event) => event.target.closest?.(".spoiler")?.classList.toggle("open"));
load();
