/** Runs the work and shows a problem in the card. Superseded work is ignored. */
async function orTrouble(card, work) {
  clearTrouble(card);
  try {
    return await work();
  } catch (error) {
    if (error.name !== "AbortError") showTrouble(card, error);
    return undefined;
  }
}

function showTrouble(card, problem) {
  const page = problem.type?.startsWith("/problems/") ? BASE + problem.type : problem.type;
  const more = page?.includes("/problems/") ? el("a", { href: page }, "Cause and remedy") : null;
  const parts = [el("p", {}, problem.message), wrongLine(problem.parameter), hint(problem), more];
  card.replaceChildren(el("h3", {}, problem.title ?? "Something went wrong on this page"), ...parts.filter(Boolean));
  card.hidden = false;
  for (const control of controlsOf(problem.parameter)) {
    control.setAttribute("aria-invalid", "true");
    control.setAttribute("aria-describedby", card.id);
    const group = control.closest("details");
    if (group) group.open = true;
  }
}

/** What the reader or the operator can do about a problem, beyond what the server states. */
function hint({ type }) {
  if (type === "/problems/signature-required") return el("p", {}, "Enter the admin token under Cache to load images with it.");
  if (type !== "/problems/source-not-allowed" || state.view !== "image") return null;
  const [sentence, setting] = permission(state.url);
  return el("p", { className: "hint" }, `${sentence} To allow it, start the server with `, el("code", {}, setting), ".");
}

/** Why a source may be refused, and the setting that allows it. */
function permission(source) {
  if (source.startsWith("local:")) return ["Local files come from one folder.", "--local-root /path/to/folder"];
  if (source.startsWith("s3:")) return ["Objects come from buckets that the server knows.", "--s3-sources name=bucket"];
  const { hostname, port } = URL.parse?.(source) ?? { hostname: source.split("/")[2] ?? "", port: "" };
  const network = privateNetwork(hostname);
  if (network) return [`${hostname} is not a public address.`, `--allow-networks ${network}`];
  if (port) return [`Port ${port} may not be among the allowed ones.`, `--allow-ports 80,443,${port}`];
  return [`${hostname} may not be among the allowed hosts, or have an address that is not public.`, `--allow-hosts ${hostname}`];
}

const NETWORKS = [
  [/^(localhost$|.*\.localhost$)/, "127.0.0.0/8,::1/128"], [/^127\./, "127.0.0.0/8"], [/^10\./, "10.0.0.0/8"], [/^192\.168\./, "192.168.0.0/16"],
  [/^172\.(1[6-9]|2\d|3[01])\./, "172.16.0.0/12"], [/^169\.254\./, "169.254.0.0/16"], [/^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./, "100.64.0.0/10"],
  [/^\[::1\]$/, "::1/128"], [/^\[f[cd]/, "fc00::/7"], [/^\[fe[89ab]/, "fe80::/10"],
];
const privateNetwork = (host) => NETWORKS.find(([pattern]) => pattern.test(host))?.[1];

/** The members of a prefetch request as the text areas that hold them, one per line. */
const LISTS = { urls: "prefetch-urls", queries: "prefetch-queries" };

/** The line of a list that a problem is about, which becomes selected. */
function wrongLine(parameter) {
  const [, member, index] = parameter?.match(/^(urls|queries)\[(\d+)\]/) ?? [];
  if (!member) return null;
  const area = $(LISTS[member]);
  const all = area.value.split("\n");
  const at = all.map((line, at) => (line.trim() ? at : -1)).filter((at) => at >= 0)[Number(index)];
  if (at === undefined) return null;
  const start = all.slice(0, at).join("\n").length + (at ? 1 : 0);
  area.focus();
  area.setSelectionRange(start, start + all[at].length);
  return el("p", {}, `Line ${at + 1}: `, el("code", {}, all[at].trim()));
}

function clearTrouble(card) {
  card.hidden = true;
  for (const control of all(`[aria-describedby="${card.id}"]`)) {
    control.removeAttribute("aria-invalid");
    control.removeAttribute("aria-describedby");
  }
}

function controlsOf(parameter) {
  if (!parameter) return [];
  if (state.view === "cache") return [$("purge-value")];
  const member = { ...LISTS, widths: "prefetch-widths" }[parameter.split("[")[0]];
  if (member) return [$(member)];
  if (parameter === "crop") return all("[data-crop]");
  return all("[data-parameter]").filter((control) => control.dataset.parameter === parameter);
}
