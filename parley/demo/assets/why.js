// The right side: what the gateway decided, and what the client library sent to the platform.

import { $, make } from "./dom.js";

const WORDS = {
  invocation: say("Addressed to the assistant?"), identity: say("Identity"), loop_guard: say("Check for bot loops"),
  loop: say("Check for bot loops"), access: say("Access"), limits: say("Within the limits?"),
  budget: say("Within the budget?"), context: say("Earlier messages"), attachments: say("Files"),
  model: say("Model"), tool: say("Tool"), response_filter: say("Free of secrets?"), render: say("Formatting"),
  memory: say("Memory"), recall: say("Recall"), task: say("Task"), thread: say("Thread"), "context blocks": say("Blocks of the prompt"), save: say("Storage"), queue: say("Queue"), confirmation: say("Confirmation"),
  documents: say("Documents"), appointments: say("Appointments"), voice: say("Voice messages"), speech: say("Speech"),
};
const VERDICTS = { skipped: say("skipped"), yes: say("yes"), no: say("no") };
const KINDS = { message: say("message"), command: say("command"), button: say("button"), reaction: say("reaction") };
const OUTCOMES = {
  answered: say("answered"), refused: say("refused"), failed: say("failed"), done: say("done"),
  stopped: say("stopped"), waiting: say("waiting"),
};
let openCalls = new Set();

/** The decisions about the selected message, or else the latest ones of this room. */
export function drawDecisions(state, view) {
  const chosen = state.selected ? tracesOf(view, state.selected) : [];
  const traces = chosen.length ? chosen : view.traces.filter((trace) => trace.here);
  const children = [];
  if (state.selected && !chosen.length) {
    children.push(make("p", "note", say("There is no decision about this message (yet). The latest decisions in this conversation:")));
  }
  if (!traces.length) {
    children.push(make("p", "note", say("Write a message: every decision about it appears here, with its reason.")));
  }
  children.push(...traces.slice(0, chosen.length ? 4 : 12).map((trace, index) => drawTrace(trace, index === 0, view)));
  replaceIfChanged($("decisions"), children);
}

/** Traces of a message; those of an answer are of the message that it answers. */
function tracesOf(view, id) {
  const direct = view.traces.filter((trace) => trace.message_id === id);
  if (direct.length) {
    return direct;
  }
  const at = view.messages.findIndex((message) => message.id === id);
  if (at < 0 || !view.messages[at].by_bot) {
    return [];
  }
  const answered = view.messages[at].reply_to;
  if (answered && answered !== id) {
    const found = view.traces.filter((trace) => trace.message_id === answered);
    if (found.length) {
      return found;
    }
  }
  for (let index = at - 1; index >= 0; index -= 1) {
    const found = view.traces.filter((trace) => trace.message_id === view.messages[index].id);
    if (found.length) {
      return found;
    }
  }
  return [];
}

function drawTrace(trace, open, view) {
  const asked = view.messages.find((message) => message.id === trace.message_id);
  const box = make("details", "trace");
  box.open = open;
  const outcome = make("span", `outcome ${tone(trace.outcome)}`, OUTCOMES[trace.outcome] || trace.outcome.replaceAll("_", " "));
  const kind = KINDS[trace.kind] || trace.kind.replaceAll("_", " ");
  const title = make("span", "asked", asked?.text ? `“${asked.text.replace(/\s+/g, " ").slice(0, 60)}”` : kind);
  title.dir = "auto";
  box.append(make("summary", "", outcome, title, make("small", "", say("{number} ms", { number: trace.milliseconds.toLocaleString(page_locale) }))));
  box.append(make("ol", "steps", ...trace.decisions.map(drawDecision)));
  box.append(make("p", "trace-id", kind, " ", make("code", "", trace.message_id)));
  return box;
}

function drawDecision(decision) {
  const kind = decision.skipped ? "skipped" : decision.allowed ? "yes" : "no";
  const step = make("li", kind);
  const verdict = make("span", "visually-hidden", `${VERDICTS[kind]}: `);
  step.append(
    make("p", "", verdict, make("b", "", words(decision)), " ", make("code", "", decision.reason)),
  );
  if (decision.skipped) {
    step.append(make("p", "detail", say("Skipped: {reason}", { reason: decision.skipped })));
  } else if (decision.detail && decision.detail !== decision.reason) {
    step.append(make("p", "detail", decision.detail));
  }
  return step;
}

function words(decision) {
  return WORDS[`${decision.stage} ${decision.reason}`] || WORDS[decision.stage] || decision.stage;
}

function tone(outcome) {
  if (/answer|done|sent|handled|stored/.test(outcome)) {
    return "good";
  }
  return /fail|error|dead/.test(outcome) ? "bad" : "quiet";
}

/** The latest requests of the client library to the platform. */
export function drawRequests(view) {
  const children = view.calls.map((call) => {
    const key = `${call.at} ${call.method}`;
    const box = make("details", "call");
    box.open = openCalls.has(key);
    box.addEventListener("toggle", () => (box.open ? openCalls.add(key) : openCalls.delete(key)));
    const status = make("span", `status ${call.status < 300 ? "good" : "bad"}`, String(call.status || say("closed")));
    box.append(make("summary", "", status, make("code", "", call.method)));
    const body = make("pre", "", call.body === "{}" ? say("no body") : call.body);
    body.tabIndex = 0;
    box.append(body);
    return box;
  });
  if (!children.length) {
    children.push(make("p", "note", say("The requests of the client library to the platform appear here, unchanged.")));
  }
  if (openCalls.size > 100) {
    openCalls = new Set();
  }
  replaceIfChanged($("requests"), children);
}

function replaceIfChanged(target, children) {
  const holder = make("div", "", ...children);
  if (target.dataset.shown !== holder.textContent) {
    target.dataset.shown = holder.textContent;
    target.replaceChildren(...children);
  }
}
