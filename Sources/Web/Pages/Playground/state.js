/** What the server states about itself. */
const SERVER = JSON.parse($("server").textContent);
/** The values that the server accepts for each parameter of /image, as a phrase. */
const VALUES = new Map(SERVER.parameters.map(({ name, values }) => [name, values]));
/** Whether the server has an encoder for a format. */
const writes = (output) => !SERVER.unwritable.includes(output);
/** The parameters that this page sets: all but the ones for documents, and other spellings. */
const PARAMETERS = [...VALUES.keys()]
  .filter((name) => !["fields", "placeholder", "we", "compat", "encoding", "v", "_"].includes(name));
/** Whether the page passes a parameter on without a control of its own: a preset, a named image or a named text. */
const isPassed = (name) => name === "preset" || /^(mark|text)\.[a-z0-9-]{1,32}(\.[a-z]+)?$/.test(name);
/** The names of the parameters that may have values, in the order of queries. */
const namesOf = (values) => [...PARAMETERS, ...Object.keys(values).filter(isPassed)];
/** The parameters that decide which pixels are visible, rather than how they look. */
const GEOMETRY = ["ar", "fit", "a", "fpx", "fpy", "crop", "trim", "tbg", "orient", "ro", "rbg", "flip", "flop", "cut", "rules", "bg", "cbg", "enlarge", "n", "page"];
const STANDARD = { fit: "inside", a: "center", output: "auto" };
const PLAIN = { view: "image", tab: "code", tool: "compare", shape: "auto" };

let state = { ...PLAIN };

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
  const next = { ...PLAIN };
  for (const name of [...Object.keys(PLAIN), ...PARAMETERS]) if (given.has(name)) next[name] = given.get(name);
  for (const [name, value] of given) if (isPassed(name)) next[name] = value;
  return next;
}

function writeAddress(isStep) {
  const pairs = [...Object.keys(PLAIN), ...namesOf(state)]
    .filter((name) => state[name] && state[name] !== PLAIN[name] && state[name] !== STANDARD[name])
    .map((name) => `${name}=${encodeURIComponent(state[name]).replaceAll("%2F", "/").replaceAll("%3A", ":").replaceAll("%2C", ",")}`);
  history[isStep ? "pushState" : "replaceState"](null, "", `#${pairs.join("&")}`);
}

const refreshSoon = debounced(() => refresh(), 120);

/** Applies a change and everything that follows from it. */
function update(patch) {
  const before = state;
  state = completed({ ...state, ...patch }, patch);
  writeAddress(state.url !== before.url || state.view !== before.view);
  render();
  if (state.view === "image") refreshSoon();
}

/** Completes a state with the values that others require. */
function completed(next, patch) {
  if ("h" in patch) next.shape = patch.h ? "free" : "auto";
  if ("ar" in patch) Object.assign(next, { shape: "auto", h: "", fit: fitOf(patch.ar || "auto", next.fit) });
  if (patch.shape) Object.assign(next, { ar: "", fit: fitOf(patch.shape, next.fit) });
  if (patch.a === "focal" || "fpx" in patch) Object.assign(next, { a: "focal", fit: next.fit === "contain" ? "contain" : "cover" });
  const needsBox = (patch.fit && patch.fit !== "inside") || "fpx" in patch || patch.a === "focal";
  if (needsBox && next.shape === "auto" && !next.ar) next.shape = "1:1";
  if (next.a === "focal") { next.fpx ||= "0.5"; next.fpy ||= "0.5"; } else { next.fpx = ""; next.fpy = ""; }
  return withHeight(next);
}

/** The fit of a newly chosen shape. Within a box of that shape, the result would keep the ratio of the source. */
function fitOf(shape, fit) {
  if (shape === "auto") return fit === "cover" ? "" : fit;
  return !fit || fit === "inside" ? "cover" : fit;
}

const isShare = (side) => /[p%]$/.test(side ?? "");
/** A side in pixels; a share (`50%` or `50p`) is one of the source. */
const pixels = (side, whole) => (isShare(side) ? Math.round((parseFloat(side) / 100) * whole) : Number(side || 0));

/** Gives the shape a height, or a ratio where the width is a share of a source whose size the server knows. */
function withHeight(next) {
  if (next.ar === next.shape) next.ar = "";
  if (next.shape === "auto") return { ...next, h: "" };
  next.w ||= "640";
  const [across, down] = next.shape.split(":").map(Number);
  if (next.shape === "free") next.h ||= next.w;
  else if (across && down && isShare(next.w) && VALUES.has("ar")) Object.assign(next, { ar: next.shape, h: "" });
  else if (across && down) next.h = String(Math.max(1, Math.round((pixels(next.w, sourceSize().width || SCREEN) * down) / across)) || "");
  return next;
}

/** Builds a query, without empty values, values that have no effect, and the parameters to leave out. */
function query(values, omitted = []) {
  const given = namesOf(values).filter((name) => !omitted.includes(name) && values[name] && values[name] !== STANDARD[name] && hasEffect(name, values))
    .map((name) => `${name}=${encodeURIComponent(values[name]).replaceAll("'", "%27").replaceAll("%2C", ",")}`);
  return [...given, ...(SERVER.hasOtherDialect ? ["compat=darkroom"] : [])].join("&");
}

function hasEffect(name, values) {
  if (name === "formats") return (values.output || "auto") === "auto";
  if (name === "fit") return Boolean(values.w && values.h || values.ar);
  if (name === "a") return ["cover", "contain"].includes(values.fit) ? Boolean(values.h || values.ar) : Boolean(values.ar);
  if (name === "target") return values.q === "auto";
  if (name === "mbg" || name === "mtrim") return Boolean(values.mask);
  if (name === "tbg") return Boolean(values.trim);
  if (name === "tcorner") return Boolean(values.trim) && !values.tbg;
  if (name === "rbg") return Boolean(values.ro);
  if (name === "layout") return values.rules === "imgproxy";
  if (name === "default-for") return Boolean(values.default);
  if (name === "sharpf" || name === "sharpj") return Boolean(values.sharp);
  if (/^mark[a-z]/.test(name)) return Boolean(values.mark);
  if (/^text[a-z]/.test(name)) return Boolean(values.text);
  if (name === "fpx" || name === "fpy") return values.a === "focal" && hasEffect("a", values);
  return true;
}
