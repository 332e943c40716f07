/** A problem document (RFC 9457). */
class Problem extends Error {
  constructor({ title = "Something went wrong", detail = "", type = "", parameter = "", status = 0 }) {
    super(detail || title);
    Object.assign(this, { title, detail, type, parameter, status });
  }

  static async of(response) {
    const title = `The server responded with status ${response.status}`;
    const body = await response.json().catch(() => ({}));
    return new Problem({ title, status: response.status, ...body });
  }
}

const underway = new Map();

/** A signal that is aborted when newer work with the same name starts. */
function newest(name) {
  underway.get(name)?.abort();
  const controller = new AbortController();
  underway.set(name, controller);
  return controller.signal;
}

/** Sends a request and returns the response; throws a Problem on failure. */
async function ask(target, { method = "GET", headers = {}, body, signal, admin = false } = {}) {
  // Bypasses the browser's cache but not the server's: without this field, the browser would add `no-cache` to the
  // request. Caches ignore unknown directives (RFC 9111 §5.2.3).
  const fields = { "Cache-Control": "as-usual", Accept: "image/webp,image/*;q=0.8,*/*;q=0.5", ...headers };
  // On servers with signing keys, the token replaces a signature.
  if (admin || token.read()) fields.Authorization = `Bearer ${token.read()}`;
  let response;
  try {
    response = await fetch(BASE + target, { method, headers: fields, body, signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ title: "The server does not respond", detail: "Check that it is running, then try again." });
  }
  if (!response.ok) throw await Problem.of(response);
  return response;
}

const askJSON = async (target, options) => (await ask(target, options)).json();
