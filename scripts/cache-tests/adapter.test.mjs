/** Tests of the parts that need neither the suite nor a server. */

import assert from "node:assert/strict";
import http from "node:http";
import { test } from "node:test";
import { Adapter, answerServed, BASE, received } from "./adapter.mjs";
import { group, obstacle } from "./askable.mjs";
import { image, numberOf } from "./images.mjs";

const fresh = { response_headers: [["Cache-Control", "max-age=3600"]], setup: true };
const cached = { expected_type: "cached" };

function reason(...requests) {
  return obstacle({ id: "case", requests });
}

test("an image carries its number", () => {
  for (const number of [1, 2, 300]) assert.equal(numberOf(image(number)), number);
  assert.throws(() => numberOf(Buffer.from("no image")), /not a PNG/);
});

test("cases of freshness, of validation and of age can be asked", () => {
  assert.equal(reason(fresh, cached), undefined);
  assert.equal(reason(fresh, { ...cached, request_headers: [["Cache-Control", "max-age=0"]] }), undefined);
  const validated = { expected_type: "etag_validated", expected_request_headers: [["If-None-Match", '"a"']] };
  assert.equal(reason(fresh, validated), undefined);
  assert.equal(reason(fresh, { ...cached, expected_response_headers: [["Age", ">", 2]] }), undefined);
  assert.equal(reason({ ...fresh, response_headers: [["Vary", "*"]] }, cached), undefined);
});

test("a case that needs more of a request than Darkroom forwards is not asked", () => {
  assert.match(reason(fresh, { request_method: "POST" }), /POST/);
  assert.match(reason(fresh, { request_headers: [["Range", "bytes=0-1"]] }), /range/);
  assert.match(reason(fresh, { request_headers: [["If-None-Match", '"a"']] }), /ETag/);
  assert.match(reason({ ...fresh, response_headers: [["Vary", "Foo, Bar"]] }, cached), /varies/);
  assert.match(reason({ ...fresh, expected_request_headers: [["Authorization", "FOO"]] }, cached), /forwarded/);
});

test("a case that checks the origin's fields is not asked, unless they tell which answer was served", () => {
  const two = [{ response_headers: [["A", "1"]] }, { response_headers: [["A", "2"]] }];
  assert.match(reason(two[0], { ...cached, expected_response_headers: [["A", "1"]] }), /fields/);
  assert.equal(reason(...two, { ...cached, expected_response_headers: [["A", "1"]] }), undefined);
  assert.match(reason(...two, { ...cached, expected_response_headers_missing: ["A"] }), /fields/);
  const validated = { ...two[1], expected_type: "etag_validated", expected_response_headers: [["A", "2"]] };
  assert.match(reason(two[0], validated), /fields/);
});

test("cases count by kind, CDN-Cache-Control by itself", () => {
  assert.equal(group({}), "mandatory");
  assert.equal(group({ kind: "optimal" }), "optional");
  assert.equal(group({ cdn_only: true }), "CDN-Cache-Control");
  assert.equal(group({ kind: "check", cdn_only: true }), "informative");
});

test("a response has the answer with the image's number, or the failure that the problem states", () => {
  const answers = [{ status: 200 }, { status: 503 }];
  assert.equal(answerServed(200, {}, image(1), answers), answers[0]);
  assert.equal(answerServed(304, {}, Buffer.alloc(0), answers), answers[0]);
  const problem = (status, stated) => answerServed(status, { "proxy-status": stated }, Buffer.alloc(0), answers);
  assert.equal(problem(502, "darkroom;received-status=503"), answers[1]);
  assert.equal(problem(504, "darkroom;error=connection_timeout"), undefined);
  assert.equal(answerServed(504, {}, Buffer.alloc(0), []), undefined);
});

test("a stored answer has the age that Darkroom states, a new one the age that the origin states", () => {
  const answers = [{ status: 203, fields: { age: "30", a: ["1", "2"] }, text: "body" }];
  const response = { status: 200, fields: { age: "33" }, body: image(1) };
  const stored = received(response, answers, 1);
  assert.deepEqual([stored.status, stored.headers.get("age"), stored.headers.get("a")], [203, "33", "1, 2"]);
  assert.equal(received(response, answers, 0).headers.get("age"), "30");
});

test("the client receives the answers of the server, which gets its number", { timeout: 10_000 }, async (context) => {
  // Fetches the source for each request, and stores nothing.
  const darkroom = http.createServer((request, response) => {
    http.get(new URL(request.url, BASE).searchParams.get("url"), { agent: false }, (answer) => {
      response.writeHead(answer.statusCode, { "Content-Type": answer.headers["content-type"] });
      answer.pipe(response);
    });
  });
  await new Promise((resolve) => darkroom.listen(0, "127.0.0.1", resolve));
  const configs = new Map();
  const adapter = new Adapter(`http://127.0.0.1:${darkroom.address().port}`, {
    setConfig: (uuid, config) => configs.set(uuid, config),
    stash: new Map([["u", ["state"]]]),
    handleTest: ([uuid], request, response) => {
      response.setHeader("Client-Request-Count", request.headers["req-num"]);
      response.end(configs.get(uuid)[0]);
    },
  });
  context.after(() => {
    adapter.close();
    darkroom.close();
    darkroom.closeAllConnections();
  });
  assert.equal((await adapter.fetch(`${BASE}/config/u`, { body: JSON.stringify(["text"]) })).status, 201);
  for (const number of ["1", "2"]) {
    const response = await adapter.fetch(`${BASE}/test/u?a=b`, { headers: [["Req-Num", number]] });
    assert.deepEqual([response.status, response.headers.get("client-request-count")], [200, number]);
    assert.equal(await response.text(), "text");
  }
  assert.deepEqual(await (await adapter.fetch(`${BASE}/state/u`)).json(), ["state"]);
});
