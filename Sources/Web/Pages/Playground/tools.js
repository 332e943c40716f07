function showTool() {
  const isComparing = state.tool === "compare";
  $("frame").hidden = !isComparing || !shown.result;
  $("desk").hidden = isComparing || !shown.result;
  $("marker").hidden = state.tool !== "focal";
  $("cropbox").hidden = state.tool !== "crop" || !state.crop;
  placeMarker();
  placeCrop();
}

function moveSplit() {
  const part = Number($("split").value);
  $("frame").style.setProperty("--split", `${part}%`);
  $("split").setAttribute("aria-valuetext", `${part} percent original`);
  const [left, right] = all(".tag", $("frame"));
  left.classList.toggle("gone", part < 14);
  right.classList.toggle("gone", part > 86);
}

/** Loads the whole source to edit; for a focal point, the cropped source. */
async function showWhole() {
  if (!state.url) return;
  const { url, orient, page, crop } = state;
  const wanted = { url, orient, page, n: "1", w: SCREEN, h: SCREEN, output: "webp", q: "92" };
  const target = `/image?${query(state.tool === "focal" ? { ...wanted, crop } : wanted)}`;
  if (target === shown.whole) return;
  const signal = newest("whole");
  try {
    const { image } = await requestImage(target, signal);
    shown.whole = target;
    replaceImage($("whole"), image);
    $("canvas").style.setProperty("--whole", ratioOf(image.naturalWidth, image.naturalHeight));
  } catch (error) {
    // The request for the result reports the problem.
    if (error.name !== "AbortError") shown.whole = "";
  }
}

function placeMarker() {
  const [x, y] = [Number(state.fpx || 0.5), Number(state.fpy || 0.5)];
  $("marker").style.setProperty("--x", x);
  $("marker").style.setProperty("--y", y);
  const [left, top] = [x, y].map((part) => Math.round(part * 100));
  $("marker").setAttribute("aria-label", `${left} percent from the left, ${top} percent from the top. Use the arrow keys to move it.`);
}

function setFocalPoint(x, y) {
  const text = (part) => String(Math.round(clamp(part, 0, 1) * 1000) / 1000);
  update({ fpx: text(x), fpy: text(y) });
}

/** The size of the source to which a crop applies: after EXIF orientation, or the selected orientation. */
function sourceSize() {
  const { info } = shown;
  if (!info) return { width: 0, height: 0 };
  if (!state.orient || state.orient === "auto") return { width: info.upright_width, height: info.upright_height };
  const isTurned = Number(state.orient) >= 5;
  return isTurned ? { width: info.height, height: info.width } : { width: info.width, height: info.height };
}

function readCrop() {
  const [x, y, width, height] = (state.crop ?? "").split(",").map(Number);
  return height ? { x, y, width, height } : null;
}

function setCrop(crop) {
  const size = sourceSize();
  if (!size.width) return;
  const width = clamp(Math.round(crop.width), 1, size.width);
  const height = clamp(Math.round(crop.height), 1, size.height);
  const x = clamp(Math.round(crop.x), 0, size.width - width);
  const y = clamp(Math.round(crop.y), 0, size.height - height);
  update({ crop: `${x},${y},${width},${height}` });
}

function placeCrop() {
  const crop = readCrop();
  const size = sourceSize();
  if (!crop || !size.width) return;
  const parts = { x: crop.x / size.width, y: crop.y / size.height, w: crop.width / size.width, h: crop.height / size.height };
  for (const [name, part] of Object.entries(parts)) $("cropbox").style.setProperty(`--${name}`, part);
  $("cropbox").setAttribute("aria-label",
    `${crop.width} by ${crop.height} pixels, ${crop.x} from the left, ${crop.y} from the top. Use the arrow keys to move it, with Shift to resize it.`);
}

/** The pointer position as fractions of the image size. */
function pointOf(event) {
  const box = $("editor").getBoundingClientRect();
  return { x: clamp((event.clientX - box.left) / box.width, 0, 1), y: clamp((event.clientY - box.top) / box.height, 0, 1) };
}

let drag = null;

function startDrag(event) {
  if (event.button !== 0 || !shown.info) return;
  const at = pointOf(event);
  $("editor").setPointerCapture(event.pointerId);
  if (state.tool === "focal") {
    drag = (to) => setFocalPoint(to.x, to.y);
    drag(at);
    $("marker").focus({ preventScroll: true });
  } else {
    drag = cropDrag(event.target, at);
  }
  event.preventDefault();
}

/** Handles a drag: a corner resizes the crop, its inside moves it, and elsewhere a new crop is drawn. */
function cropDrag(target, from) {
  const size = sourceSize();
  const old = readCrop();
  const corner = target.matches?.(".cropbox i") ? all("i", $("cropbox")).indexOf(target) : -1;
  if (old && corner >= 0) {
    const fixed = { x: old.x + (corner === 0 || corner === 3 ? old.width : 0), y: old.y + (corner < 2 ? old.height : 0) };
    return (to) => setCrop(between(fixed, { x: to.x * size.width, y: to.y * size.height }));
  }
  if (old && target === $("cropbox"))
    return (to) => setCrop({ ...old, x: old.x + (to.x - from.x) * size.width, y: old.y + (to.y - from.y) * size.height });
  const start = { x: from.x * size.width, y: from.y * size.height };
  return (to) => {
    const drawn = between(start, { x: to.x * size.width, y: to.y * size.height });
    if (drawn.width >= 2 && drawn.height >= 2) setCrop(drawn);
  };
}

const between = (one, other) => ({
  x: Math.min(one.x, other.x), y: Math.min(one.y, other.y), width: Math.abs(one.x - other.x), height: Math.abs(one.y - other.y),
});

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function nudgeMarker(event) {
  const arrow = ARROWS[event.key];
  if (!arrow) return;
  event.preventDefault();
  setFocalPoint(Number(state.fpx || 0.5) + arrow[0] / 50, Number(state.fpy || 0.5) + arrow[1] / 50);
}

function nudgeCrop(event) {
  const arrow = ARROWS[event.key];
  const crop = readCrop();
  if (!arrow || !crop) return;
  event.preventDefault();
  const [dx, dy] = arrow.map((part) => part * Math.max(1, Math.round(sourceSize().width / 100)));
  setCrop(event.shiftKey ? { ...crop, width: crop.width + dx, height: crop.height + dy } : { ...crop, x: crop.x + dx, y: crop.y + dy });
}

/** Creates an initial crop when the tool is selected. */
function offerCrop() {
  const size = sourceSize();
  if (state.crop || !size.width) return;
  setCrop({ x: size.width * 0.15, y: size.height * 0.15, width: size.width * 0.7, height: size.height * 0.7 });
}

function takeTool(tool) {
  update({ tool });
  if (tool === "focal" && state.a !== "focal") update({ a: "focal" });
  if (tool === "crop") offerCrop();
  showTool();
}
