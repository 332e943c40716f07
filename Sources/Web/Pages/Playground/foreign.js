/*
 * Reads URLs of imgproxy and thumbor. Pure functions: a text in; out the service, the parameters of /image, and what has
 * no counterpart; null for any other text.
 */

function foreignImage(text) {
  const path = text.trim().match(/^(?:https?:\/\/[^/]+)?\/(.+)$/)?.[1];
  return path ? imgproxyImage(path) ?? thumborImage(path) : null;
}

// imgproxy: signature/options/plain/URL@extension, or the URL in base64url with an extension.

const RESIZING = { fit: "inside", fill: "cover", "fill-down": "cover", force: "fill", auto: "cover" };
const GRAVITY = {
  no: "top", so: "bottom", ea: "right", we: "left", noea: "top-right", nowe: "top-left", soea: "bottom-right", sowe: "bottom-left",
  ce: "center", sm: "attention",
};
const isOn = (text) => ["1", "t", "true"].includes(text);
const tolerance = (text) => String(Math.min(Math.max(Math.round(Number(text)), 1), 254));
const above0 = (text) => (Number(text) > 0 ? text : "");

const IMGPROXY = {
  resize: (type, w, h, enlarge, extend) => ({ ...IMGPROXY.resizing_type(type), ...IMGPROXY.size(w, h, enlarge, extend) }),
  size: (w, h, enlarge, extend) => ({ w: above0(w), h: above0(h), ...IMGPROXY.enlarge(enlarge), ...IMGPROXY.extend(extend) }),
  resizing_type: (type) => ({ fit: RESIZING[type] }),
  width: (w) => ({ w: above0(w) }),
  height: (h) => ({ h: above0(h) }),
  "min-width": (w) => ({ "min-w": above0(w) }),
  "min-height": (h) => ({ "min-h": above0(h) }),
  dpr: (ratio) => ({ dpr: ratio }),
  enlarge: (flag) => ({ enlarge: isOn(flag) ? "true" : "" }),
  extend: (flag) => (isOn(flag) ? { extend: "1" } : {}),
  gravity: (type, x, y) => (type === "fp" ? { a: "focal", fpx: x, fpy: y } : { a: GRAVITY[type] }),
  crop: (w, h, type = "ce") => {
    const isShare = [w, h].every((side) => Number(side) > 0 && Number(side) < 1);
    const share = (side) => `${Math.round(side * 1e4) / 100}p`;
    if (type === "nowe") return { crop: `0,0,${isShare ? `${share(w)},${share(h)}` : `${w},${h}`}` };
    return isShare && type === "ce" ? { crop: [(1 - w) / 2, (1 - h) / 2, w, h].map(share).join(",") } : null;
  },
  trim: (threshold, color) => ({ trim: tolerance(threshold), tbg: color }),
  padding: (...sides) => ({ pad: sides.filter(Boolean).join(",") }),
  rotate: (degrees) => ({ ro: String(Number(degrees) % 360) }),
  flip: (across, down) => ({ flop: isOn(across) ? "true" : "", flip: isOn(down) ? "true" : "" }),
  background: (...color) => ({ bg: color.length === 3 ? color.map((part) => Number(part).toString(16).padStart(2, "0")).join("") : color[0] }),
  blur: (sigma) => ({ blur: above0(sigma) }),
  sharpen: (sigma) => ({ sharp: above0(sigma) }),
  pixelate: (side) => ({ pixelate: Number(side) > 1 ? side : "" }),
  brightness: (value) => ({ bri: String(Math.round(Number(value) / 2.55)) }),
  quality: (quality) => ({ q: above0(quality) }),
  max_bytes: (count) => ({ max_bytes: above0(count) }),
  format: (name) => ({ output: formatOf(name) }),
  strip_metadata: (flag) => ({ metadata: isOn(flag) ? "" : "all" }),
  keep_copyright: (flag) => ({ metadata: isOn(flag) ? "" : "none" }),
  cachebuster: (text) => ({ v: text }),
  filename: (name) => ({ filename: name }),
  auto_rotate: (flag) => ({ orient: isOn(flag) ? "" : "none" }),
};
const SHORT = {
  rs: "resize", s: "size", rt: "resizing_type", w: "width", h: "height", mw: "min-width", mh: "min-height", el: "enlarge", ex: "extend",
  g: "gravity", c: "crop", t: "trim", pd: "padding", rot: "rotate", fl: "flip", bg: "background", bl: "blur", sh: "sharpen",
  pix: "pixelate", br: "brightness", q: "quality", mb: "max_bytes", f: "format", ext: "format", cb: "cachebuster", fn: "filename",
  ar: "auto_rotate", sm: "strip_metadata", kcr: "keep_copyright",
};
const formatOf = (name) => ({ jpeg: "jpg", tif: "tiff" })[name] ?? name;

function imgproxyImage(path) {
  const [signature, ...parts] = path.split("/");
  if (!/^[\w-]+$/.test(signature)) return null;
  const count = parts.findIndex((part) => !/^[a-z_-]+:[^/]*$/.test(part) || /^(https?|s3|local):/.test(part));
  const source = count < 0 ? null : imgproxySource(parts.slice(count));
  if (!source) return null;
  const values = {};
  const ignored = [];
  for (const option of parts.slice(0, count)) {
    const [name, ...given] = option.split(":");
    const read = IMGPROXY[SHORT[name] ?? name]?.(...given);
    if (read) Object.assign(values, read);
    else ignored.push(option);
  }
  if (source.format) values.output = formatOf(source.format);
  if (values.extend && (values.fit ?? "inside") === "inside") values.fit = "contain";
  delete values.extend;
  return { service: "imgproxy", values: withoutNothing({ url: source.url, ...values }), ignored };
}

