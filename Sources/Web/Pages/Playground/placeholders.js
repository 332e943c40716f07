async function placeholderPanel(signal) {
  const wanted = query({ ...state, output: "json", q: "", ll: "", il: "" });
  const data = await askJSON(`/image?${wanted}&fields=color,palette,blurhash,thumbhash,lqip`, { signal });
  const ratio = Number($("canvas").style.getPropertyValue("--ratio")) || 1.5;
  const tiles = el("div", { className: "tiles" },
    tile("BlurHash", drawn(blurHash(data.blurhash, ratio)), data.blurhash),
    tile("ThumbHash", drawn(thumbHash(data.thumbhash, ratio)), data.thumbhash),
    tile("LQIP", el("img", { src: data.lqip, alt: "" }), data.lqip),
    tile("Color", colored(el("span"), data.dominant_color), data.dominant_color));
  const button = el("button", { type: "button", ariaPressed: "false" }, "Show the image");
  button.addEventListener("click", () => {
    const isShown = tiles.classList.toggle("shown");
    button.setAttribute("aria-pressed", String(isShown));
    button.textContent = isShown ? "Show the placeholders" : "Show the image";
  });
  const colors = data.palette ?? [];
  const swatches = colors.map((color) => colored(el("li", { title: color }), color));
  const palette = el("ul", { className: "swatches", ariaLabel: `Palette: ${colors.join(", ")}` }, swatches);
  return [
    el("div", { className: "row spread" }, el("p", { className: "note" }, "Placeholders that a page can show while the image loads."), button),
    tiles, el("div", { className: "stack tight" }, el("h3", {}, "Palette"), palette),
  ];
}

function colored(element, color) {
  element.style.setProperty("background", color);
  return element;
}

function tile(name, screen, value) {
  const real = el("img", { src: $("after").src || $("before").src, alt: "", className: "real" });
  const copy = el("button", { className: "quiet", type: "button", ariaLabel: `Copy ${name}` }, "Copy");
  copy.addEventListener("click", async () => { await copyText(value); say(`${name} copied`); });
  return el("div", { className: "tile" },
    el("div", { className: "screen" }, screen, real),
    el("div", { className: "row spread" }, el("h3", {}, name), copy),
    el("code", { className: "hash" }, value.length > 40 ? `${value.slice(0, 36)}…` : value),
    el("span", { className: "note" }, counted(value.length, "character")));
}

function drawn({ width, height, pixels }) {
  const canvas = el("canvas", { width, height, ariaHidden: "true" });
  canvas.getContext("2d").putImageData(new ImageData(pixels, width, height), 0, 0);
  return canvas;
}

/** Renders a small image from a function that returns the color at a position, as samples from 0 to 1. */
function painted(ratio, colorAt) {
  const width = Math.round(32 * Math.min(1, ratio)) || 1;
  const height = Math.round(32 / Math.max(1, ratio)) || 1;
  const pixels = new Uint8ClampedArray(width * height * 4);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1)
      pixels.set(colorAt((x + 0.5) / width, (y + 0.5) / height).map((sample) => Math.round(sample * 255)), (y * width + x) * 4);
  return { width, height, pixels };
}

/** Evaluates a sum of cosines at a position. Each term is [across, down, factors]. */
function cosines(terms, x, y) {
  const sum = new Array(terms[0][2].length).fill(0);
  for (const [across, down, factors] of terms) {
    const basis = Math.cos(Math.PI * across * x) * Math.cos(Math.PI * down * y);
    factors.forEach((factor, at) => { sum[at] += factor * basis; });
  }
  return sum;
}

const BASE83 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~";

function blurHash(hash, ratio) {
  const digits = (from, to) => [...hash.slice(from, to)].reduce((value, digit) => value * 83 + BASE83.indexOf(digit), 0);
  const linear = (sample) => (sample <= 0.04045 ? sample / 12.92 : ((sample + 0.055) / 1.055) ** 2.4);
  const encoded = (light) => (light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055);
  const most = (digits(1, 2) + 1) / 166;
  const factor = (step) => Math.sign(step - 9) * ((step - 9) / 9) ** 2 * most;
  const [across, down] = [(digits(0, 1) % 9) + 1, Math.floor(digits(0, 1) / 9) + 1];
  const mean = digits(2, 6);
  const terms = [[0, 0, [mean >> 16, (mean >> 8) & 255, mean & 255].map((sample) => linear(sample / 255))]];
  for (let at = 1; at < across * down; at += 1) {
    const packed = digits(4 + at * 2, 6 + at * 2);
    terms.push([at % across, Math.floor(at / across), [Math.floor(packed / 361), Math.floor(packed / 19) % 19, packed % 19].map(factor)]);
  }
  return painted(ratio, (x, y) => [...cosines(terms, x, y).map((light) => encoded(clamp(light, 0, 1))), 1]);
}

function thumbHash(base64, ratio) {
  const hash = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const bit = (at) => (hash[at >> 3] >> (at & 7)) & 1;
  const bits = (at, count) => (count ? bit(at) + 2 * bits(at + 1, count - 1) : 0);
  const [hasAlpha, isLandscape] = [bits(23, 1), bits(39, 1)];
  const long = hasAlpha ? 5 : 7;
  const side = Math.max(3, bits(24, 3));
  let at = (hasAlpha ? 6 : 5) * 8;
  // A channel: its mean, then the factors of the low frequencies, without the corner opposite the mean.
  const channel = (mean, across, down, scale) => {
    const terms = [[0, 0, [mean]]];
    for (let row = 0; row < down; row += 1)
      for (let column = row ? 0 : 1; column * down < across * (down - row); column += 1, at += 4)
        terms.push([column, row, [2 * scale * (bits(at, 4) / 7.5 - 1)]]);
    return terms;
  };
  const light = channel(bits(0, 6) / 63, isLandscape ? long : side, isLandscape ? side : long, bits(18, 5) / 31);
  const yellow = channel(bits(6, 6) / 31.5 - 1, 3, 3, (bits(27, 6) / 63) * 1.25);
  const red = channel(bits(12, 6) / 31.5 - 1, 3, 3, (bits(33, 6) / 63) * 1.25);
  const alpha = hasAlpha ? channel(bits(40, 4) / 15, 5, 5, bits(44, 4) / 15) : [[0, 0, [1]]];
  return painted(ratio, (x, y) => {
    const [l, p, q, a] = [light, yellow, red, alpha].map((terms) => cosines(terms, x, y)[0]);
    const b = l - (2 / 3) * p;
    const r = (3 * l - b + q) / 2;
    return [r, r - q, b, a].map((sample) => clamp(sample, 0, 1));
  });
}
