import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Signer, query } from "./index.js";

const vectors = JSON.parse(readFileSync(new URL("../../Fixtures/signatures.json", import.meta.url), "utf8"));
const source = "https://example.com/photo.jpg";
const signer = (base) => new Signer({ keyID: "k1", secret: vectors.keys.k1, base });

for (const row of [...vectors.valid, ...vectors.signed]) {
  test(`signs ${row.name}`, async () => {
    const signer = new Signer({ keyID: row.key, secret: vectors.keys[row.key] });
    assert.equal(await signer.url(row.parameters, { path: row.path }), row.url);
    if (row.signed_path) assert.equal(await signer.signedPath(row.parameters), row.signed_path);
    const { exp, ...rest } = row.parameters;
    if (exp === undefined) return;
    assert.equal(await signer.url(rest, { path: row.path, expires: Number(exp) }), row.url);
    assert.equal(await signer.url(rest, { path: row.path, expires: new Date(Number(exp) * 1000 + 999) }), row.url);
  });
}

test("values may be numbers, booleans and lists, and are left out if there is none", () => {
  const typed = { url: source, w: 400, fpx: 0.25, flip: true, radius: [8, 0], h: null, q: undefined };
  assert.equal(query(typed), query({ url: source, w: "400", fpx: "0.25", flip: "true", radius: "8,0" }));
});

test("the base precedes the path and is not signed", async () => {
  const relative = await signer().url({ url: source, w: 400 });
  assert.equal(await signer("https://img.example.com/base/").url({ url: source, w: 400 }), `https://img.example.com/base${relative}`);
});

test("a set of widths has a signed URL for each width", async () => {
  const [small, large] = await Promise.all([320, 640].map((w) => signer().url({ url: source, w }, { expires: 4102444800 })));
  assert.equal(await signer().srcset({ url: source }, [320, 640], { expires: 4102444800 }), `${small} 320w, ${large} 640w`);
});

test("what no server accepts is refused", async () => {
  const secret = vectors.keys.k1;
  for (const keyID of [undefined, "", "a.b", "a".repeat(33)]) assert.throws(() => new Signer({ keyID, secret }), TypeError);
  for (const secret of ["short", " ".repeat(32), ",".repeat(32)]) assert.throws(() => new Signer({ keyID: "k1", secret }), TypeError);
  await assert.rejects(signer().url({ url: source, s: "k1.x" }), TypeError);
  for (const expires of [0, 1.5, 253402300800, new Date(NaN)]) await assert.rejects(signer().url({ url: source }, { expires }), TypeError);
});
