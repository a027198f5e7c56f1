// Every page works without this file. It adds keys, the search dialog, live parts and plots.
"use strict";

// A form that was sent can't be sent twice by a second click. The page that follows gives the focus back to its button.
document.addEventListener("submit", (event) => {
  if (event.target.method !== "post") return;
  if (event.submitter?.id) sessionStorage.setItem("sent", `${window.location.pathname}#${event.submitter.id}`);
  if (event.target.dataset.sent) {
    event.preventDefault();
    return;
  }
  event.target.dataset.sent = "yes";
  window.setTimeout(() => { delete event.target.dataset.sent; }, 3000);
});

const $ = (selector) => document.querySelector(selector);
const open = (dialog) => { if (dialog && !dialog.open) dialog.showModal(); };
const [sentFrom, sentBy] = (sessionStorage.getItem("sent") ?? "").split("#");
sessionStorage.removeItem("sent");
if (sentBy && sentFrom === window.location.pathname) document.getElementById(sentBy)?.focus();

// The menu of a narrow window.
const menuButton = $(".menu-button");
menuButton?.addEventListener("click", () => {
  menuButton.setAttribute("aria-expanded", String($("#menu").classList.toggle("open")));
});

// The search dialog: a combobox over the fragments of /find.
const finder = $("#finder");
const words = $("#finder-words");
const options = () => [...document.querySelectorAll("#found [role=option]")];
const choose = (chosen) => {
  for (const option of options()) option.setAttribute("aria-selected", String(option === chosen));
  if (chosen) {
    words.setAttribute("aria-activedescendant", chosen.id);
    chosen.scrollIntoView({ block: "nearest" });
  } else words.removeAttribute("aria-activedescendant");
};
const openFinder = () => {
  open(finder);
  words.select();
  if (!options().length) window.htmx.trigger(words, "input");
};
$("[data-opens=finder]")?.addEventListener("click", (event) => {
  if (event.metaKey || event.ctrlKey || !finder) return;
  event.preventDefault();
  openFinder();
});
finder?.addEventListener("keydown", (event) => {
  const listed = options();
  const at = listed.findIndex((option) => option.getAttribute("aria-selected") === "true");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && listed.length) {
    event.preventDefault();
    choose(listed[(at + step + listed.length) % listed.length]);
  } else if (event.key === "Enter" && at >= 0) {
    event.preventDefault();
    window.location.assign(listed[at].dataset.href);
  }
});
finder?.addEventListener("click", (event) => {
  const option = event.target.closest("[role=option]");
  if (option) window.location.assign(option.dataset.href);
  else if (event.target === finder) finder.close();
});

// Keys: search, actions by the key that they show, rows by "j" and "k", and "g" followed by a page's letter.
let goingAt = 0;
const singleKeys = () => localStorage.getItem("single-keys") !== "off";
const switchOfKeys = $("#single-keys");
if (switchOfKeys) switchOfKeys.checked = singleKeys();
switchOfKeys?.addEventListener("change", () => localStorage.setItem("single-keys", switchOfKeys.checked ? "on" : "off"));
const stepThroughRows = (step) => {
  const rows = [...document.querySelectorAll("main tbody tr, main ol > li, main .items > *")]
    .filter((row) => row.checkVisibility() && row.querySelector("a, button"));
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  rows[Math.max(0, Math.min(rows.length - 1, at + step))]?.querySelector("a, button").focus();
};
const act = (element) => {
  element.click();
  const target = element.matches("summary") ? element.parentElement.querySelector("textarea, button") : element.matches("a[href^='#']") ? $(element.hash) : null;
  target?.focus();
  if (target?.matches("textarea")) target.select();
};
document.addEventListener("keydown", (event) => {
  if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k" && finder) {
    event.preventDefault();
    openFinder();
    return;
  }
  const typing = event.target.closest("input:not([type=checkbox], [type=radio]), textarea, select");
  if (typing && !typing.closest("dialog")) {
    if (event.key === "Escape") typing.blur();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) typing.form?.requestSubmit();
  }
  if (typing || !singleKeys() || event.metaKey || event.ctrlKey || event.altKey || document.querySelector("dialog[open]")) return;
  const going = Date.now() - goingAt < 1500;
  goingAt = 0;
  if (event.key === "/" && finder) {
    event.preventDefault();
    openFinder();
  } else if (event.key === "?") open($("#keys"));
  else if (going && /^[a-z]$/.test(event.key)) $(`[data-go="${event.key}"]`)?.click();
  else if (event.key === "g") goingAt = Date.now();
  else if (event.key === "j" || event.key === "k") stepThroughRows(event.key === "j" ? 1 : -1);
  else if (/^[a-z0-9]$/.test(event.key)) {
    const button = $(`[data-key="${event.key}"]`);
    if (button && !button.disabled) {
      event.preventDefault();
      act(button);
    }
  }
});

