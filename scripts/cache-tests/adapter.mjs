/**
 * Stands between the suite's client and Darkroom, and between Darkroom and the suite's server.
 *
 * The suite's server decides each answer. Its bodies are text, so the n-th answer goes to Darkroom as an image n pixels
 * wide. The client asks for that image, and its width says which answer Darkroom served. The client receives status,
 * fields and text of that answer. `Age` and `Warning` are Darkroom's, except an `Age` of the origin in an answer just
 * fetched.
 */

import http from "node:http";
import { image, numberOf } from "./images.mjs";

/** The base URL that the suite's client believes in. */
export const BASE = "http://cache-tests.invalid";
const WITHOUT_BODY = new Set([204, 304]);

export class Adapter {
  /** A case by the UUID of its run: its origin, the request that is being asked, and what the origin answered. */
  #cases = new Map();
  #darkroom;
  #engine;

  /** `engine` has `setConfig`, `stash` and `handleTest` of the suite's server. */
  constructor(darkroom, engine) {
    this.#darkroom = darkroom;
    this.#engine = engine;
  }

  /** Replaces the function `fetch` of the suite's client. */
  async fetch(address, init = {}) {
    const url = new URL(address);
    const [, kind, uuid] = url.pathname.split("/");
    if (kind === "config") {
      this.#engine.setConfig(uuid, JSON.parse(init.body));
      this.#cases.set(uuid, await this.#origin(uuid));
      return new Response("", { status: 201 });
    }
    if (kind === "state") return new Response(JSON.stringify(this.#engine.stash.get(uuid) ?? []));
    const current = this.#cases.get(uuid);
    const before = current.answers.length;
    const fields = Object.fromEntries(new Headers(init.headers));
    current.request = fields["req-num"];
    const source = `http://127.0.0.1:${current.listener.address().port}${url.pathname}${url.search}`;
    const target = `${this.#darkroom}/image?url=${encodeURIComponent(source)}&output=png`;
    return received(await get(target, fields, init.signal), current.answers, before);
  }

  close() {
    for (const { listener } of this.#cases.values()) {
      listener.close();
      listener.closeAllConnections();
    }
  }

  /** Each case has an origin on a port of its own: the circuit breaker of one that fails concerns no other. */
  async #origin(uuid) {
    const current = { answers: [], request: undefined };
    current.listener = http.createServer((request, response) => {
      // Darkroom does not forward this field of the client.
      request.headers["req-num"] = current.request;
      this.#engine.handleTest([uuid], request, recording(response, current.answers));
    });
    await new Promise((resolve) => current.listener.listen(0, "127.0.0.1", resolve));
    return current;
  }
}

/** A response of the origin that records what the suite's server answers, and sends an image in its place. */
function recording(response, answers) {
  const end = response.end.bind(response);
  response.end = (text = "") => {
    const status = response.statusCode;
    answers.push({ status, fields: { ...response.getHeaders() }, text });
    if (status < 200 || status > 299 || WITHOUT_BODY.has(status)) return end(text);
    response.setHeader("Content-Type", "image/png");
    return end(image(answers.length));
  };
  return response;
}

/** What the suite's client receives for a response of Darkroom. `before` counts the answers before its request. */
export function received({ status, fields, body }, answers, before) {
  const answer = answerServed(status, fields, body, answers);
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer?.fields ?? {})) {
    for (const one of [value].flat()) headers.append(name, one);
  }
  const isNew = answers.indexOf(answer) >= before;
  for (const name of ["age", "warning"]) {
    // The age on arrival may be a second more.
    if (isNew && headers.has(name)) continue;
    headers.delete(name);
    if (fields[name] !== undefined) headers.set(name, fields[name]);
  }
  return {
    status: status === 304 ? 304 : answer?.status ?? status,
    statusText: "",
    headers,
    text: async () => answer?.text ?? body.toString(),
  };
}

/** The answer of the origin behind a response of Darkroom; undefined if the response is Darkroom's own, such as 504. */
export function answerServed(status, fields, body, answers) {
  if (status === 200) return answers[numberOf(body) - 1];
  if (status === 304) return answers.findLast((answer) => answer.status >= 200 && answer.status < 300);
  // A problem has no number. It is about the last answer, if it states that answer's status.
  const last = answers.at(-1);
  const stated = /received-status=(\d+)/.exec(fields["proxy-status"] ?? "")?.[1];
  return Number(stated) === last?.status ? last : undefined;
}

function get(target, headers, signal) {
  return new Promise((resolve, reject) => {
    http.get(target, { headers, signal, agent: false }, (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("error", reject);
      response.on("end", () => {
        resolve({ status: response.statusCode, fields: response.headers, body: Buffer.concat(parts) });
      });
    }).on("error", reject);
  });
}
