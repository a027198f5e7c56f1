// Nothing here is needed: every page works without. A form that was sent can't be sent twice by a second click.
"use strict";
document.addEventListener("submit", (event) => {
  if (event.target.dataset.sent) {
    event.preventDefault();
    return;
  }
  event.target.dataset.sent = "yes";
  window.setTimeout(() => { delete event.target.dataset.sent; }, 3000);
});
