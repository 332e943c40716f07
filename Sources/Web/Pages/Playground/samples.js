/** The server's own images. */
const SAMPLES = [["samples/coffee.jpg", "Coffee"], ["samples/lake.jpg", "Lake at dusk"], ["samples/cat.jpg", "Cat"], ["samples/paper-plane.svg", "Drawing"]];

/** Images of the fixtures directory, shown if it is the local root. */
const FIXTURES = [
  ["sample.jpg", "Lake at dusk"], ["formats/alpha.png", "Transparent"], ["svg/drawing.svg", "Drawing"],
  ["animation/disposal.gif", "Animation"], ["formats/photo.avif", "AVIF"], ["geometry/zone-plate.jpg", "Fine lines"],
  ["geometry/attention.png", "Off-center"], ["orientation/f-6.jpg", "Rotated"], ["formats/photo.heic", "HEIC"],
  ["hostile/truncated.jpg", "Truncated"],
];

const isCorrupt = ([path]) => path.startsWith("hostile/");

async function findSamples() {
  if (needsToken()) return;
  const isThere = ([path]) => askJSON(`/info?${query({ url: `local:///${path}` })}`).then(() => true, () => false);
  const samples = SERVER.hasLocalFiles && (await isThere(FIXTURES[0])) ? FIXTURES : SAMPLES;
  // The corrupt sample is in the same folder. It is not requested, since its failure would be cached.
  const there = await Promise.all(samples.map((sample) => isCorrupt(sample) || isThere(sample)));
  if (!there[0]) return;
  $("samples").replaceChildren(...samples.filter((_, at) => there[at]).map(sample));
  $("samples").hidden = false;
  if (state.url) renderSamples();
  else takeSource(`local:///${samples[0][0]}`, samples === SAMPLES ? { w: "480" } : {});
}

function sample([path, name]) {
  const url = `local:///${path}`;
  const src = `/image?${query({ url, w: "192", h: "128", fit: "cover" })}`;
  const image = isCorrupt([path]) ? brokenImage() : token.read() ? authorized(src) : el("img", { src: BASE + src, alt: "", loading: "lazy" });
  const button = el("button", { type: "button" }, image, el("span", {}, name));
  button.dataset.url = url;
  button.addEventListener("click", () => takeSource(url));
  return el("li", {}, button);
}

/** An image loaded with the token, which an img element cannot send. */
function authorized(target) {
  const image = el("img", { alt: "" });
  ask(target).then((response) => response.blob()).then((blob) => { image.src = URL.createObjectURL(blob); }, () => {});
  return image;
}

function brokenImage() {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 48 32");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", "M11 6h26v13l-5 4-5-5-6 6-5-5-5 4zM29 12a2 2 0 1 0 .01 0");
  line.setAttribute("fill", "none");
  line.setAttribute("stroke", "currentColor");
  line.setAttribute("stroke-width", "1.5");
  svg.append(line);
  return svg;
}

function renderSamples() {
  for (const button of all("[data-url]", $("samples"))) button.setAttribute("aria-pressed", String(button.dataset.url === state.url));
}
