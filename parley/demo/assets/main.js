// What is looked at (platform, room, person, message), and the stream that keeps it up to date.

import { $, act, button, make, query } from "./dom.js";
import { begin, grow, problem, roomChanged, startComposer } from "./composer.js";
import { clearMessages, drawMessages } from "./messages.js";
import { drawDecisions, drawRequests } from "./why.js";

const KINDS = {
  direct: [say("Direct message"), say("every message is addressed to the assistant")],
  private: [say("Private room"), say("only its members can read it")],
  public: [say("Public room"), say("the assistant answers when it is mentioned")],
};
const state = {
  platform: "", room: "direct", person: "", selected: "", assistant: "Parley",
  threadsUnderMessages: false,
};
let world = null;
let view = { messages: [], traces: [], calls: [] };
let stream = null;

const on = {
  begin,
  select(message) {
    state.selected = state.selected === message.id ? "" : message.id;
    draw();
  },
  why(message) {
    state.selected = message.id;
    showTab("why");
    showPanel("decisions");
    draw();
  },
  press: (message, label) => attempt({ do: "press", message_id: message.id, label }),
  react: (message, emoji) => attempt({ do: "react", message_id: message.id, emoji }),
  remove: (message) => attempt({ do: "delete", message_id: message.id }),
};

async function attempt(action) {
  try {
    problem("");
    state.selected = "";
    return await act(state, action);
  } catch (error) {
    problem(error.message);
    return null;
  }
}

function draw() {
  drawMessages(state, view.messages, on);
  drawDecisions(state, view);
  drawRequests(view);
}

// --- where we are --------------------------------------------------------------------------------

function go(platform, room, person = state.person) {
  const found = world.platforms.find((one) => one.id === platform);
  const entry = found.rooms.find((one) => one.key === room) || found.rooms[0];
  Object.assign(state, {
    platform, room: entry.key, person, selected: "", threadsUnderMessages: found.threads_under_messages,
  });
  document.body.dataset.look = platform;
  $("room-mark").className = `mark ${platform}`;
  $("room-mark").textContent = found.title[0];
  $("room-title").textContent = entry.kind === "direct" ? state.assistant : entry.parent ? entry.title : roomName(entry);
  const [kind, meaning] = entry.parent ? [say("Thread in {room}", { room: roomName({ title: entry.parent }) }), ""] : KINDS[entry.kind];
  $("room-about").replaceChildren(`${found.title} · ${kind}`, make("span", "long", meaning && `: ${meaning}`));
  document.title = `${found.title} · ${say("Parley demo")}`;
  history.replaceState(null, "", `#${new URLSearchParams({ platform, room: entry.key, person })}`);
  drawPlaces();
  roomChanged(state);
  clearMessages();
  listen();
}

/** Telegram's groups have a name without a sign; the channels of the others begin with #. */
function roomName(entry) {
  return state.platform === "telegram" ? entry.title : `#${entry.title}`;
}

function listen() {
  stream?.close();
  view = { messages: [], traces: [], calls: [] };
  stream = new EventSource(`/demo/api/events?${query(state)}`);
  stream.addEventListener("open", () => { $("state").textContent = ""; });
  stream.addEventListener("error", () => { $("state").textContent = say("Reconnecting …"); });
  stream.addEventListener("message", (event) => {
    view = JSON.parse(event.data);
    draw();
  });
}

function drawPlaces() {
  $("platforms").replaceChildren(...world.platforms.map((platform) => {
    const list = make("ul");
    for (const room of platform.rooms) {
      list.append(drawRoom(platform, room));
    }
    const mark = make("span", `mark ${platform.id}`, platform.title[0]);
    mark.setAttribute("aria-hidden", "true");
    const title = make("h2", "", mark, platform.title);
    return make("section", "", title, list);
  }));
}

