/**
 * Signed URLs of a Darkroom server, for Node.js, Deno, Bun, Cloudflare Workers and other runtimes with Web Crypto.
 *
 * A secret must never reach a browser: its holder can sign any request.
 */

const encoder = new TextEncoder();
const LATEST = 253402300799; // 9999-12-31T23:59:59Z

/** Creates signed URLs with one key of the server. */
export class Signer {
  #keyID;
  #secret;
  #base;
  #key;

  /**
   * @param {object} options
   * @param {string} options.keyID ID of the key in the server's `signing-keys`.
   * @param {string} options.secret Secret of the key, at least 32 characters.
   * @param {string} [options.base] The server's URL, with its base path if it has one. Without
   *   it, URLs are relative to the host.
   */
  constructor({ keyID, secret, base = "" }) {
    if (typeof keyID !== "string" || !/^[A-Za-z0-9_-]{1,32}$/.test(keyID)) {
      throw new TypeError("keyID must be 1 to 32 letters A-Z and a-z, digits, - and _.");
    }
    if (typeof secret !== "string" || !/^[\x21-\x2b\x2d-\x7e]{32,}$/.test(secret)) {
      throw new TypeError("secret must be at least 32 printable ASCII characters without spaces and commas.");
    }
    this.#keyID = keyID;
    this.#secret = secret;
    this.#base = base.replace(/\/+$/, "");
  }

  /**
   * Returns the signed URL of a request.
   *
   * @param {import("./index.d.ts").Parameters} parameters Parameters by name, not percent-encoded.
   * @param {object} [options]
   * @param {string} [options.path] `/image`, `/info`, `/explain`, `/srcset` or `/`.
   * @param {Date | number} [options.expires] When the URL expires, as a date or in seconds since 1970. Default: never.
   */
  async url(parameters, { path = "/image", expires } = {}) {
    const [text, signature] = await this.#sign(path, parameters, expires);
    return `${this.#base}${path}?${text}&s=${signature}`;
  }

  /** Returns the URL of an image with its query in the path, for CDNs that use the path alone as cache key. */
  async signedPath(parameters, { expires } = {}) {
    const [text, signature] = await this.#sign("/image", parameters, expires);
    return `${this.#base}/signed/${signature}/${base64URL(encoder.encode(text))}`;
  }

  /** Returns the value of `srcset` with a signed URL of `/image` for each width in pixels. */
  async srcset(parameters, widths, { expires } = {}) {
    const candidate = async (w) => `${await this.url({ ...parameters, w }, { expires })} ${w}w`;
    return (await Promise.all(widths.map(candidate))).join(", ");
  }

  async #sign(path, parameters, expires) {
    if (parameters.s !== undefined) throw new TypeError("Parameter 's' is the signature; leave it out.");
    const text = query(expires === undefined ? parameters : { ...parameters, exp: seconds(expires) });
    // Not in the constructor: some edge runtimes allow such work only while they handle a request.
    this.#key ??= crypto.subtle.importKey("raw", encoder.encode(this.#secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const code = await crypto.subtle.sign("HMAC", await this.#key, encoder.encode(`darkroom 1\n${path}\n${text}`));
    return [text, `${this.#keyID}.${base64URL(new Uint8Array(code))}`];
  }
}

/**
 * Returns the canonical query: parameters sorted by name, percent-encoded except for letters, digits and `-._~`.
 * Lists are joined with commas. Parameters that are undefined or null are left out.
 */
export function query(parameters) {
  return Object.keys(parameters)
    .filter((name) => parameters[name] !== undefined && parameters[name] !== null)
    .sort()
    .map((name) => `${encode(name)}=${encode(String(parameters[name]))}`)
    .join("&");
}

const encode = (text) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

const base64URL = (bytes) =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

function seconds(expires) {
  const time = expires instanceof Date ? Math.floor(expires.getTime() / 1000) : expires;
  if (Number.isInteger(time) && time >= 1 && time <= LATEST) return time;
  throw new TypeError("expires must be a date or whole seconds since 1970, until the year 9999.");
}
