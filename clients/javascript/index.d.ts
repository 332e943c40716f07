export type Value = string | number | boolean;

/** Parameters by name, not percent-encoded. Lists are joined with commas; undefined and null are left out. */
export type Parameters = Record<string, Value | readonly Value[] | null | undefined>;

export interface Expiry {
  /** When the URL expires, as a date or in seconds since 1970. Default: never. */
  expires?: Date | number;
}

/** Creates signed URLs with one key of the server. A secret must never reach a browser. */
export class Signer {
  /**
   * @param options.keyID ID of the key in the server's `signing-keys`.
   * @param options.secret Secret of the key, at least 32 characters.
   * @param options.base The server's URL, with its base path if it has one. Without it, URLs
   *   are relative to the host.
   */
  constructor(options: { keyID: string; secret: string; base?: string });

  /** Returns the signed URL of a request. `path` is `/image`, `/info`, `/explain`, `/srcset` or `/`. */
  url(parameters: Parameters, options?: Expiry & { path?: string }): Promise<string>;

  /** Returns the URL of an image with its query in the path, for CDNs that use the path alone as cache key. */
  signedPath(parameters: Parameters, options?: Expiry): Promise<string>;

  /** Returns the value of `srcset` with a signed URL of `/image` for each width in pixels. */
  srcset(parameters: Parameters, widths: readonly number[], options?: Expiry): Promise<string>;
}

/** Returns the canonical query: parameters sorted by name and percent-encoded. */
export function query(parameters: Parameters): string;
