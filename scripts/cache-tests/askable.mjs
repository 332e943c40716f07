/** Which cases of the suite can be asked through `GET /image`. */

/** Fields that tell which answer of the origin was served, as the number of the image does. */
const COUNTERS = new Set(["client-request-count", "server-request-count"]);
/** Fields that Darkroom sends for the original, not for the image that it makes of it. */
const OF_THE_ORIGINAL = new Set(["age", "warning"]);
/** Fields with which Darkroom itself validates what it stores. */
const VALIDATORS = new Set(["if-none-match", "if-modified-since"]);

/** Why a case cannot be asked; undefined if it can. */
export function obstacle(test) {
  if (test.browser_only) return "is for browsers only";
  for (const request of test.requests) {
    const found = obstacleOfRequest(request) ?? obstacleOfAnswer(request) ?? obstacleOfChecks(request, test);
    if (found) return found;
  }
}

function obstacleOfRequest(request) {
  const method = request.request_method ?? "GET";
  if (method !== "GET") return `sends ${method}, and origins are asked with GET only`;
  const fields = names(request.request_headers);
  if (fields.includes("range")) return "asks for a range, and images are sent whole";
  if (fields.includes("if-none-match")) return "names the origin's ETag, and an image has an ETag of its own";
}

function obstacleOfAnswer(request) {
  if (request.interim_responses) return "has interim responses, which are not forwarded";
  const status = request.response_status?.[0];
  if (status >= 300 && status < 400 && status !== 304) return "is a redirect, which Darkroom follows";
  const varying = (request.response_headers ?? [])
    .filter(([name]) => name.toLowerCase() === "vary")
    .flatMap(([, value]) => value.split(",").map((name) => name.trim()))
    .filter(Boolean);
  if (varying.length && !varying.includes("*")) return "varies with a request field, and none is forwarded to origins";
}

function obstacleOfChecks(request, test) {
  if (names(request.expected_request_headers).some((name) => !VALIDATORS.has(name))) {
    return "expects a request field at the origin, and none is forwarded";
  }
  const checked = [
    ...names(request.expected_response_headers).filter((name) => !tellsAnswer(name, request, test)),
    ...names(request.expected_response_headers_missing),
  ];
  if (checked.some((name) => !COUNTERS.has(name) && !OF_THE_ORIGINAL.has(name))) {
    return "checks fields of the origin's response, and an image has fields of its own";
  }
}

/** Whether a field of a cached response only tells which of the origin's answers it is. */
function tellsAnswer(name, request, test) {
  const values = test.requests.flatMap((one) => one.response_headers ?? [])
    .filter(([other]) => other.toLowerCase() === name).map(([, value]) => value);
  return request.expected_type === "cached" && new Set(values).size > 1 && values.length === new Set(values).size;
}

function names(fields = []) {
  return fields.map((field) => (typeof field === "string" ? field : field[0]).toLowerCase());
}

/** The group of the result that a case belongs to. */
export function group(test) {
  const kind = test.kind ?? "required";
  if (kind === "check") return "informative";
  if (test.cdn_only) return "CDN-Cache-Control";
  return kind === "required" ? "mandatory" : "optional";
}
