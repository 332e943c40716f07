/*
 * The fields below the fixed controls. A field of a parameter that this server lacks is left out, and a parameter
 * without a field here gets one in the last group.
 */

const range = (name, label, min, max, step, rest, unit = "") => ({ name, label, kind: "range", min, max, step, rest, unit });
const choice = (name, label, options) => ({ name, label, kind: "select", options });
const check = (name, label) => ({ name, label, kind: "check" });
const text = (name, label, placeholder, type = "text") => ({ name, label, kind: "text", placeholder, type });
const color = (name, label, placeholder = "white or ffffff") => ({ name, label, kind: "color", placeholder });

/** A field whose kind follows from the values that the server accepts. */
function fitting(name, label, placeholder = "") {
  const values = VALUES.get(name) ?? "";
  const options = values.match(/^one of ([^,]+(?:, [^,]+)*)$/)?.[1].split(", ");
  if (options) return choice(name, label, { "": "Default", ...Object.fromEntries(options.map((option) => [option, title(option).replaceAll("-", " ")])) });
  if (values.startsWith("true, false")) return check(name, label);
  if (values.startsWith("a color") && !values.includes("two")) return color(name, label, placeholder || undefined);
  const [, kind, low, high] = values.match(/^an? (integer|number) from (-?[\d.]+) to (-?[\d.]+)/)?.map((part, at) => (at > 1 ? Number(part) : part)) ?? [];
  if (kind && high - low <= 1000) return range(name, label, low, high, kind === "integer" ? 1 : (high - low) / 100, "");
  return text(name, label, placeholder || values);
}

const withNone = (spec) => (spec.options ? { ...spec, options: { ...spec.options, "": "None" } } : spec);

