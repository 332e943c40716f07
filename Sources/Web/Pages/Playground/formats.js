/** The same image in each format that pages use, with its bytes and the time to make it. */
const LADDER = Object.fromEntries(Object.entries({ jpg: "JPEG", webp: "WebP", avif: "AVIF", jxl: "JPEG XL" }).filter(([output]) => writes(output)));

/** Milliseconds that an image took to make, by its query and format: later answers come from the cache. */
const makingTimes = new Map();

/** The time that it took to make a result, also where an earlier one with the same pixels was made. */
function makingTime(result, values) {
  const key = `${query(values, ["output"])} ${result.type}`;
  const spent = timings(result).process;
  if (spent !== undefined) makingTimes.set(key, spent);
  return makingTimes.get(key);
}

async function formatsPanel(signal) {
  const steps = Object.entries(LADDER).map(([output, name]) => ({ output, name, tile: formatTile(output, name) }));
  climb(steps, signal);
  const quality = state.q ? `at quality ${state.q}` : "each at its default quality";
  return [
    el("p", { className: "note" }, `The result in ${steps.length} formats, ${quality}. Times are for decoding, transforming and encoding on this server.`),
    el("div", { className: "tiles ladder" }, steps.map(({ tile }) => tile.element)),
  ];
}

function formatTile(output, name) {
  const screen = el("div", { className: "screen checked" });
  const size = el("p", { className: "statement" }, "…");
  const share = el("div", { className: "share" });
  const note = el("p", { className: "note" });
  const use = el("button", { className: "quiet", type: "button", ariaLabel: `Use ${name}` }, "Use");
  use.addEventListener("click", () => update({ output }));
  const element = el("div", { className: "tile" }, screen, el("div", { className: "row spread" }, el("h3", {}, name), use), size, share, note);
  element.dataset.format = output;
  return { element, screen, size, share, note };
}

/** Requests one format after the other, so that none waits for the processor that another uses. */
async function climb(steps, signal) {
  let first = 0;
  for (const { output, name, tile } of steps) {
    try {
      const result = await requestImage(`/image?${query({ ...state, output })}`, signal);
      first ||= result.bytes;
      showStep(tile, result, first);
    } catch (error) {
      if (error.name === "AbortError") return;
      tile.size.textContent = "–";
      tile.note.textContent = `${name}: ${error.message}`;
    }
  }
}

function showStep(tile, result, first) {
  const time = makingTime(result, state);
  const saved = Math.round((1 - result.bytes / first) * 100);
  tile.size.textContent = bytes(result.bytes);
  tile.share.replaceChildren(bar(result.bytes / first));
  const change = saved ? `${Math.abs(saved)}% ${saved > 0 ? "smaller" : "larger"} than ${LADDER.jpg}` : "";
  tile.note.textContent = [change, time === undefined ? "from the cache" : milliseconds(time)].filter(Boolean).join(", ");
  if (result.image) tile.screen.replaceChildren(el("img", { src: result.image.src, alt: "" }));
}
