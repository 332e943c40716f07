/**
 * Runs the public HTTP cache tests (https://github.com/http-tests/cache-tests) against a built server.
 *
 * The folder is a checkout of that repository. Its definitions, its server and its judgment are used as they are; what
 * the adapter changes is stated in adapter.mjs. Cases that cannot be asked through `GET /image` are printed with the
 * reason. Results are written in the suite's own format. Exit status: 0 if every mandatory case passes, except
 * documented deviations, 1 if one fails, 2 for wrong usage.
 */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { Adapter, BASE } from "./adapter.mjs";
import { group, obstacle } from "./askable.mjs";
import { withServer } from "./darkroom.mjs";

const GROUPS = ["mandatory", "optional", "CDN-Cache-Control", "informative"];
// Most of a case's time is pauses of three seconds.
const AT_ONCE = 40;
// The suite expects that a response without stated freshness is not reused.
const SETTINGS = ["--default-fresh=0s", "--allow-networks=127.0.0.0/8", "--log-level=warning"];
const RUNS = [
  // Recorded failures deviate from RFC 9111, see docs/caching.md.
  {
    name: "darkroom", settings: [],
    deviations: [403, 502, 503, 504, 599].map((status) => `heuristic-${status}-not_cached`),
  },
  { name: "darkroom-failure-memory-false", settings: ["--failure-memory=false"], deviations: [] },
];

async function main() {
  const { values } = parseArgs({
    options: {
      suite: { type: "string" }, server: { type: "string" }, results: { type: "string" }, id: { type: "string" },
    },
  });
  const suite = values.suite && await loaded(resolve(values.suite));
  if (!suite || !values.server) {
    console.error("cache-tests: --suite must name a checkout of https://github.com/http-tests/cache-tests,");
    console.error("--server a built executable");
    return 2;
  }
  console.log(`cache-tests: ${suite.version}`);
  const asked = askable(suite.suites, values.id);
  const results = resolve(values.results ?? ".build/cache-tests");
  mkdirSync(results, { recursive: true });
  let failed = !values.id && !await detectsBreaches(values.server, suite, asked);
  for (const run of RUNS) {
    const found = await judged(values.server, [...SETTINGS, ...run.settings], suite, asked);
    const file = join(results, `${run.name}.json`);
    writeFileSync(file, `${JSON.stringify(found, null, 2)}\n`);
    failed = report(run, file, asked, found) || failed;
  }
  return failed ? 1 : 0;
}

/** The definitions, server and client of the suite; undefined if the folder has none. */
async function loaded(folder) {
  const module = (path) => import(pathToFileURL(join(folder, path)));
  if (!existsSync(join(folder, "tests/index.mjs"))) return undefined;
  const [tests, server, handler, runner, client] = await Promise.all([
    module("tests/index.mjs"), module("test-engine/server/utils.mjs"), module("test-engine/server/handle-test.mjs"),
    module("test-engine/client/runner.mjs"), module("test-engine/client/test.mjs"),
  ]);
  let version = folder;
  try {
    const log = ["-C", folder, "log", "-1", "--format=commit %h of %cs"];
    version += `, ${execFileSync("git", log, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim()}`;
  } catch {
    // A folder without a history has no commit to show.
  }
  return {
    version, suites: tests.default,
    engine: { setConfig: server.setConfig, stash: server.stash, handleTest: handler.default },
    runTests: runner.runTests, getResults: runner.getResults, testResults: client.testResults,
  };
}

/** The suites with the cases that can be asked. Prints the others, by reason. */
function askable(suites, id) {
  const named = suites.map((suite) => ({ ...suite, tests: suite.tests.filter((test) => !id || test.id === id) }));
  const kept = named.map((suite) => ({ ...suite, tests: suite.tests.filter((test) => !obstacle(test)) }));
  for (const reason of new Set(casesOf(named).map(obstacle).filter(Boolean))) {
    const ids = casesOf(named).filter((test) => obstacle(test) === reason).map((test) => test.id);
    console.log(`  not asked, because the case ${reason}: ${ids.join(", ")}`);
  }
  for (const name of GROUPS) {
    const members = (some) => casesOf(some).filter((test) => !test.browser_only && group(test) === name);
    const [all, asked] = [members(named), members(kept)];
    console.log(`cache-tests: ${asked.length} of ${all.length} ${name} cases can be asked`);
  }
  return kept;
}

function casesOf(suites) {
  return suites.flatMap((suite) => suite.tests);
}

/** The results of the cases, by their ids, from a server with these settings. */
function judged(executable, settings, suite, cases) {
  return withServer(executable, settings, async (address) => {
    const adapter = new Adapter(address, suite.engine);
    globalThis.fetch = (url, init) => adapter.fetch(url, init);
    for (const id of Object.keys(suite.testResults)) delete suite.testResults[id];
    try {
      // The suite's client puts dates into the definitions.
      await suite.runTests(structuredClone(cases), false, BASE, AT_ONCE);
    } finally {
      adapter.close();
    }
    return suite.getResults();
  });
}

/** Whether a server that ignores the origin's caching fields fails mandatory cases. */
async function detectsBreaches(executable, suite, cases) {
  const settings = [...SETTINGS.slice(1), "--default-fresh=1h", "--respect-origin=false"];
  const found = await judged(executable, settings, suite, cases.filter(({ id }) => id === "cc-freshness"));
  const failures = casesOf(cases)
    .filter((test) => group(test) === "mandatory" && test.id in found && found[test.id] !== true);
  console.log(`cache-tests: with respect-origin=false, ${failures.length} cases of freshness fail, as they must`);
  return failures.length > 0;
}

/** Prints the results of a run. Returns whether a mandatory case failed that need not. */
function report({ name, settings, deviations }, file, cases, found) {
  console.log(`cache-tests: ${name} ${["--default-fresh=0s", ...settings].join(" ")}`);
  let failed = false;
  for (const one of GROUPS) {
    const members = casesOf(cases).filter((test) => group(test) === one);
    const passed = members.filter((test) => found[test.id] === true);
    const verb = one === "informative" ? "answered yes" : "pass";
    console.log(`  ${passed.length} of ${members.length} ${one} cases ${verb}`);
    if (one === "informative") continue;
    for (const test of members.filter((each) => found[each.id] !== true)) {
      const isDeviation = deviations.includes(test.id);
      failed ||= !isDeviation && (test.kind ?? "required") === "required";
      const [, cause] = found[test.id] ?? ["", "no result"];
      console.log(`    failed${isDeviation ? " as documented" : ""}: ${test.id}: ${cause}`);
    }
  }
  console.log(`  results: ${file}`);
  return failed;
}

process.exitCode = await main();