const GROUPS = [
  ["Size", () => [
    fitting("ar", "Aspect ratio", "16:9"), fitting("min-w", "Minimum width", "200"), fitting("min-h", "Minimum height", "200"),
    range("dpr", "Device pixel ratio", 1, 4, 0.25, 1, "×"), check("enlarge", "Allow enlarging"),
    check("scaledown", "Scale down to the server's limits"),
  ]],
  ["Color", () => [
    range("bri", "Brightness", -100, 100, 1, 0, "%"), range("con", "Contrast", -100, 100, 1, 0, "%"),
    range("sat", "Saturation", 0, 3, 0.05, 1), range("hue", "Hue", 0, 359, 1, 0, "°"), range("gam", "Gamma", 0.3, 3, 0.05, 1),
    fitting("mod", "Lightness"), choice("filt", "Effect", { "": "None", greyscale: "Grayscale", sepia: "Sepia", negate: "Negative", bitonal: "Black and white" }),
    fitting("duotone", "Duotone", "1a237e,ffb300"), color("tint", "Tint", "rebeccapurple or 663399"), color("bg", "Background"),
    color("cbg", "Background of the canvas"), color("rbg", "Background of rotated corners"),
  ]],
  ["Shape and border", () => [
    withNone(fitting("mask", "Mask")), color("mbg", "Background of the mask"), check("mtrim", "Trim to the mask"),
    fitting("radius", "Corner radius", "16 or 50%"), fitting("pad", "Padding", "16"), fitting("border", "Border", "4,white"),
  ]],
  ["Text and watermark", () => [
    fitting("text", "Text", "Hello"), fitting("textsize", "Size of the text"), fitting("textcolor", "Color of the text"),
    fitting("texta", "Gravity of the text"), fitting("mark", "Watermark", "https://example.com/logo.png"), fitting("marka", "Gravity of the watermark"),
    fitting("markw", "Width of the watermark", "25%"), fitting("markh", "Height of the watermark", "25%"),
    fitting("markx", "Offset from the side", "16"), fitting("marky", "Offset from the top or bottom", "16"),
    fitting("markalpha", "Opacity of the watermark"), fitting("markblend", "Blend mode of the watermark"),
  ]],
  ["Sharpness", () => [
    range("blur", "Blur", 0, 40, 0.5, 0, "px"), range("sharp", "Sharpen", 0, 10, 0.1, 0, "px"), fitting("pixelate", "Pixelate", "8"),
    choice("redact", "Faces", { "": "Shown", face: "Blurred", "face:pixelate": "Pixelated", "face:000": "Covered" }),
    fitting("steps", "Effects in order", "blur:5,ro:90"), fitting("digest", "Hash of the source", "sha256:…"),
    fitting("sharpf", "Sharpening of flat areas", "0"), fitting("sharpj", "Sharpening of jagged areas", "3"),
    choice("resample", "Resampling", { "": "Default", fast: "Fast", accurate: "Accurate", linear: "Linear light" }),
  ]],
  ["Rotate and trim", () => [
    range("ro", "Rotate", 0, 359, 1, 0, "°"), check("flop", "Mirror horizontally"), check("flip", "Mirror vertically"),
    range("trim", "Trim borders (tolerance)", 0, 254, 1, 0), color("tbg", "Color of trimmed borders"),
    fitting("tcorner", "Corner of trimmed borders"), fitting("inset", "Cut off each side", "10,20"),
    fitting("facezoom", "Zoom to faces", "0.5"), fitting("focus", "Focal point in pixels (x,y)", "589,401"), check("swap", "Swap sides for upright images"),
    fitting("cut", "Cut after resizing (x,y,w,h)", "10,10,200,100"), fitting("rules", "Rules of sizes and order"),
    fitting("layout", "Layout of imgproxy's rules", "fill-down,dpr:2"),
    choice("orient", "Orientation", { "": "From EXIF", none: "As stored", 1: "1", 2: "2", 3: "3", 4: "4", 5: "5", 6: "6", 7: "7", 8: "8" }),
  ]],
  ["Encoding", () => [
    fitting("target", "Target of automatic quality"), fitting("slow_q", "Quality for slow connections", "50"), fitting("max_bytes", "Maximum bytes", "30000"), check("ll", "Lossless"),
    choice("chroma", "Resolution of colors", { "": "By the image", 420: "Half", 444: "Full" }),
    check("nl", "Near-lossless"), fitting("formats", "Formats for Auto, in order of preference", ["avif", "jxl", "webp"].filter(writes).join(",")),
    check("il", "Progressive or interlaced"), fitting("palette", "Palette PNG"), fitting("l", "Compression of PNG", "6"),
    fitting("af", "Filters of PNG rows"),
    choice("damaged", "Damaged source", { "": "Server default", refuse: "Is refused", show: "Is shown as far as possible" }),
    choice("metadata", "Metadata", { "": "Rights", none: "None", all: "Rights, description and EXIF" }),
    choice("gamut", "Colors", { "": "Server default", srgb: "sRGB", p3: "Display P3", source: "As wide as the source, up to P3" }),
    choice("depth", "Bits of a sample", { "": "8", source: "As many as the source, in AVIF, PNG and JPEG XL" }),
    choice("hdr", "HDR of a JPEG", { "": "If it is small", keep: "Keep", drop: "Drop" }),
    choice("passthrough", "Source as the result", { "": "Default", off: "Never", auto: "Where encoding saves nothing" }),
    text("n", "Number of frames or pages", "all", "number"), text("page", "First frame or page", "1"),
  ]],
  ["Caching and delivery", () => [
    choice("cache", "Cache mode", {
      "": "Default", "force-cache": "Prefer cached, even if stale", "only-if-cached": "Only if cached", "no-cache": "Revalidate",
      reload: "Reload", refresh: "Use cached, then refresh", "no-store": "Bypass and store nothing",
    }),
    choice("store", "Store results", {
      "": "Everywhere", memory: "In memory", original: "Original only", variant: "Variant only", none: "Nowhere",
    }),
    choice("wait", "Respond", { "": "Immediately", stored: "After writing to disk", best: "With the best format" }),
    choice("priority", "Priority", { "": "Normal", low: "Low", high: "High" }),
    text("maxage", "Maximum age", "7d"), text("filename", "File name", "holiday.jpg"), check("attachment", "Save instead of showing"),
    text("default", "Fallback image URL", "https://example.com/missing.png"),
    text("default-for", "Failures that it is for", "404,410"),
  ]],
];

