const lines = (id) => $(id).value.split("\n").map((line) => line.trim()).filter(Boolean);
const prefetchWidths = () => $("prefetch-widths").value.split(",").map((width) => width.trim()).filter(Boolean);

function countPrefetch() {
  const ways = prefetchWidths().length + lines("prefetch-queries").length || 1;
  $("prefetch-count").textContent = counted(lines("prefetch-urls").length * ways, "image");
}

async function startPrefetch() {
  const body = { urls: lines("prefetch-urls") };
  if (prefetchWidths().length) body.widths = prefetchWidths().map((width) => (/^\d+$/.test(width) ? Number(width) : width));
  if (lines("prefetch-queries").length) body.queries = lines("prefetch-queries");
  const headers = { "Content-Type": "application/json" };
  const job = await askJSON("/prefetch", { method: "POST", headers, body: JSON.stringify(body), admin: true });
  await follow(job);
}

let followed = null;

/** Shows a job and its progress until it ends. EventSource cannot send a token, so the stream is parsed here. */
async function follow(job) {
  const signal = newest("job");
  showJob(job);
  const response = await ask(`/prefetch/${encodeURIComponent(job.id)}/events`, { admin: true, signal, headers: { Accept: "text/event-stream" } });
  for await (const event of events(response.body)) if (event.data) showJob(JSON.parse(event.data));
  await showJobs();
}

/** Parses server-sent events (WHATWG HTML §9.2). */
async function* events(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) yield event(block);
  }
}

function event(block) {
  const found = { name: "message", data: "" };
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) found.name = line.slice(6).trim();
    if (line.startsWith("data:")) found.data += line.slice(5).trim();
  }
  return found;
}

function showJob(job) {
  followed = job.id;
  $("job").hidden = false;
  $("job-state").textContent = job.state;
  $("job-progress").max = job.total || 1;
  $("job-progress").value = finished(job);
  $("job-cancel").hidden = job.state !== "running";
  const left = job.state === "running" && job.eta_seconds > 0 ? `about ${span(job.eta_seconds)} left` : "";
  const failed = job.failed ? `${number(job.failed)} failed` : "";
  $("job-figures").textContent = [`${number(finished(job))} of ${number(job.total)}`, failed, bytes(job.bytes ?? 0), left].filter(Boolean).join(", ");
  const failure = ({ detail, url, query }) => el("li", {}, el("p", {}, detail), el("code", { className: "soft" }, `${url} ${query ?? ""}`));
  const failures = (job.failures ?? []).map(failure);
  $("job-failures").replaceChildren(...(failures.length ? [el("h3", {}, "Failures"), el("ul", { className: "failures" }, failures)] : []));
  if (job.state !== "running") say(`Prefetch ${job.state}: ${$("job-figures").textContent}`);
}

const finished = (job) => Math.min(job.total, job.done + job.failed);

async function showJobs() {
  const { jobs = [] } = await askJSON("/prefetch", { admin: true, signal: newest("jobs") });
  const rows = jobs.map((job) => {
    const open = el("button", { className: "quiet", type: "button" }, "Show");
    open.addEventListener("click", () => orTrouble($("prefetch-trouble"), () => follow(job)));
    const created = new Date(job.created).toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" });
    return [created, job.state, `${number(finished(job))} of ${number(job.total)}`, open];
  });
  $("jobs").replaceChildren(rows.length ? grid(["Started", "State", "Images#", ""], rows) : el("p", { className: "soft" }, "No jobs yet."));
}

async function cancelJob() {
  showJob(await askJSON(`/prefetch/${encodeURIComponent(followed)}`, { method: "DELETE", admin: true }));
  await showJobs();
}