// Live parts: a tab that nobody sees asks for nothing, and asks at once when it is seen again.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden && event.detail.elt.hasAttribute("data-live")) event.preventDefault();
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) for (const part of document.querySelectorAll("[data-live]")) window.htmx?.trigger(part, "seen");
});
document.addEventListener("htmx:responseError", (event) => {
  // The login has ended, or a server is away: the page that says so is one click away, the part stays as it is.
  event.detail.elt.removeAttribute("data-live");
});
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id === "found") choose(options()[0]);
  if (event.detail.target.id === "charts") drawCharts();
});

// Plots: the numbers stand in the page (and in a table below each plot); uPlot draws them.
const plots = [];
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const shown = (value, unit) => {
  if (value === null || value === undefined) return "";
  if (unit === "seconds") {
    if (value >= 5400) return `${(value / 3600).toFixed(1)} h`;
    return value >= 100 ? `${(value / 60).toFixed(1)} min` : `${+value.toFixed(1)} s`;
  }
  if (value >= 1e6) return `${+(value / 1e6).toFixed(1)}M`;
  return value >= 1e4 ? `${+(value / 1e3).toFixed(1)}k` : String(+value.toFixed(1));
};
function drawCharts() {
  while (plots.length) plots.pop().destroy();
  if (!window.uPlot) return;
  for (const area of document.querySelectorAll("[data-plot]")) {
    const { times, lines, unit } = JSON.parse(area.dataset.plot);
    const strokes = [colour("--main"), colour("--warn")];
    const axis = { stroke: colour("--dim"), font: "11px system-ui, sans-serif", grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
    const format = Intl.DateTimeFormat(undefined, times.at(-1) - times[0] > 172800
      ? { day: "numeric", month: "short" } : { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    area.replaceChildren();
    plots.push(new window.uPlot({
      width: area.clientWidth,
      height: area.clientHeight,
      padding: [8, 18, 0, 0],
      cursor: { y: false },
      legend: { show: false },
      scales: { y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.1 : 1] } },
      axes: [
        { ...axis, grid: { show: false }, space: 60, size: 24, values: (_plot, at) => at.map((time) => format.format(time * 1000)) },
        { ...axis, size: 46, space: 34, values: (_plot, at) => at.map((value) => shown(value, unit)) },
      ],
      series: [{}, ...lines.map((line, place) => ({
        label: line.name, stroke: strokes[place], width: 2, spanGaps: false, points: { show: times.length < 40, size: 5 },
        fill: place === 0 ? `color-mix(in srgb, ${strokes[0]} 14%, transparent)` : undefined,
      }))],
    }, [times, ...lines.map((line) => line.values)], area));
  }
}
let drawing = 0;
const drawSoon = () => { window.clearTimeout(drawing); drawing = window.setTimeout(drawCharts, 150); };
window.addEventListener("resize", drawSoon);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawSoon);
drawCharts();
