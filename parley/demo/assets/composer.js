// Writing: text, commands, mentions, replies, edits, files.

import { $, act, button, make } from "./dom.js";

const SUGGESTIONS = [
  "Show me a table", "Show me everything you can", "Write something long", "What did I just say?",
  "/context", "/clear",
];
const MAX_FILE = 2_000_000;
const text = $("text");
const files = [];
let about = null; // { kind: "reply" | "thread" | "edit", message }

/** Wire the form. `state` is shared; `after` is called with the answer to what was done. */
export function startComposer(state, after) {
  $("suggestions").replaceChildren(...SUGGESTIONS.map((suggestion) => {
    const chip = button(suggestion, () => {
      text.value = suggestion;
      submit(state, after);
    }, "chip");
    chip.lang = "en"; // what the offline model reads
    return chip;
  }));
  $("composer").addEventListener("submit", (event) => {
    event.preventDefault();
    submit(state, after);
  });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      submit(state, after);
    }
  });
  text.addEventListener("input", grow);
  $("about-drop").addEventListener("click", () => begin(null));
  $("files").addEventListener("change", () => attach([...$("files").files]));
}

/** Reply to, go on in the thread of, or edit a message; null stops that. */
export function begin(kind, message) {
  about = kind && { kind, message };
  $("about").hidden = !kind;
  if (kind) {
    const beginning = (message.text || say("a file")).slice(0, 70);
    $("about-text").textContent = {
      reply: say("Replying to: {text}", { text: beginning }),
      thread: say("In the thread of: {text}", { text: beginning }),
      edit: say("Editing: {text}", { text: beginning }),
    }[kind];
    text.value = kind === "edit" ? message.text : text.value;
    text.focus();
  }
  grow();
}

/** Show or hide what the room does not need. */
export function roomChanged(state) {
  begin(null);
  $("mention-chip").hidden = state.room === "direct";
  $("mention-name").textContent = say("Mention {name}", { name: `@${state.assistant}` });
  text.placeholder = state.room === "direct"
    ? say("Message {assistant} as {person}", { assistant: state.assistant, person: state.person })
    : say("Message the room as {person}", { person: state.person });
}

export function problem(message) {
  $("problem").textContent = message;
  $("problem").hidden = !message;
}

async function submit(state, after) {
  const written = text.value;
  if (!written.trim() && !files.length) {
    return;
  }
  $("send").disabled = true;
  try {
    const done = await act(state, action(state, written));
    text.value = "";
    files.length = 0;
    drawFiles();
    begin(null);
    problem("");
    after(done);
  } catch (error) {
    problem(error.message);
  } finally {
    $("send").disabled = false;
    text.focus();
    grow();
  }
}

function action(state, written) {
  if (about?.kind === "edit") {
    return { do: "edit", message_id: about.message.id, text: written };
  }
  const thread = about?.kind === "thread" ? about.message.root || about.message.id : "";
  const command = /^\/([a-z][a-z0-9_-]{0,31})(?:\s+([\s\S]*))?$/.exec(written.trim());
  if (command && !files.length) {
    return { do: "command", thread, name: command[1], arguments: command[2] || "" };
  }
  const mention = state.room !== "direct" && $("mention").checked;
  const typed = `@${state.assistant}`;
  const repeats = mention && (written === typed || written.startsWith(`${typed} `));
  return {
    do: "say",
    thread,
    text: repeats ? written.slice(typed.length).trimStart() || written : written,
    mention,
    reply_to: about?.kind === "reply" ? about.message.id : "",
    files: files.map(({ name, mime, data }) => ({ name, mime, data })),
  };
}

async function attach(chosen) {
  for (const file of chosen.slice(0, 4 - files.length)) {
    if (file.size > MAX_FILE) {
      problem(say("{name} is larger than {size}.", { name: file.name, size: "2 MB" }));
      continue;
    }
    files.push({ name: file.name, mime: file.type || "application/octet-stream", data: await base64(file) });
  }
  $("files").value = "";
  drawFiles();
}

function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result.slice(reader.result.indexOf(",") + 1)));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(file);
  });
}

function drawFiles() {
  $("attached").hidden = !files.length;
  $("attached").replaceChildren(...files.map((file, index) => {
    const drop = button(say("Remove"), () => {
      files.splice(index, 1);
      drawFiles();
    });
    drop.setAttribute("aria-label", say("Remove {name}", { name: file.name }));
    return make("li", "", `${file.name} `, drop);
  }));
}

/** Fit the box to its text; a box that is not shown has no height to measure. */
export function grow() {
  text.style.height = "auto";
  if (!text.offsetParent) {
    return;
  }
  text.style.height = `${Math.min(text.scrollHeight + 2, 200)}px`;
}
