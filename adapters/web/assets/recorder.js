// Voice messages: what the microphone records until the button is pressed again.

import { $ } from "./dom.js";

// Firefox records OGG, Chromium WebM, Safari MP4.
const TYPES = [["audio/ogg;codecs=opus", "ogg"], ["audio/webm;codecs=opus", "webm"], ["audio/mp4", "m4a"]];
const type = TYPES.find(([mime]) => globalThis.MediaRecorder?.isTypeSupported(mime));
let most = 0; // seconds of the longest recording; 0: recordings are not listened to
let running = null; // { recorder, began, clock }
let asking = false;
let done = async () => {};
let problem = () => {};

/** `onDone` takes a file and its seconds, `onProblem` a sentence. */
export function startRecorder(onDone, onProblem) {
  done = onDone;
  problem = onProblem;
  $("record").addEventListener("click", () => (running ? finish() : begin()));
}

/** Offer recordings of so many seconds, where the browser has a microphone for this page. */
export function allowRecording(seconds) {
  most = seconds;
  $("record").hidden = !(most && type && navigator.mediaDevices?.getUserMedia);
}

async function begin() {
  if (asking) {
    return;
  }
  asking = true;
  problem("");
  try {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } });
    listen(stream);
  } catch (error) {
    problem(error.name === "NotAllowedError" ? say("The browser does not let this page use the microphone. Allow it in the settings of the page.") : say("The microphone cannot be used: {reason}", { reason: error.message }));
  } finally {
    asking = false;
  }
}

function listen(stream) {
  const pieces = [];
  const recorder = new MediaRecorder(stream, { mimeType: type[0], audioBitsPerSecond: 32_000 });
  recorder.addEventListener("dataavailable", (event) => event.data.size && pieces.push(event.data));
  recorder.addEventListener("stop", () => {
    const seconds = (performance.now() - running.began) / 1000;
    clearInterval(running.clock);
    running = null;
    stream.getTracks().forEach((track) => track.stop());
    draw();
    done(new File(pieces, `${say("voice message")}.${type[1]}`, { type: type[0].split(";")[0] }), Math.min(seconds, most));
  });
  running = { recorder, began: performance.now(), clock: setInterval(tick, 250) };
  recorder.start(1000);
  draw();
}

function tick() {
  if ((performance.now() - running.began) / 1000 >= most) {
    finish();
  } else {
    draw();
  }
}

function finish() {
  if (running?.recorder.state === "recording") {
    running.recorder.stop();
  }
}

function draw() {
  const name = running ? say("Stop the recording") : say("Record a voice message");
  $("record").setAttribute("aria-pressed", String(Boolean(running)));
  $("record").setAttribute("aria-label", name);
  $("record").title = name;
  $("recorded").hidden = !running;
  if (running) {
    const seconds = Math.floor((performance.now() - running.began) / 1000);
    $("recorded").textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }
}
