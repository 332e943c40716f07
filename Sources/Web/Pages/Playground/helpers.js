/** What precedes the server's paths, where a proxy serves them below a path of its own. */
const BASE = location.pathname.replace(/\/+$/, "");

const $ = (id) => document.getElementById(id);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

/** Creates an element with properties and children. Strings become text nodes, never markup. */
function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

/** Formats a byte count: in powers of 1000 for images, in powers of 1024 for cache budgets, like the settings. */
function bytes(count, base = 1000) {
  const units = base === 1000 ? ["B", "KB", "MB", "GB", "TB"] : ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= base - 0.5 && unit < units.length - 1) { count /= base; unit += 1; }
  return `${unit && count < 9.95 ? count.toFixed(1) : Math.round(count)} ${units[unit]}`;
}

function span(seconds) {
  const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const [name, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? units[3];
  const count = Math.round(seconds / size);
  return `${count} ${name}${Math.abs(count) === 1 ? "" : "s"}`;
}

const milliseconds = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
const number = (value) => Number(value).toLocaleString("en");
const dimensions = (width, height) => `${number(width)} × ${number(height)}`;
const counted = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;
const say = (text) => { $("live").textContent = text; };
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const ratioOf = (width, height) => String(Math.round((width / height) * 1e4) / 1e4);

function table(rows) {
  const body = rows.filter(([, value]) => value !== undefined && value !== null && value !== "")
    .map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value)));
  return el("table", { className: "pairs" }, el("tbody", {}, body));
}

/** A table. Columns whose names end in # contain numbers, in ~ long texts. */
function grid(columns, rows) {
  const kind = (column) => ({ "#": "number", "~": "free" })[column.at(-1)] ?? "";
  const head = columns.map((column) => el("th", { scope: "col", className: kind(column) }, column.replace(/[#~]$/, "")));
  const body = rows.map((row) => el("tr", {}, row.map((cell, at) => el("td", { className: kind(columns[at]) }, cell))));
  return el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, body));
}

function bar(part, kind = "lit") {
  const fill = el("i", { className: kind });
  fill.style.setProperty("--part", clamp(part || 0, 0, 1));
  return el("div", { className: "bar" }, fill);
}

/** Delays calls, and runs only the last of calls in quick succession. */
function debounced(work, delay) {
  let timer = 0;
  return () => { clearTimeout(timer); timer = setTimeout(work, delay); };
}