function drawRoom(platform, room) {
  const sign = room.kind === "direct" ? "@" : platform.id === "telegram" ? "" : "#";
  const link = button("", () => {
    go(platform.id, room.key);
    showTab("room");
  });
  link.append(make("span", "sign", room.parent ? "↳" : sign), room.kind === "direct" ? say("Direct message") : room.title);
  if (room.kind === "private" && !room.parent) {
    link.append(make("small", "", say("private")));
  }
  const here = platform.id === state.platform && room.key === state.room;
  if (here) {
    link.setAttribute("aria-current", "page");
  }
  const item = make("li", room.parent ? "child" : "", link);
  if (here && room.kind !== "direct" && !room.parent) {
    const open = button(say("+ Thread"), () => openThread(platform, room), "open-thread");
    item.append(open);
  }
  return item;
}

async function openThread(platform, room) {
  const number = platform.rooms.filter((one) => one.parent === room.key).length + 1;
  const opened = await attempt({ do: "thread", title: say("Thread {number}", { number }) });
  if (opened) {
    await loadWorld();
    go(platform.id, opened.room);
  }
}

function drawPeople() {
  const chips = world.people.map((name) => {
    const input = make("input");
    input.type = "radio";
    input.name = "person";
    input.value = name;
    input.checked = name === state.person;
    input.addEventListener("change", () => go(state.platform, state.room, name));
    const avatar = make("span", `avatar person-${name.toLowerCase()}`, name[0]);
    avatar.setAttribute("aria-hidden", "true");
    return make("label", "", input, avatar, name);
  });
  $("people").append(...chips);
}

// --- tabs ----------------------------------------------------------------------------------------

function showTab(name) {
  document.body.dataset.tab = name;
  grow();
  for (const tab of $("tabs").children) {
    tab.toggleAttribute("aria-current", false);
    if (tab.dataset.tab === name) {
      tab.setAttribute("aria-current", "true");
    }
  }
}

function showPanel(name) {
  for (const panel of ["decisions", "requests"]) {
    $(panel).hidden = panel !== name;
    $(`tab-${panel}`).setAttribute("aria-selected", String(panel === name));
    $(`tab-${panel}`).tabIndex = panel === name ? 0 : -1;
  }
}

function startTabs() {
  $("tabs").addEventListener("click", (event) => {
    const name = event.target.closest("button")?.dataset.tab;
    if (name) {
      showTab(name);
    }
  });
  for (const [name, other] of [["decisions", "requests"], ["requests", "decisions"]]) {
    $(`tab-${name}`).addEventListener("click", () => showPanel(name));
    $(`tab-${name}`).addEventListener("keydown", (event) => {
      if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
        showPanel(other);
        $(`tab-${other}`).focus();
      }
    });
  }
}

function listenForFaults() {
  $("faults").addEventListener("click", async (event) => {
    const kind = event.target.closest("button")?.dataset.fault;
    if (kind) {
      $("faults").open = false;
      if (await attempt({ do: "fault", kind })) {
        $("state").textContent = kind === "disconnect" ? say("Connections closed") : say("The fault applies to the next message");
      }
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      $("faults").open = false;
    }
  });
}

// --- start ---------------------------------------------------------------------------------------

async function loadWorld() {
  world = await (await fetch("/demo/api/world")).json();
  state.assistant = world.assistant;
}

await loadWorld();
const asked = new URLSearchParams(location.hash.slice(1));
const named = world.platforms.find((one) => one.id === asked.get("platform"));
const start = named ? { platform: named.id, room: asked.get("room") || "direct", person: asked.get("person") } : world.start;
state.person = world.people.includes(start.person) ? start.person : world.people[0];
$("model").textContent = world.model;
$("mention").checked = true;
drawPeople();
startTabs();
listenForFaults();
startComposer(state, () => {
  state.selected = "";
  $("state").textContent = "";
  $("log").scrollTop = $("log").scrollHeight;
});
go(start.platform, start.room);