function imgproxySource(parts) {
  if (parts[0] === "plain") {
    const [url, format] = parts.slice(1).join("/").split("@");
    return url ? { url: unescaped(url), format } : null;
  }
  const [encoded, format] = parts.join("").split(".");
  try {
    const url = new TextDecoder().decode(Uint8Array.from(atob(encoded.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0)));
    return /^[a-z0-9]+:\/\//i.test(url) ? { url, format } : null;
  } catch {
    return null;
  }
}

// thumbor: unsafe or signature/trim/crop/fit-in/size/alignment/smart/filters/URL.

const FILTERS = {
  quality: (quality) => ({ q: quality }),
  format: (name) => ({ output: formatOf(name) }),
  max_bytes: (count) => ({ max_bytes: count }),
  blur: (radius, sigma) => ({ blur: sigma ?? radius }),
  sharpen: (amount, radius) => ({ sharp: radius ?? amount }),
  brightness: (value) => ({ bri: value }),
  contrast: (value) => ({ con: value }),
  saturation: (factor) => ({ sat: factor }),
  grayscale: () => ({ filt: "greyscale" }),
  rotate: (degrees) => ({ ro: String((360 - (Number(degrees) % 360)) % 360) }),
  background_color: (color) => ({ bg: color }),
  fill: (color) => ({ bg: color, extend: "1" }),
  upscale: () => ({ enlarge: "true" }),
  no_upscale: () => ({ enlarge: "" }),
  round_corner: (radius) => ({ radius: radius.split("|")[0] }),
  strip_exif: () => ({}),
  strip_icc: () => ({}),
  strip_metadata: () => ({ metadata: "none" }),
};

function thumborImage(path) {
  const [, secret, rest] = path.match(/^(unsafe|[\w-]{27}=)\/(.+)$/) ?? [];
  if (!secret) return null;
  let left = rest;
  const take = (pattern) => {
    const found = left.match(pattern);
    if (found) left = left.slice(found[0].length);
    return found;
  };
  const values = {};
  const ignored = [];
  const trim = take(/^trim(?::(top-left|bottom-right))?(?::(\d+))?\//);
  if (trim) values.trim = tolerance(trim[2] ?? 10);
  const crop = take(/^(\d+)x(\d+):(\d+)x(\d+)\//)?.slice(1).map(Number);
  if (crop) values.crop = [crop[0], crop[1], crop[2] - crop[0], crop[3] - crop[1]].join(",");
  const fit = take(/^(?:adaptive-)?(full-)?(fit-in|stretch)\//);
  const size = take(/^(-?)(\d*)x(-?)(\d*)\//);
  if (size) {
    Object.assign(values, { w: above0(size[2]), h: above0(size[4]), flop: size[1] && "true", flip: size[3] && "true" });
    values.fit = fit ? (fit[2] === "stretch" ? "fill" : fit[1] ? "outside" : "inside") : "cover";
    if (!fit || fit[2] === "stretch") values.enlarge = "true";
  }
  const across = take(/^(left|center|right)\//)?.[1];
  const down = take(/^(top|middle|bottom)\//)?.[1];
  values.a = [down, across].filter((side) => side && side !== "center" && side !== "middle").join("-");
  if (take(/^smart\//)) values.a = "attention";
  for (const [, name, given] of (take(/^filters:(?:\w+\([^)]*\):?)+\//)?.[0] ?? "").matchAll(/(\w+)\(([^)]*)\)/g)) {
    const read = FILTERS[name]?.(...given.split(",").map((text) => text.trim()).filter(Boolean));
    if (read) Object.assign(values, read);
    else ignored.push(`${name}(${given})`);
  }
  if (values.extend && values.fit === "inside") values.fit = "contain";
  delete values.extend;
  const url = unescaped(left);
  if (!/[./]/.test(url)) return null;
  return { service: "thumbor", values: withoutNothing({ ...values, url: /^[a-z0-9]+:\/\//i.test(url) ? url : `http://${url}` }), ignored };
}

const withoutNothing = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value));

function unescaped(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// What the page does with them.

/** Shows a source, or the image that a URL of another service stands for. */
async function takeAddress(text) {
  const image = foreignImage(text) ?? (await wsrvImage(text));
  $("read-as").hidden = !image;
  if (!image) return takeSource(text);
  const left = image.ignored.length ? ` Left out: ${image.ignored.join(", ")}.` : "";
  $("read-as").textContent = `This was a URL of ${image.service}.${left}`;
  // The controls need a width; this one bounds nothing.
  const side = image.values.h && !image.values.w ? { w: "8192" } : {};
  state = { ...PLAIN, tab: state.tab, ...side, ...image.values, shape: image.values.h ? "free" : "auto" };
  return update({});
}

/** The server translates queries of wsrv.nl. */
async function wsrvImage(text) {
  const [, given] = text.trim().match(/^https?:\/\/(?:wsrv\.nl|images\.weserv\.nl)\/?\?(.+)$/i) ?? [];
  if (!given) return null;
  const { request, dialect } = await askJSON(`/explain?compat=wsrv&${given}`);
  const values = Object.fromEntries(request.parameters.map(({ name, value }) => [name, value || "1"]));
  return { service: "wsrv.nl", values: { ...values, url: request.url }, ignored: dialect.ignored.map(({ name }) => name) };
}
