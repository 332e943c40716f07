async function explainPanel(signal) {
  const data = await askJSON(`/explain?${query(state)}`, { signal });
  const section = (title, ...parts) => el("section", {}, el("h3", {}, title), ...parts.filter(Boolean));
  return [
    section("Freshness", el("p", {}, data.freshness?.reason ?? ""), freshnessTable(data.freshness ?? {})),
    section("Plan", ...plan(data)),
    section("Format", table([["Media type", data.format?.mime_type], ["Reason", data.format?.reason]])),
    section("Cache entries", cachesTable(data.caches ?? [])),
    section("Keys", keysTable(data.keys ?? {})),
    section("Limits", limitsTable(data.limits ?? [])),
    section("Request", el("code", {}, data.request?.canonical ?? "")),
  ];
}

/** Each key is derived from the ones before it. */
const KEYS = {
  filter: "Filter", identity: "Identity", source: "Source", record: "Record", original: "Original", encoder_epoch: "Encoders",
  variant: "Variant",
};
const keysTable = (keys) => table(Object.entries(KEYS).map(([name, label]) => [label, keys[name] && el("code", {}, keys[name])]));

const freshnessTable = (data) => table([
  ["Decision", data.decision], ["Reason", data.because], ["Rule", data.rfc],
  ["Freshness lifetime", seconds(data.lifetime_seconds)], ["Age", seconds(data.age_seconds)], ["Remaining", seconds(data.remaining_seconds)],
]);
const seconds = (value) => (typeof value === "number" ? span(value) : undefined);

function plan({ plan, plan_missing: missing }) {
  if (!plan) return [el("p", { className: "soft" }, missing ?? "There is no plan.")];
  const { source, output } = plan;
  const step = ({ name, width, height }) => el("li", {}, el("b", {}, name), dimensions(width, height));
  const first = { ...source, name: `source, ${formatName(source.format)}` };
  const steps = [first, ...(plan.steps ?? [])].map(step);
  return [
    el("ol", { className: "steps" }, steps),
    table([
      ["Result", output ? `${dimensions(output.width, output.height)}, ${counted(output.frames ?? 1, "frame")}` : undefined],
      ["Encoder's effort", plan.effort === undefined ? undefined : String(plan.effort)],
      ["Instead of", plan.preferred_format && formatName(plan.preferred_format)],
      ["Shrink on load", plan.shrink_on_load > 1 ? `${plan.shrink_on_load} times` : "none"],
      ["Estimated memory", plan.estimated_memory_bytes === undefined ? undefined : bytes(plan.estimated_memory_bytes)],
    ]),
  ];
}

function cachesTable(caches) {
  const row = ({ entry, memory, disk, bytes: count }) => [entry, yes(memory), yes(disk), typeof count === "number" ? bytes(count) : ""];
  return el("div", { className: "scroll" }, grid(["Entry", "Memory", "Disk", "Bytes#"], caches.map(row)));
}

const yes = (value) => (value ? "yes" : "no");

function limitsTable(limits) {
  const row = ({ setting, value, limit, share }) => [el("code", {}, setting), number(value), number(limit), bar(share)];
  return el("div", { className: "scroll" }, grid(["Setting", "Value#", "Limit#", "Share"], limits.map(row)));
}

async function infoPanel(signal) {
  const data = await askJSON(`/info?${query({ url: state.url })}&fields=exif`, { signal });
  const { metadata = {}, exif = {} } = data;
  return [table([
    ["Format", `${formatName(data.format)}, ${data.mime_type}`], ["Bytes", number(data.bytes)],
    ["Size", dimensions(data.upright_width, data.upright_height)],
    ["As stored", `${dimensions(data.width, data.height)}, orientation ${data.orientation}`],
    ["Frames or pages", data.pages > 1 ? number(data.pages) : undefined],
    ["Color", [data.color_space, `${data.bit_depth} bits`, data.has_alpha && "with alpha", data.icc_profile, data.hdr && "HDR"].filter(Boolean).join(", ")],
    ["Chroma subsampling", data.chroma_subsampling], ["Progressive", yes(data.progressive)],
    ...Object.entries({ ...metadata, ...exif }).map(([name, value]) => [title(name), String(value)]),
    ["SHA-256", el("code", {}, data.sha256)],
  ])];
}

const title = (name) => `${name[0].toUpperCase()}${name.slice(1)}`.replaceAll("_", " ");
