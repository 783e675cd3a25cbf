// The page: which conversation is shown, the stream that keeps it up to date, and the actions.

import { $, around, ask, make, newId } from "./dom.js";
import { begin, changeDraft, problem, putBack, setLimits, startComposer } from "./composer.js";
import { clearLines, lineCount, nameAssistant, offerAgain, scrollToEnd, show, startLines, writesLine } from "./lines.js";
import { addressOf, chatOf, drawList, markCurrent, newChat, openList, startList, titleOf } from "./list.js";

const FIRST_RETRY_SECONDS = 1;
const LAST_RETRY_SECONDS = 30;
const state = { chat: "", assistant: "", typing: false, loads: 0, retry: FIRST_RETRY_SECONDS };
let stream = null;
let retrying = 0;

// --- what is shown -------------------------------------------------------------------------------

/** Show a conversation from its beginning. */
async function open(chat) {
  const load = ++state.loads;
  clearTimeout(retrying);
  stream?.close();
  if (chat !== state.chat) {
    changeDraft(state.chat, chat);
    clearLines();
  }
  Object.assign(state, { chat, typing: false });
  markCurrent(chat);
  showTitle();
  tell(say("Loading …"));
  try {
    const history = await ask(`api/history?chat=${chat}`);
    if (load !== state.loads) {
      return;
    }
    draw(history);
    listen(history);
    await refreshList();
  } catch (error) {
    if (load === state.loads) {
      unreachable(error);
    }
  }
}

function draw(history) {
  state.assistant = history.assistant;
  nameAssistant(history.assistant);
  setLimits(history);
  $("assistant").textContent = history.assistant;
  $("typing-name").textContent = say("{name} is writing", { name: history.assistant });
  $("you").replaceChildren(...around(say("You are {id}"), { id: make("code", "", history.me) }));
  clearLines();
  history.lines.forEach(show);
  scrollToEnd();
  changed();
}

function listen(history) {
  const at = { chat: state.chat, after: history.version, epoch: history.epoch };
  const address = `api/events?${new URLSearchParams(at)}`;
  const mine = new EventSource(address);
  stream = mine;
  const listenTo = (name, take) => mine.addEventListener(name, (event) => {
    if (mine === stream) {
      take(event);
    }
  });
  listenTo("open", () => { state.typing = false; connected(); changed(); }); // "typing" follows if it is on
  listenTo("error", () => {
    if (mine.readyState === EventSource.CLOSED) {
      refused(address, mine);
    } else {
      offline(say("The assistant cannot be reached."));
    }
  });
  listenTo("line", (event) => { show(JSON.parse(event.data)); changed(); });
  listenTo("typing", (event) => { state.typing = JSON.parse(event.data).on; changed(); });
  listenTo("reset", () => open(state.chat));
  listenTo("chats", () => refreshList().catch(() => {}));
}

async function refreshList() {
  await drawList(state.chat);
  showTitle();
}

function showTitle() {
  const title = titleOf(state.chat);
  $("title").textContent = title;
  document.title = [title, state.assistant].filter(Boolean).join(" · ");
}

/** Show what follows from the lines: the hint, the sign of writing, the buttons. */
function changed() {
  const busy = state.typing || writesLine();
  $("empty").hidden = lineCount() > 0;
  $("typing").hidden = !busy || writesLine();
  $("stop").hidden = !busy;
  offerAgain(!busy);
}

// --- the connection ------------------------------------------------------------------------------

function tell(words) {
  $("state").textContent = words;
}

function announce(words) {
  tell(words);
  setTimeout(() => tell(stream?.readyState === EventSource.OPEN ? say("Connected") : $("state").textContent), 2500);
}

function connected() {
  state.retry = FIRST_RETRY_SECONDS;
  $("offline").hidden = true;
  tell(say("Connected"));
}

function offline(reason) {
  tell(say("Not connected"));
  $("offline-reason").replaceChildren(make("bdi", "", reason), ` ${say("Your text stays in the message box.")}`);
  $("offline").hidden = false;
}

/** The stream was refused: ask why, because an EventSource does not tell. */
async function refused(address, mine) {
  let reason = say("The connection was refused.");
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(5000) });
    if (response.ok) {
      await response.body.cancel(); // it works again
    } else {
      reason = (await response.json()).error || reason;
    }
  } catch {
    // the reason stays unknown
  }
  if (mine === stream) {
    unreachable(new Error(reason));
  }
}

function sentence(words) {
  return `${words[0].toLocaleUpperCase(page_locale)}${words.slice(1)}${/[.!?。！？।؟]$/.test(words) ? "" : "."}`;
}

/** The conversation could not be loaded: say why, and try again later. */
function unreachable(error) {
  offline(sentence(error.message));
  clearTimeout(retrying);
  retrying = setTimeout(() => open(state.chat), 1000 * state.retry);
  state.retry = Math.min(LAST_RETRY_SECONDS, 2 * state.retry);
}

// --- what the person does ------------------------------------------------------------------------

/** Returns true once the action was accepted. */
async function act(action) {
  const chat = state.chat;
  const body = JSON.stringify({ id: newId(), ...action, chat });
  try {
    await ask("api/actions", { method: "POST", body, headers: { "Content-Type": "application/json" } });
    problem("");
    return true;
  } catch (error) {
    problem(error.status ? sentence(error.message) : say("The assistant cannot be reached. Your text is still in the message box: send it again."));
    return false;
  }
}

async function stop() {
  await act({ type: "stop" });
  $("text").focus();
}

async function regenerate(question) {
  const id = newId();
  offerAgain(false);
  const accepted = await act({ type: "regenerate", id, message_id: question.id });
  if (!accepted && !$("text").value) {
    putBack(question.text);
  }
  $("text").focus();
}

startLines({
  reply: (line) => begin("reply", line),
  edit: (line) => begin("edit", line),
  remove: (line) => act({ type: "delete", message_id: line.id }),
  press: (line, value) => act({ type: "button", message_id: line.id, value }),
  regenerate,
  announce,
});
startComposer(act);
startList();
$("stop").addEventListener("click", stop);
$("retry").addEventListener("click", () => open(state.chat));
$("new").addEventListener("click", () => {
  if (lineCount()) {
    location.hash = addressOf(newChat());
  }
  openList(false, false);
  $("text").focus();
});
$("chats").addEventListener("click", (event) => {
  if (event.target.closest("a")) {
    openList(false);
  }
});
addEventListener("hashchange", () => open(chatOf(location.hash) ?? ""));

async function start() {
  const asked = chatOf(location.hash);
  if (asked !== null) {
    return open(asked);
  }
  try {
    const [newest = ""] = await drawList("");
    history.replaceState(null, "", addressOf(newest));
    return open(newest);
  } catch {
    return open("");
  }
}

start();
