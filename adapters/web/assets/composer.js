// Writing: text, replies, edits and files, until the message is accepted.

import { $, ask, button, make, newId } from "./dom.js";
import { allowRecording, startRecorder } from "./recorder.js";

const text = $("text");
const files = []; // { name, size, stored } ; `stored` is null while the file is uploaded
const drafts = new Map(); // chat -> text
let limits = { text: 40_000, files: 10, bytes: 5_000_000 };
let about = null; // { kind: "reply" | "edit", id }
let attempt = null; // what is being sent, kept with its id until it was accepted
let send = async () => false;

/** `sender` takes an action and returns true once it was accepted. */
export function startComposer(sender) {
  send = sender;
  $("composer").addEventListener("submit", submit);
  $("files").addEventListener("change", () => attach([...$("files").files]));
  $("about-drop").addEventListener("click", () => { begin(null); text.focus(); });
  text.addEventListener("input", grow);
  text.addEventListener("keydown", onKey);
  text.addEventListener("paste", onPaste);
  startDropping();
  startRecorder(record, problem);
}

export function setLimits(history) {
  limits = { text: history.max_text, files: history.max_files, bytes: history.max_upload_bytes };
  allowRecording(history.voice_seconds);
}

export function problem(message) {
  $("problem").textContent = message;
  $("problem").hidden = !message;
}

/** Keep what is written for the conversation `from`, and show what was written for `to`. */
export function changeDraft(from, to) {
  drafts.set(from, text.value);
  begin(null);
  text.value = drafts.get(to) || "";
  problem("");
  grow();
}

/** Put a text back that could not be sent. */
export function putBack(written) {
  text.value = text.value ? `${written}\n${text.value}` : written;
  grow();
}

/** Reply to a line or edit it; null stops that. */
export function begin(kind, line) {
  const wasEdit = about?.kind === "edit";
  about = kind && { kind, id: line.id };
  $("about").hidden = !kind;
  if (kind) {
    $("about-text").textContent = (kind === "edit" ? say("Editing: {text}", { text: beginning(line) }) : say("Replying to: {text}", { text: beginning(line) }));
    text.value = kind === "edit" ? line.text : text.value;
    text.focus();
  } else if (wasEdit) {
    text.value = "";
  }
  grow();
}

function onKey(event) {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    submit(event);
  } else if (event.key === "Escape" && about) {
    begin(null);
  }
}

async function submit(event) {
  event.preventDefault();
  const written = text.value;
  if ($("send").disabled || (!written.trim() && !files.length)) {
    return;
  }
  const refusal = refused(written);
  if (refusal) {
    problem(refusal);
    return;
  }
  const sent = files.map((file) => file.stored.id);
  const action = about?.kind === "edit"
    ? { type: "edit", message_id: about.id, text: written }
    : { type: "message", text: written, files: sent, reply_to: about?.id };
  const key = JSON.stringify(action);
  attempt = attempt?.key === key ? attempt : { key, id: newId() };
  $("send").disabled = true;
  // The same id on a retry: the gateway recognises the repetition.
  const accepted = await send({ id: attempt.id, ...action });
  $("send").disabled = false;
  if (accepted) {
    sentAll(written, sent);
  }
  text.focus();
}

function refused(written) {
  if (files.some((file) => !file.stored)) {
    return say("A file is still being uploaded. Send the message when it is complete, or remove the file.");
  }
  if (written.length > limits.text) {
    return say_count("The message has {count} character; at most {most} can be sent. Shorten it, or attach the text as a file.", "The message has {count} characters; at most {most} can be sent. Shorten it, or attach the text as a file.", { count: written.length, most: limits.text });
  }
  if (!written.trim() && about?.kind === "edit") {
    return say("An edited message needs a text. To remove the message, delete it.");
  }
  return "";
}

