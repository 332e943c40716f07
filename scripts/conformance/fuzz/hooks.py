"""Rules that schemathesis cannot derive from the contract: which valid parameters fit together, and further checks."""

import json
from typing import Any

import schemathesis
from consistency import consistent_iiif, consistent_image, consistent_order, consistent_purge, consistent_upload, upload_of
from schemathesis import Case, CheckContext, HookContext, Response

# Fields of HTTP itself, which an OpenAPI document does not list.
TRANSPORT = {"connection", "content-length", "content-type", "date", "keep-alive", "server", "transfer-encoding"}
# Fields of the Fetch Standard and of Resource Timing, which depend on settings or, below /iiif, are always sent.
TRANSPORT |= {"access-control-allow-origin", "access-control-expose-headers", "timing-allow-origin"}
# Generated values of these fields would make the request malformed.
FRAMING = {"content-length", "host", "transfer-encoding"}
# The problems that a source or a request may cause, by status; any other problem with these statuses is a bug.
GATEWAY = {502: {"/problems/origin-failed"}, 504: {"/problems/not-cached"}}
SIGNATURES = {
    "image/jpeg": (0, b"\xff\xd8\xff"),
    "image/png": (0, b"\x89PNG"),
    "image/webp": (8, b"WEBP"),
    "image/gif": (0, b"GIF8"),
    "image/avif": (4, b"ftyp"),
    # A codestream, or a container with metadata or a JPEG.
    "image/jxl": (0, (b"\xff\x0a", b"\0\0\0\x0cJXL ")),
    "image/tiff": (0, b"II*\0"),
}


@schemathesis.hook
def filter_headers(context: HookContext, headers: dict[str, Any] | None) -> bool:
    return not FRAMING & {name.lower() for name in headers or ()}


@schemathesis.hook
def before_call(context: HookContext, case: Case, kwargs: dict[str, Any]) -> None:
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    names = {parameter.name for parameter in case.operation.query}
    if case.operation.path.startswith("/iiif/"):
        # The response of the redirect itself is checked.
        kwargs["allow_redirects"] = False
        case.path_parameters = consistent_iiif(case.path_parameters)
    elif case.operation.path == "/cache":
        case.query = consistent_purge(case.query)
    elif case.operation.path == "/image" and case.method == "POST":
        case.query = consistent_upload(case.query, names)
        (case.media_type, case.body) = ("application/octet-stream", upload_of(case.query))
    elif "url" in names:
        case.query = consistent_image(case.query, names)
    elif case.operation.path == "/prefetch" and case.method == "POST":
        case.body = consistent_order(case.body)


@schemathesis.deserializer(*SIGNATURES)
def as_received(context: object, response: Response) -> str:
    """The schema of images is a string of bytes."""
    return response.content.decode("latin-1")


@schemathesis.check
def headers_are_documented(context: CheckContext, response: Response, case: Case) -> None:
    described = case.operation.responses.find_by_status_code(response.status_code)
    if described is None:
        return
    names = TRANSPORT | {name.lower() for name, _ in described.headers.items()}
    unknown = sorted(name for name in response.headers if name.lower() not in names)
    assert not unknown, f"Undocumented header fields with status {response.status_code}: {', '.join(unknown)}"


@schemathesis.check
def problems_agree_with_their_response(context: CheckContext, response: Response, case: Case) -> None:
    if response.status_code < 400:
        return
    assert content_type(response) == "application/problem+json"
    problem = json.loads(response.content)
    assert problem["status"] == response.status_code
    assert problem["instance"] == f"urn:request:{response.headers['x-request-id'][0]}"
    if response.status_code >= 500:
        assert problem["type"] in GATEWAY.get(response.status_code, ()), f"No origin can cause {problem['type']}"


@schemathesis.check
def images_have_their_media_type(context: CheckContext, response: Response, case: Case) -> None:
    """`application/octet-stream` in the contract stands for images in general and is never sent."""
    assert content_type(response) != "application/octet-stream"
    if response.status_code != 200 or content_type(response) not in SIGNATURES:
        return
    offset, signature = SIGNATURES[content_type(response)]
    assert response.content[offset:].startswith(signature), f"The bytes are not {content_type(response)}"


@schemathesis.check
def streams_end(context: CheckContext, response: Response, case: Case) -> None:
    if content_type(response) != "text/event-stream":
        return
    events = [block.partition(b"\n")[0] for block in response.content.split(b"\n\n")[:-1]]
    assert events[-1] == b"event: end" and events.count(b"event: end") == 1


def content_type(response: Response) -> str:
    return response.headers.get("content-type", [""])[0].partition(";")[0]
