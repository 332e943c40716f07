"""What schemathesis cannot know of this server: which good requests are good together, and more to check."""

import json
from typing import Any

import schemathesis
from consistency import consistent_order, consistent_picture, consistent_purge
from schemathesis import Case, CheckContext, HookContext, Response
from schemathesis.core.media_types import YAML_MEDIA_TYPES

# Not of the application: HTTP/1.1's own.
TRANSPORT = {"connection", "content-length", "content-type", "date", "keep-alive", "server", "transfer-encoding"}
# Made-up values of these leave nothing that could be called a request.
FRAMING = {"content-length", "host", "transfer-encoding"}
# What kinds of problem a gateway may have with an origin or its client's wishes, by status.
GATEWAY = {502: {"/problems/origin-failed"}, 504: {"/problems/not-cached"}}
SIGNATURES = {
    "image/jpeg": (0, b"\xff\xd8\xff"),
    "image/png": (0, b"\x89PNG"),
    "image/webp": (8, b"WEBP"),
    "image/gif": (0, b"GIF8"),
    "image/avif": (4, b"ftyp"),
    "image/jxl": (0, b"\xff\x0a"),
    "image/tiff": (0, b"II*\0"),
}


@schemathesis.hook
def before_load_schema(context: HookContext, raw_schema: dict[str, Any]) -> None:
    """OpenAPI 3.1 has no words for one event of a stream; for schemathesis it is what there is a schema of."""
    media_type = raw_schema["components"]["responses"]["PrefetchEvents"]["content"]["text/event-stream"]
    job = {"$ref": "#/components/schemas/PrefetchJob"}
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": job}
    properties = {"event": {"enum": ["progress", "end"]}, "data": data}
    media_type["schema"] = {"type": "object", "required": list(properties), "properties": properties}


@schemathesis.hook
def filter_headers(context: HookContext, headers: dict[str, Any] | None) -> bool:
    return not FRAMING & {name.lower() for name in headers or ()}


@schemathesis.hook
def before_call(context: HookContext, case: Case, kwargs: dict[str, Any]) -> None:
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    names = {parameter.name for parameter in case.operation.query}
    if case.operation.path == "/cache":
        case.query = consistent_purge(case.query)
    elif "url" in names:
        case.query = consistent_picture(case.query, names)
    elif case.operation.path == "/prefetch" and case.method == "POST":
        case.body = consistent_order(case.body)


@schemathesis.deserializer(*YAML_MEDIA_TYPES, *SIGNATURES)
def as_received(context: object, response: Response) -> str:
    """The document says string of what is to be taken for text or bytes."""
    return response.content.decode("latin-1")


@schemathesis.check
def headers_are_documented(context: CheckContext, response: Response, case: Case) -> None:
    described = case.operation.responses.find_by_status_code(response.status_code)
    if described is None:
        return
    names = TRANSPORT | {name.lower() for name, _ in described.headers.items()}
    unknown = sorted(name for name in response.headers if name.lower() not in names)
    assert not unknown, f"Not documented for {response.status_code}: {', '.join(unknown)}"


@schemathesis.check
def problems_agree_with_their_answer(context: CheckContext, response: Response, case: Case) -> None:
    if response.status_code < 400 or case.method == "HEAD":
        return
    assert content_type(response) == "application/problem+json"
    problem = json.loads(response.content)
    assert problem["status"] == response.status_code
    assert problem["instance"] == f"urn:request:{response.headers['x-request-id'][0]}"
    if response.status_code >= 500:
        assert problem["type"] in GATEWAY.get(response.status_code, ()), f"An origin cannot cause {problem['type']}"


@schemathesis.check
def pictures_are_what_they_say(context: CheckContext, response: Response, case: Case) -> None:
    if response.status_code != 200 or case.method == "HEAD" or content_type(response) not in SIGNATURES:
        return
    offset, signature = SIGNATURES[content_type(response)]
    assert response.content[offset:].startswith(signature), "The bytes are not of that type"


@schemathesis.check
def streams_come_to_an_end(context: CheckContext, response: Response, case: Case) -> None:
    if content_type(response) != "text/event-stream":
        return
    events = [block.partition(b"\n")[0] for block in response.content.split(b"\n\n")[:-1]]
    assert events[-1] == b"event: end" and events.count(b"event: end") == 1


@schemathesis.check
def answers_to_head_are_empty(context: CheckContext, response: Response, case: Case) -> None:
    assert case.method != "HEAD" or not response.content


def content_type(response: Response) -> str:
    return response.headers.get("content-type", [""])[0].partition(";")[0]
