"use strict";

// The code is behind the # of the link. It moves into the form, and out of the browser's history.
function take() {
  const code = location.hash.slice(1);
  if (!code) return;
  document.getElementById("code").value = code;
  document.getElementById("log-in-code").hidden = true;
  document.getElementById("log-in-help").hidden = false;
  history.replaceState(null, "", location.pathname);
}
take();
addEventListener("hashchange", take); // a second link, in the window of the first one
