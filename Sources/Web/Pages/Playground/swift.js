const swiftOverHTTP = (target) => `import SwiftUI

AsyncImage(url: URL(string: ${quoted(target)})) { image in
    image.resizable().scaledToFit()
} placeholder: {
    ProgressView()
}`;

/** The Swift equivalent of each parameter. Parameters without one are listed in a comment. */
const RECIPE = {
  w: (v) => `box = Box(width: ${pixels(v.w, sourceSize().width)}, height: ${v.h ? pixels(v.h, sourceSize().height) : "nil"})`,
  h: (v) => (v.w ? "" : `box = Box(width: nil, height: ${pixels(v.h, sourceSize().height)})`),
  fit: (v) => `fit = .${v.fit}`,
  a: (v) => `position = ${swiftPosition(v)}`,
  fpx: () => "", fpy: () => "", output: () => "", q: () => "", target: () => "", ll: () => "", il: () => "", url: () => "",
  crop: (v) => `crop = Crop(${v.crop.split(",").map((side, at) => `${["x", "y", "width", "height"][at]}: ${swiftLength(side)}`).join(", ")})`,
  enlarge: () => "enlarge = true", scaledown: () => "scaleDown = true", flip: () => "flip = true", flop: () => "flop = true",
  ro: (v) => `rotationDegrees = ${v.ro}`, trim: (v) => `trim = Trim(threshold: ${v.trim})`, resample: (v) => `resampling = .${v.resample}`,
  bri: (v) => `brightness = Brightness(percent: ${v.bri})`, con: (v) => `contrast = Contrast(percent: ${v.con})`,
  sat: (v) => `saturation = Saturation(factor: ${v.sat})`,
  hue: (v) => `hue = Hue(degrees: ${v.hue})`, gam: (v) => `gamma = Gamma(exponent: ${v.gam})`,
  blur: (v) => `blur = Blur(sigma: ${v.blur})`, sharp: (v) => `sharpen = Sharpen(sigma: ${v.sharp})`, filt: (v) => `filter = .${v.filt}`,
};

const swiftLength = (text) => (isShare(text) ? `.percent(${parseFloat(text)})` : `.pixels(${Number(text)})`);

function swiftPosition({ a, fpx, fpy }) {
  if (a.startsWith("face")) return `.faces(FaceFocus(.${a === "face" ? "largest" : "all"}))`;
  if (a === "focal") return `.focal(x: ${fpx}, y: ${fpy})`;
  if (!/top|bottom|left|right/.test(a)) return `.${a}`;
  const x = /left/.test(a) ? "0" : /right/.test(a) ? "1" : "0.5";
  const y = /top/.test(a) ? "0" : /bottom/.test(a) ? "1" : "0.5";
  return `.anchor(x: ${x}, y: ${y})`;
}

function swiftInProcess() {
  const used = namesOf(state).filter((name) => state[name] && state[name] !== STANDARD[name] && hasEffect(name, state));
  const lines = used.map((name) => RECIPE[name]?.(state)).filter(Boolean).map((line) => `recipe.${line}`);
  const missing = used.filter((name) => !RECIPE[name]);
  if (missing.length) lines.push(`// Not shown: ${missing.join(", ")}.`);
  const output = [
    state.output && state.output !== "auto" ? `format: .${{ jpg: "jpeg" }[state.output] ?? state.output}` : "",
    state.q === "auto" ? `target: .${state.target || "medium"}` : state.q ? `quality: ${state.q}` : "", state.ll ? "lossless: true" : "", state.il ? "interlaced: true" : "",
  ].filter(Boolean).join(", ");
  return `import Darkroom

let pipeline = ImagePipeline()
var recipe = Recipe()
${lines.join("\n")}
let request = try ImageRequest(
    url: ${quoted(state.url)},
    recipe: recipe${output ? `, output: OutputOptions(${output})` : ""})
let image = try await pipeline.image(for: request)`;
}