/** The groups of this server, and one for parameters that have no field in them. */
function groups() {
  const known = GROUPS.map(([title, fields]) => [title, fields().filter(({ name }) => VALUES.has(name))]);
  const named = new Set([...all("[data-parameter]").map((control) => control.dataset.parameter), ...known.flatMap(([, fields]) => fields.map(({ name }) => name))]);
  const others = PARAMETERS.filter((name) => !named.has(name) && !["crop", "fit", "output"].includes(name));
  return [...known, ["More", others.map((name) => fitting(name, name))]].filter(([, fields]) => fields.length);
}

function buildControls() {
  for (const radio of all("[name=output]")) if (!VALUES.get("output").split(/, | /).includes(radio.value)) radio.closest("label").remove();
  for (const option of [...$("a").options]) if (!VALUES.get("a").split(/, | /).includes(option.value)) option.remove();
  $("quality-auto").closest("label").hidden = !/\bauto\b/.test(VALUES.get("q") ?? "");
  for (const [title, fields] of groups()) {
    const summary = el("summary", {}, el("span", {}, title), el("span", { className: "changed" }));
    $("more").append(el("details", {}, summary, el("div", { className: "stack" }, fields.map(field))));
  }
}

function field(spec) {
  const id = `p-${spec.name}`;
  const label = el("label", { htmlFor: id }, spec.label);
  if (spec.kind === "check") return el("label", { className: "check" }, parameterControl(spec, "input", { id, type: "checkbox" }), spec.label);
  if (spec.kind === "range") {
    const value = el("span", { className: "typed" }, typed(spec), spec.unit ? el("span", { className: "soft" }, spec.unit) : "");
    return el("div", { className: "field" }, el("div", { className: "row spread" }, label, value), slider(spec, id));
  }
  if (spec.kind === "select") return el("div", { className: "field" }, label, select(spec, id));
  const line = { id, type: spec.type ?? "text", placeholder: spec.placeholder, autocomplete: "off", spellcheck: false };
  const input = parameterControl(spec, "input", line);
  if (spec.kind !== "color") return el("div", { className: "field" }, label, input);
  const picker = el("input", { type: "color", ariaLabel: `Pick ${spec.label.toLowerCase()}` });
  picker.dataset.color = spec.name;
  return el("div", { className: "field" }, label, el("div", { className: "color" }, input, picker));
}

function parameterControl(spec, tag, properties, ...children) {
  const control = el(tag, properties, ...children);
  Object.assign(control.dataset, { parameter: spec.name, rest: spec.rest ?? "" });
  return control;
}

const slider = (spec, id) => parameterControl(spec, "input", { id, type: "range", min: spec.min, max: spec.max, step: spec.step });
/** The value of a slider as a number that can be typed, also beyond the slider's range. */
const typed = (spec) => parameterControl(spec, "input", { type: "number", step: "any", inputMode: "decimal", placeholder: spec.rest, ariaLabel: `${spec.label} as a number` });

function select(spec, id) {
  const allowed = (VALUES.get(spec.name) ?? "").replace(/^one of /, "").split(", ");
  const options = Object.entries(spec.options).filter(([value]) => !value || allowed.includes(value));
  const chosen = parameterControl(spec, "select", { id }, options.map(([value, label]) => el("option", { value }, label)));
  // The first option sends nothing, also where the browser has ordered numbers before it.
  chosen.prepend(...[...chosen.options].filter((option) => option.value === ""));
  return chosen;
}
