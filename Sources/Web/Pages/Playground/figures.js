const FORMATS = {
  jpeg: "JPEG", jpg: "JPEG", png: "PNG", webp: "WebP", avif: "AVIF", heic: "HEIC", gif: "GIF", jxl: "JPEG XL", tiff: "TIFF", bmp: "BMP", ico: "ICO",
  svg: "SVG", "svg+xml": "SVG", json: "document",
};
const formatName = (type) => FORMATS[type.replace("image/", "")] ?? type;

function showFigures() {
  const { result, info } = shown;
  if (!result) return;
  for (const id of ["figures", "summary", "result", "panels"]) $(id).hidden = false;
  showAddress();
  const size = result.image ? `${dimensions(result.image.naturalWidth, result.image.naturalHeight)} ` : "";
  const source = info ? [dimensions(info.upright_width, info.upright_height), ` ${formatName(info.format)}, ${bytes(info.bytes)} → `] : [];
  const unseen = result.image ? "" : " This browser does not support the format; the figures are correct.";
  $("summary").replaceChildren(...source, el("strong", {}, `${size}${formatName(result.type)}, ${bytes(result.bytes)}`), unseen);
  showBytes(result, info);
  showAnswer(result.fields.get("Cache-Status") ?? "");
  showTiming(result);
  say(`Result: ${size}${formatName(result.type)}, ${bytes(result.bytes)}. ${$("saved").textContent}. ${$("answered").textContent}.`);
}

function showBytes(result, info) {
  const saved = info ? 1 - result.bytes / info.bytes : 0;
  const percent = Math.round(Math.abs(saved) * 100);
  $("saved").textContent = !info ? bytes(result.bytes) : percent === 0 ? "Unchanged" : `${percent}% ${saved > 0 ? "saved" : "larger"}`;
  $("saved").classList.toggle("good", saved > 0.005);
  const most = Math.max(result.bytes, info?.bytes ?? 0);
  const line = (name, count, kind) => [el("span", { className: "soft" }, name), bar(count / most, kind), el("span", {}, bytes(count))];
  $("sizes").replaceChildren(...(info ? line("Original", info.bytes, "") : []), ...line("Result", result.bytes, "lit"));
}

/** Parses the parameters of a Cache-Status field with one member (RFC 9211). */
function parseCacheStatus(value) {
  const [, ...parts] = value.split(";");
  return Object.fromEntries(parts.map((part) => { const [name, text = "true"] = part.trim().split("="); return [name, text]; }));
}

function showAnswer(value) {
  const status = parseCacheStatus(value);
  const place = { memory: 0, disk: 1, "original-memory": 2, "original-disk": 2, "original-miss": 3 }[status.detail] ?? 3;
  const asked = status["fwd-status"] !== undefined;
  $("answered").textContent = asked && place < 3 ? "Revalidated" : ["Memory", "Disk", "Original", "Origin"][place];
  all("li", $("path")).forEach((step, at) => {
    step.classList.toggle("passed", at < place);
    step.classList.toggle("lit", at === place);
  });
  const ttl = Number(status.ttl);
  const fresh = Number.isNaN(ttl) ? "" : ttl >= 0 ? `Fresh for ${span(ttl)}.` : `Stale for ${span(-ttl)}.`;
  const from = {
    "original-memory": "Made from the original in memory.", "original-disk": "Made from the original on disk.",
    "original-miss": state.url.startsWith("local:") ? "Read and transformed." : "Downloaded and transformed.",
  }[status.detail] ?? "";
  const shared = status.collapsed ? "Shared with another request." : "";
  $("answered-note").textContent = [from, shared, fresh].filter(Boolean).join(" ");
}

const PARTS = { fetch: "Download", queue: "Queue", process: "Decode, transform, encode", store: "Store" };

/** Milliseconds by the name of the part (Server-Timing). */
const timings = (result) => Object.fromEntries((result.fields.get("Server-Timing") ?? "").split(",").map((part) => {
  const [name, duration = ""] = part.trim().split(";");
  return [name, Number(duration.replace("dur=", "")) || 0];
}));

/** What the server did to get the original. */
function fetchName(result) {
  const status = parseCacheStatus(result.fields.get("Cache-Status") ?? "");
  if (status["fwd-status"] === undefined && status.detail !== "original-miss") return "Look up";
  return state.url.startsWith("local:") ? "Read" : "Download";
}

function showTiming(result) {
  const spent = timings(result);
  const total = spent.total || 1;
  $("took").textContent = milliseconds(spent.total ?? 0);
  const parts = Object.entries(PARTS).map(([key, name], at) => ({ name: key === "fetch" ? fetchName(result) : name, spent: spent[key], kind: `n${at + 1}` }))
    .filter((part) => part.spent >= 0.05);
  const legend = (part) => el("li", {}, el("i", { className: part.kind }), `${part.name} ${milliseconds(part.spent)}`);
  $("timing").replaceChildren(...parts.map((part) => bar(part.spent / total, part.kind).firstChild));
  $("timing").setAttribute("aria-label", parts.map((part) => `${part.name} ${milliseconds(part.spent)}`).join(", ") || "No work needed");
  $("timing-legend").replaceChildren(...parts.map(legend));
  if (!parts.length) $("timing-legend").replaceChildren(el("li", { className: "soft" }, "No work needed."));
}

/** The bar with the URL of the result. */
async function showAddress() {
  try {
    const target = await address(state, newest("address"));
    $("address").value = target;
    $("address-open").href = target;
  } catch (error) {
    if (error.name !== "AbortError") $("result").hidden = true;
  }
}
