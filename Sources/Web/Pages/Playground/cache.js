const TIERS = { memory: "Memory", disk: "Disk", decoded: "Decoded images" };
const TIER_FACTS = { evictions: "Evictions", damaged: "Corrupt entries", dropped_writes: "Dropped writes", queued_writes: "Queued writes" };

async function showTiers() {
  const tiers = await askJSON("/cache", { admin: true, signal: newest("tiers") });
  $("tiers").replaceChildren(...Object.keys(TIERS).filter((name) => tiers[name]).map((name) => tier(TIERS[name], tiers[name])));
}

function tier(name, data) {
  const share = data.budget_bytes ? data.bytes / data.budget_bytes : 0;
  const fill = `${bytes(data.bytes, 1024)} of ${bytes(data.budget_bytes, 1024)}`;
  const asked = data.hits + data.misses;
  const full = bar(Math.max(share, data.bytes ? 0.005 : 0));
  full.setAttribute("role", "img");
  full.setAttribute("aria-label", `${name}: ${fill}`);
  const found = asked ? `${number(data.hits)} of ${number(asked)} (${Math.round((data.hits / asked) * 100)}%)` : "no lookups yet";
  const facts = [["Entries", number(data.entries)], ["Hits", found]];
  for (const [key, label] of Object.entries(TIER_FACTS)) if (data[key] !== undefined) facts.push([label, number(data[key])]);
  return el("div", { className: "tier stack tight" },
    el("div", { className: "row spread" }, el("h3", {}, name), el("span", { className: "note" }, fill)),
    full, el("dl", { className: "facts" }, facts.flatMap(([term, value]) => [el("dt", {}, term), el("dd", {}, value)])));
}

const SCOPE_LABELS = { url: "URL", prefix: "URL prefix", host: "Host", tag: "Tag" };

function purgeQuery() {
  const scope = $("purge-scope").value;
  const value = encodeURIComponent($("purge-value").value.trim());
  const soft = $("purge-soft").checked && scope in SCOPE_LABELS ? "&soft=true" : "";
  if (scope in SCOPE_LABELS) return `${scope}=${value}${soft}`;
  const [what, tier] = scope.split("-");
  return `${what}=true${tier ? `&tier=${tier}` : ""}`;
}

function renderPurge() {
  const scope = $("purge-scope").value;
  $("purge-value-field").hidden = !(scope in SCOPE_LABELS);
  $("purge-soft-field").hidden = !(scope in SCOPE_LABELS);
  $("purge-value-label").textContent = SCOPE_LABELS[scope] ?? "";
  $("purge-do").hidden = true;
  $("purge-report").replaceChildren();
  clearTrouble($("purge-trouble"));
}

/** Previews the purge, then offers a button that executes it. */
async function tryPurge() {
  const isExpired = $("purge-scope").value === "expired";
  const report = isExpired ? null : await askJSON(`/cache?${purgeQuery()}&dry_run=true`, { method: "DELETE", admin: true, signal: newest("purge") });
  const isSoft = report?.soft ?? false;
  $("purge-do").hidden = report?.entries === 0;
  $("purge-do").textContent = !report ? "Remove expired entries" : `${isSoft ? "Mark" : "Remove"} ${counted(report.entries, "entry", "entries")}`;
  $("purge-report").replaceChildren(...(report ? purgeList(report) : [el("p", { className: "soft" }, "Expired entries cannot be previewed.")]));
}

function purgeList(report) {
  const sum = `${counted(report.sources, "source")}, ${counted(report.entries, "entry", "entries")}, ${bytes(report.bytes)}`;
  const rows = (report.list ?? []).slice(0, 100).map((item) => [el("code", {}, item.url), number(item.entries), bytes(item.bytes)]);
  const outcome = report.dry_run ? "Would be purged" : report.soft ? "Marked as stale" : "Purged";
  const sentence = report.entries ? `${outcome}: ${sum}.` : "Nothing is cached for this.";
  return [el("p", {}, sentence), rows.length ? el("div", { className: "scroll" }, grid(["Source~", "Entries#", "Bytes#"], rows)) : ""];
}

async function doPurge() {
  const report = await askJSON(`/cache?${purgeQuery()}`, { method: "DELETE", admin: true });
  $("purge-do").hidden = true;
  $("purge-report").replaceChildren(...purgeList(report));
  await showTiers();
}

async function lookUpEntries() {
  const url = encodeURIComponent($("entries-url").value.trim());
  const data = await askJSON(`/cache/entries?url=${url}`, { admin: true, signal: newest("entries") });
  const rows = (data.entries ?? []).map((entry) => [
    `${entry.entry}${entry.format ? `, ${formatName(entry.format)}` : ""}`, yes(entry.memory), yes(entry.disk), bytes(entry.bytes ?? 0),
    seconds(entry.age_seconds) ?? "", typeof entry.hits === "number" ? number(entry.hits) : "",
    el("code", { title: entry.key }, `${entry.key.slice(0, 12)}…`),
  ]);
  const left = data.remaining_seconds;
  const origin = Object.entries(data.origin ?? {}).map(([name, value]) => `${name}: ${value}`).join("\n");
  $("entries-report").replaceChildren(rows.length
    ? el("div", { className: "scroll" }, grid(["Entry", "Memory", "Disk", "Bytes#", "Age#", "Hits#", "Key"], rows))
    : el("p", { className: "soft" }, "Nothing is cached for this source."),
  table([
    ["Downloaded", data.fetched], ["Freshness", typeof left === "number" ? `${left >= 0 ? "fresh" : "stale"} for ${span(Math.abs(left))}` : undefined],
    ["Origin's fields", origin ? el("code", { className: "pre" }, origin) : undefined],
  ]));
}
