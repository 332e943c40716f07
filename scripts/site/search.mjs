// Asks the search of the built site, as its pages do, and compares the first answers with questions.tsv.
//
//     node scripts/site/search.mjs FOLDER [WORD ...]
//
// With words, it prints the answers to them.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInThisContext } from "node:vm";

const [folder, ...words] = process.argv.slice(2);
const READY = 1, QUERY = 2, RESULT = 3;
const waiting = [];
let deliver;
globalThis.self = globalThis;
globalThis.addEventListener = (name, listener) => { if (name === "message") deliver = listener; };
globalThis.postMessage = (message) => waiting.shift()?.(message);

const workers = join(folder, "assets/javascripts/workers");
runInThisContext(readFileSync(join(workers, readdirSync(workers).find((name) => /^search\..*\.js$/.test(name))), "utf8"));

const send = (message) => new Promise((resolve) => { waiting.push(resolve); deliver({ data: message }); });

const index = JSON.parse(readFileSync(join(folder, "search/search_index.json"), "utf8"));
const { type } = await send({ type: 0, data: { ...index, options: { suggest: true } } });
if (type !== READY) throw new Error("the search of the site does not start");

/** The pages that answer, best first, as names of files in docs. */
async function pages(question) {
  const answer = await send({ type: QUERY, data: question });
  if (answer.type !== RESULT) throw new Error(`no answer to '${question}'`);
  return answer.data.items.map(([{ location }]) => location.split("#")[0].replace(/\/$/, "") || "README");
}

if (words.length) {
  console.log((await pages(words.join(" "))).slice(0, 5).join("\n"));
  process.exit();
}
const table = join(dirname(fileURLToPath(import.meta.url)), "questions.tsv");
const rows = readFileSync(table, "utf8").trim().split("\n").map((line) => line.split("\t"));
let failures = 0;
for (const [question, expected] of rows) {
  const found = await pages(question);
  if (expected.split(" ").includes(found[0])) continue;
  failures += 1;
  console.error(`'${question}' leads to ${found.slice(0, 3).join(", ") || "nothing"}, not to ${expected}`);
}
console.log(`${rows.length - failures} of ${rows.length} questions lead to their page`);
process.exitCode = failures ? 1 : 0;