function sentAll(written, sent) {
  attempt = null;
  const wasEdit = about?.kind === "edit";
  if (!wasEdit) {
    files.splice(0, files.length, ...files.filter((file) => !sent.includes(file.stored?.id)));
    drawFiles();
  }
  if (text.value === written) {
    text.value = "";
  }
  about = null;
  begin(null);
}

/** Attach a recording of the microphone, of so many seconds. */
async function record(file, seconds) {
  const refusal = fileRefusal(file) || await upload(file, seconds);
  problem(refusal);
  (refusal ? $("record") : $("send")).focus();
}

// --- files ---------------------------------------------------------------------------------------

function onPaste(event) {
  const pasted = [...event.clipboardData.files];
  if (pasted.length && !event.clipboardData.types.includes("text/plain")) {
    event.preventDefault();
    attach(pasted);
  }
}

function startDropping() {
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (event) => {
    if (hasFiles(event)) {
      event.preventDefault();
      document.body.classList.add("dropping");
    }
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) {
      document.body.classList.remove("dropping");
    }
  });
  addEventListener("drop", (event) => {
    document.body.classList.remove("dropping");
    if (hasFiles(event)) {
      event.preventDefault();
      attach([...event.dataTransfer.files]);
    }
  });
}

async function attach(chosen) {
  const problems = [];
  problem("");
  for (const file of chosen) {
    const refusal = fileRefusal(file) || await upload(file);
    if (refusal) {
      problems.push(refusal);
    }
    if (files.length >= limits.files && refusal) {
      break;
    }
  }
  $("files").value = "";
  problem(problems.slice(0, 5).join(" "));
  text.focus();
}

function fileRefusal(file) {
  if (files.length >= limits.files) {
    return say_count("A message takes at most {count} file; {name} and later ones are not attached.", "A message takes at most {count} files; {name} and later ones are not attached.", { count: limits.files, name: file.name });
  }
  if (file.size > limits.bytes) {
    return say("{name} is too large: {size}, and at most {most} can be sent.", { name: file.name, size: inMegabytes(file.size), most: inMegabytes(limits.bytes) });
  }
  return file.size ? "" : say("{name} is empty, or a folder: choose the files in it.", { name: file.name });
}

async function upload(file, seconds = null) {
  const entry = { name: file.name, size: file.size, mime: file.type, stored: null };
  files.push(entry);
  drawFiles();
  try {
    entry.stored = await ask("api/files", {
      method: "POST",
      body: file,
      headers: {
        "Content-Type": file.type || "application/octet-stream",
        "X-File-Name": encodeURIComponent(file.name.slice(0, 200)),
        ...(seconds === null ? {} : { "X-Recorded-Seconds": seconds.toFixed(1) }),
      },
    });
    drawFiles();
    return "";
  } catch (error) {
    remove(entry);
    return say("{name} could not be attached: {reason}", { name: file.name, reason: error.message });
  }
}

function remove(entry) {
  if (files.includes(entry)) {
    files.splice(files.indexOf(entry), 1);
  }
  drawFiles();
}

function drawFiles() {
  $("attached").hidden = !files.length;
  $("attached").replaceChildren(...files.map((file) => {
    const drop = button(say("Remove"), () => { remove(file); text.focus(); });
    drop.setAttribute("aria-label", say("Remove {name}", { name: file.name }));
    const size = file.stored ? inMegabytes(file.size) : say("uploading …");
    const name = make("span", "file-name", file.name);
    name.dir = "auto";
    return make("li", "", name, make("span", "file-size", size), drop);
  }));
}

/** The beginning of a line's text, for the note above the message box. */
const beginning = (line) => (line.text || say("a file")).slice(0, 80);

function inMegabytes(bytes) {
  const shown = (value, digits) => value.toLocaleString(page_locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return bytes < 100_000 ? `${shown(Math.max(1, bytes / 1000), 0)} kB` : `${shown(bytes / 1e6, 1)} MB`;
}

function grow() {
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight + 2}px`;
}
