// The console's own script: local times, the command palette, live updates, progress. Pages work
// without it, except that the code of a login link is then typed.
(() => {
  "use strict";
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);

  // --- the menu, which scrolls in a narrow window -------------------------------------------------
  const current = document.querySelector(".menu a[aria-current]");
  // Not scrollIntoView: it would also move the place from which the Tab key goes on.
  if (current) current.closest("ul").scrollLeft = current.offsetLeft - (innerWidth - current.offsetWidth) / 2;

  // --- times in the reader's zone ---------------------------------------------------------------
  const shown = new Intl.DateTimeFormat(page_locale, { dateStyle: "medium", timeStyle: "short" });
  const parts = { time: new Intl.DateTimeFormat(page_locale, { timeStyle: "short" }), day: new Intl.DateTimeFormat(page_locale, { dateStyle: "full" }) };
  const whole = new Intl.DateTimeFormat(page_locale, { dateStyle: "full", timeStyle: "long" });
  function localise(inside) {
    for (const one of inside.querySelectorAll("time[datetime]")) {
      const at = new Date(one.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      one.textContent = (parts[one.dataset.show] || shown).format(at);
      one.title = whole.format(at);
    }
  }

  // --- sign-in: the code is behind the # of the link ---------------------------------------------
  function signIn() {
    const form = byId("sign-in");
    if (!form) return;
    form.elements.zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone || "";
    const code = location.hash.slice(1);
    if (!code) return;
    form.elements.link.value = code;
    byId("sign-in-code").hidden = true;
    byId("sign-in-help").textContent = say("This link signs this browser in, once.");
    history.replaceState(null, "", location.pathname);
  }
  function comeAgain() {
    const again = byId("again");
    if (!again) return;
    // At most once: a page that arrives without the cookie again shows how to sign in.
    again.href = location.href;
    location.replace(location.href);
  }

  // --- command palette ---------------------------------------------------------------------------
  function palette() {
    const dialog = byId("palette");
    if (!dialog) return;
    const text = byId("palette-text");
    const options = [...byId("palette-list").children];
    let current = 0;
    const visible = () => options.filter((one) => !one.hidden);
    function mark(index) {
      const rows = visible();
      current = rows.length ? (index + rows.length) % rows.length : 0;
      for (const one of options) one.setAttribute("aria-selected", String(one === rows[current]));
      const chosen = rows[current];
      if (!chosen) return text.removeAttribute("aria-activedescendant");
      text.setAttribute("aria-activedescendant", chosen.id);
      chosen.scrollIntoView({ block: "nearest" });
    }
    function open() {
      if (dialog.open) return;
      text.value = "";
      for (const one of options) one.hidden = false;
      dialog.showModal();
      mark(0);
      text.focus();
    }
    function go(option) {
      if (option) location.assign(option.dataset.href);
    }
    text.addEventListener("input", () => {
      const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const one of options) {
        const content = one.textContent.toLowerCase();
        one.hidden = !words.every((word) => content.includes(word));
      }
      mark(0);
    });
    text.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") mark(current + 1);
      else if (event.key === "ArrowUp") mark(current - 1);
      else if (event.key === "Enter") go(visible()[current]);
      else return;
      event.preventDefault();
    });
    for (const one of options) one.addEventListener("click", () => go(one));
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    byId("open-palette").addEventListener("click", open);
    document.addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
        event.preventDefault();
        open();
      }
    });
  }

  // --- live updates: an event names what changed, and parts of the page ask again -----------------
  function live() {
    const path = document.body.dataset.events;
    if (!path || !document.querySelector("[hx-trigger*='parley:']")) return;
    const followed = document.querySelector("[data-follow]");
    const source = new EventSource(followed ? `${path}?follow=${encodeURIComponent(followed.dataset.follow)}` : path);
    for (const topic of ["messages", "conversation", "health", "sends", "takeover", "playground"]) {
      source.addEventListener(topic, () => {
        if (!document.hidden) document.body.dispatchEvent(new CustomEvent(`parley:${topic}`));
      });
    }
    addEventListener("pagehide", () => source.close());
  }

  // --- "choose all" for the boxes of a form --------------------------------------------------------
  function choosing() {
    for (const button of document.querySelectorAll("[data-all]")) button.hidden = false;
  }
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-all]");
    if (!button) return;
    const boxes = [...button.form.querySelectorAll(`input[name="${button.dataset.all}"]`)];
    const wanted = boxes.some((one) => !one.checked);
    for (const one of boxes) one.checked = wanted;
  });

  // --- characters of a document, while a line of it is written -------------------------------------
  function counts() {
    for (const field of document.querySelectorAll("textarea[data-count]")) {
      const shown = byId(field.dataset.count);
      const { others, most, warn } = field.dataset;
      field.addEventListener("input", () => {
        const used = Number(others) + field.value.length;
        const near = used >= Number(warn), over = used > Number(most);
        const holes = { used, most: Number(most), over: used - most, left: most - used };
        if (over) shown.textContent = say("{used} of {most} characters: {over} too many", holes);
        else if (near) shown.textContent = say("{used} of {most} characters: {left} left", holes);
        else shown.textContent = say("{used} of {most} characters", holes);
        if (near && !shown.classList.contains("near")) byId("live").textContent = shown.textContent;
        shown.classList.toggle("near", near);
        shown.classList.toggle("over", over);
        // A text that is too long is not sent: the answer to a very long one could not return it.
        field.setCustomValidity(over ? say("The text is too long for this document.") : "");
      });
    }
  }

  // --- the decisions about a message open beside it where there is room, otherwise as a page ---------
  const roomy = matchMedia("(min-width: 70rem)");
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest("[data-beside]");
    if (link && (!roomy.matches || event.ctrlKey || event.metaKey || event.shiftKey)) event.stopPropagation();
  }, true);

  // --- progress of what takes longer than a second -------------------------------------------------
  let waiting = null;
  function busy() {
    clearTimeout(waiting);
    waiting = setTimeout(() => { byId("progress").hidden = false; }, 1000);
  }
  function idle() {
    clearTimeout(waiting);
    byId("progress").hidden = true;
  }

  document.addEventListener("submit", busy);
  document.addEventListener("htmx:before:request", busy);
  document.addEventListener("htmx:finally:request", idle);
  document.addEventListener("htmx:after:swap", (event) => {
    localise(document);
    choosing();
    const label = event.target instanceof Element && event.target.dataset.announce;
    if (label) byId("live").textContent = label;
  });
  addEventListener("pageshow", idle);

  root.classList.add("script");
  localise(document);
  choosing();
  signIn();
  comeAgain();
  palette();
  counts();
  live();
})();
