/** What is currently displayed. */
const shown = { query: "", url: "", info: null, result: null, before: "", whole: "" };
const SCREEN = 1600;

async function refresh(isAgain = false) {
  const target = state.url ? `/image?${query(state)}` : "";
  if (state.tool !== "compare") showWhole();
  if (target === shown.query && !isAgain) return refreshPanel();
  shown.query = target;
  const signal = newest("image");
  $("canvas").setAttribute("aria-busy", String(Boolean(target)));
  if (!target) return clearStage();
  try {
    const [result, before] = await Promise.all([requestImage(target, signal), original(signal)]);
    present(result, before);
    await describe(signal);
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    clearStage();
    $("blank").hidden = true;
    showTrouble($("trouble"), error);
    if (!["url", ""].includes(error.parameter)) await describe(signal).catch(() => {});
  }
  $("canvas").setAttribute("aria-busy", "false");
  return refreshPanel();
}

async function requestImage(target, signal) {
  const response = await ask(target, { signal });
  const blob = await response.blob();
  const image = await decoded(blob);
  return { target, image, bytes: blob.size, type: blob.type, fields: response.headers };
}

/** Decodes an image; null if the browser does not support the format. */
async function decoded(blob) {
  const image = new Image();
  image.src = URL.createObjectURL(blob);
  try {
    await image.decode();
    return image;
  } catch {
    URL.revokeObjectURL(image.src);
    return null;
  }
}

/** The original with the same framing as the result, and no other transform. */
async function original(signal) {
  const wanted = { url: state.url, output: "webp", q: "92" };
  for (const name of GEOMETRY) wanted[name] = state[name];
  const target = `/image?${query({ ...wanted, ...screenBox() })}`;
  if (target === shown.before) return null;
  try {
    return { target, image: (await requestImage(target, signal)).image };
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return { target: "", image: null };
  }
}

/** A box with the requested aspect ratio, as large as the screen needs. */
function screenBox() {
  if (state.ar) return { w: SCREEN, ar: state.ar };
  const [width, height] = [pixels(state.w, sourceSize().width), pixels(state.h, sourceSize().height)];
  if (!width || !height) return { w: SCREEN, h: SCREEN, fit: "inside" };
  let factor = SCREEN / Math.max(width, height);
  // An image that is not enlarged would appear smaller in a larger box than in the result's.
  if (state.fit === "contain" && shown.info && !state.enlarge)
    factor = Math.max(1, Math.min(factor, Math.max(shown.info.upright_width / width, shown.info.upright_height / height)));
  return { w: Math.max(1, Math.round(width * factor)), h: Math.max(1, Math.round(height * factor)) };
}

/** Loads the description of the source once. Called after the image is loaded, so that the source is cached. */
async function describe(signal) {
  if (shown.url !== state.url) {
    const url = state.url;
    const info = await askJSON(`/info?${query({ url })}`, { signal });
    Object.assign(shown, { url, info });
  }
  render();
  showFigures();
}

function present(result, before) {
  clearTrouble($("trouble"));
  if (before) {
    Object.assign(shown, { before: before.target });
    replaceImage($("before"), before.image);
  }
  shown.result = result;
  makingTime(result, state);
  if (shown.url !== state.url) shown.info = null;
  replaceImage($("after"), result.image);
  if (result.image) $("preview").src = result.image.src;
  const seen = result.image ?? $("before");
  $("frame").classList.toggle("unlike", isUnlike(seen, $("before")));
  $("canvas").style.setProperty("--ratio", ratioOf(seen.naturalWidth || 3, seen.naturalHeight || 2));
  $("canvas").style.setProperty("--most", `${Math.max(240, 2 * ($("before").naturalWidth || SCREEN), seen.naturalWidth)}px`);
  $("blank").hidden = true;
  showTool();
  showFigures();
}

/** Whether the two differ in shape, as where a border or padding surrounds the result only. */
const isUnlike = (one, other) => Math.abs(one.naturalWidth * other.naturalHeight / (one.naturalHeight * other.naturalWidth) - 1) > 0.02;

function replaceImage(element, image) {
  const old = element.src;
  element.hidden = !image;
  if (image) element.src = image.src;
  else element.removeAttribute("src");
  if (old.startsWith("blob:")) URL.revokeObjectURL(old);
}

function clearStage() {
  Object.assign(shown, { result: null, before: "" });
  for (const id of ["frame", "desk", "figures", "summary", "result", "panels"]) $(id).hidden = true;
  newest("address");
  $("address").value = "";
  $("address-open").removeAttribute("href");
  clearTrouble($("trouble"));
  $("blank").hidden = false;
}
