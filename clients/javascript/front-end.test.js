/**
 * Runs the functions of docs/front-end.md. With DARKROOM_OPEN_URL and DARKROOM_SIGNED_URL, which scripts/test-clients.py
 * sets, the URLs that the page has and that its functions return are requested from these servers.
 */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const open = process.env.DARKROOM_OPEN_URL;
const signed = process.env.DARKROOM_SIGNED_URL;
const BASE = "https://img.example.com";
const source = open ? "local:///sample.jpg" : "https://example.com/photo.jpg";
process.env.SIGNING_SECRET ??= "correct-horse-battery-staple-0123";

const page = readFileSync(new URL("../../docs/front-end.md", import.meta.url), "utf8");
const blocks = new Map(
  [...page.matchAll(/```js\n\/\/ (\S+)\n([^]*?)```/g)].map(([, path, code]) => [path, code]),
);
const folder = mkdtempSync(join(tmpdir(), "front-end-"));

/** Imports a block as a module, with the packages that it needs. */
async function load(path, base) {
  const file = join(folder, path.replace(/\.m?js$/, ".mjs"));
  const index = pathToFileURL(fileURLToPath(new URL("./index.js", import.meta.url)));
  const code = blocks.get(path)
    .replaceAll(BASE, base ?? BASE)
    .replace('"darkroom-urls"', `"${index}"`)
    .replace('import { defineProvider } from "@nuxt/image/runtime";', "const defineProvider = (provider) => provider;")
    .replace("defineNuxtConfig(", "(");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, code);
  return (await import(pathToFileURL(file))).default ?? import(pathToFileURL(file));
}

/** Expects an image from a server. */
async function expectImage(url, accept = "image/webp") {
  assert.match(url, /\/image\?/);
  if (!open) return;
  const response = await fetch(url, { headers: { Accept: accept } });
  assert.equal(response.status, 200, url);
  assert.match(response.headers.get("Content-Type"), /^image\//);
  await response.arrayBuffer();
}

test("the URLs in markup are answered", { skip: !open }, async () => {
  const urls = [...page.matchAll(/```html\n([^]*?)```/g)].flatMap(([, html]) => html.match(/https:\/\/img\.example\.com[^\s",]+/g));
  assert.ok(urls.length >= 8);
  for (const url of urls) {
    await expectImage(url.replaceAll("&amp;", "&").replace(BASE, open).replaceAll("https%3A%2F%2Fexample.com%2Fphoto.jpg", encodeURIComponent(source)));
  }
});

test("the crops are answered", { skip: !open }, async () => {
  const rows = [...page.split("## Crops")[1].split("##")[0].matchAll(/\| `([^`]+)` \|/g)].map(([, query]) => query);
  assert.ok(rows.length >= 7);
  for (const query of rows) await expectImage(`${open}/image?url=${encodeURIComponent(source)}&${query}`);
});

test("Next.js: the loader returns URLs of images", async () => {
  const loader = await load("image-loader.js", open);
  await expectImage(loader({ src: source, width: 640 }));
  await expectImage(loader({ src: source, width: 640, quality: 60 }));
  assert.match(loader({ src: "https://example.com/a b+c.jpg?d=e&f", width: 1 }), /url=https%3A%2F%2Fexample.com%2Fa%20b%2Bc.jpg%3Fd%3De%26f&w=1$/);
  const { images } = await load("next.config.mjs");
  assert.ok(blocks.has(images.loaderFile.replace("./", "")));
});

test("Next.js: the attributes of a signed image have URLs of images", async () => {
  const { signedImage } = await load("signed-image.js", signed);
  const { src, srcSet, sizes } = await signedImage({ url: source, sizes: "50vw" });
  assert.equal(sizes, "50vw");
  for (const url of [src, ...srcSet.split(", ").map((candidate) => candidate.split(" ")[0])]) await expectImage(url);
});

test("Nuxt: the provider returns URLs of images", async () => {
  const provider = await load("providers/darkroom.js");
  const { image } = await load("nuxt.config.js", open);
  const { options } = image.providers[image.provider];
  const modifiers = { width: 640, height: 480, fit: "cover", quality: 60, format: "webp", a: "attention", background: undefined };
  await expectImage(provider.getImage(source, { modifiers, ...options }).url);
  await expectImage(provider.getImage(source, { ...options }).url);
});

test("Astro: the service signs the URLs of an image and its widths", async () => {
  const { image } = await load("astro.config.mjs");
  assert.ok(blocks.has(image.service.entrypoint.replace("./", "")));
  const service = await load("src/darkroom.js", signed);
  const options = { src: source, width: 1600, height: 1067, widths: [320, 640], format: "webp", alt: "A lake", sizes: "50vw" };
  await expectImage(await service.getURL(options));
  const candidates = service.getSrcSet(options);
  assert.deepEqual(candidates.map(({ descriptor, transform }) => [descriptor, transform.height]), [["320w", 213], ["640w", 427]]);
  for (const { transform } of candidates) await expectImage(await service.getURL(transform));
  assert.deepEqual(service.getHTMLAttributes(options), { loading: "lazy", decoding: "async", width: 1600, height: 1067, alt: "A lake", sizes: "50vw" });
});
