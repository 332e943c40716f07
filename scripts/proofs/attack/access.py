"""Signatures, redirects and addresses that a request must not be able to change."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from attack.judge import Check
from attack.lab import LOOPBACK, Lab, asked
from server import Answer, Server, encoded

KEY = "k1:proof-signing-key-of-at-least-32-characters"
FOREIGN_HOST = "attacker.example"


def signed_wsrv_queries(lab: Lab) -> Iterator[Check]:
    """A signed query in wsrv.nl's dialect is refused with another parameter or a repeated one, wherever they stand."""
    query = f"url={encoded(lab.origin.url('photo/1.jpg'))}&w=40"
    with lab.server(LOOPBACK, f"--signing-keys={KEY}") as server:
        for request in (f"/?{query}", f"/image?compat=wsrv&{query}"):
            good = signed(lab.binary, request)
            yield Check((answer := asked(server, good)).status == 200, f"{good}: {answer.status} (200)")
            for changed in changes(good):
                answer = asked(server, changed)
                yield Check(answer.status in (400, 403), f"{changed}: {answer.status} {answer.problem} (400 or 403)")


def signed(binary: Path, request: str, *options: str) -> str:
    environment = os.environ | {"DARKROOM_SIGNING_KEYS": KEY}
    command = [binary, "sign", request, *options]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()


def changes(request: str) -> list[str]:
    """The request with another parameter or a repeated one, before and after the signature."""
    path, _, query = request.partition("?")
    first, last = query.split("&", 1)[0], query.rsplit("&", 1)[-1]
    return [
        f"{request}&h=30", f"{request}&w=300", f"{request}&w=40", f"{request}&cachebuster=1", f"{request}&{last}",
        f"{request}&{first}", f"{request}&unknown", f"{path}?w=300&{query}", f"{path}?{first}&{query}",
        f"{path}?cachebuster=1&{query}", f"{path}?{last}&{query}",
    ]


def iiif_host(lab: Lab) -> Iterator[Check]:
    """Without `public-url`, no response that shared caches may keep contains an address made from the `Host` field."""
    identifier = encoded(lab.origin.url("photo/1.jpg"))
    paths = [f"/iiif/{identifier}", f"/iiif/{identifier}/info.json", f"/iiif/{identifier}/full/60,/0/default.jpg"]
    with lab.server(LOOPBACK, "--iiif=true") as server:
        for path in paths:
            answer = asked(server, path, headers={"Host": FOREIGN_HOST})
            control, vary = (answer.headers.get(name, "") for name in ("cache-control", "vary"))
            addresses = [name for name in ("location", "link") if FOREIGN_HOST in answer.headers.get(name, "")]
            addresses += ["body"] if FOREIGN_HOST.encode() in answer.body else []
            is_private = any(word in control for word in ("no-store", "private")) or "host" in vary.lower()
            where = " and ".join(addresses) or "nothing"
            seen = f"{answer.status}, the address in {where}, Cache-Control: {control}, Vary: {vary}"
            bound = "no such address, or no-store, private or Vary: Host"
            yield Check(not addresses or is_private, f"{path} with Host: {FOREIGN_HOST}: {seen} ({bound})")


def redirects_to_sources(lab: Lab) -> Iterator[Check]:
    """With `default=1`, only requests that say that they are for an image are redirected to the source that failed."""
    url = lab.origin.url("none/1.jpg")
    image_only, page = {"Sec-Fetch-Dest": "image"}, {"Sec-Fetch-Dest": "document"}
    cases: list[tuple[dict[str, str], bool]] = [
        (image_only, True), ({}, False), ({"Accept": "*/*"}, False), ({"Accept": "text/html"}, False), (page, False),
    ]
    with lab.server(LOOPBACK) as server:
        for start in ("/image?", "/?"):
            for headers, follows in cases:
                path = f"{start}url={encoded(url)}&w=40&default=1"
                answer = asked(server, path, headers=headers)
                is_redirect = 300 <= answer.status < 400
                bound = "302" if follows else "no redirect"
                seen = f"{path} with {headers or 'neither field'}: {answer.status}"
                yield Check(is_redirect == follows, f"{seen} ({bound})")


def uploads_of_others(lab: Lab) -> Iterator[Check]:
    """The fields of a response to an upload with `store=variant` do not report whether these bytes were sent before."""
    path = "/image?w=40&store=variant&wait=stored"
    with lab.server("--uploads=true") as server:
        before = upload(server, path, lab.photograph(400, 300), "127.0.0.2")
        again = upload(server, path, lab.photograph(400, 300), "127.0.0.3")
        unseen = upload(server, path, lab.photograph(400, 299), "127.0.0.3")
    statuses = [answer.status for answer in (before, again, unseen)]
    yield Check(statuses == [200] * 3, f"POST {path}: {statuses} (each 200)")
    for name in ("cache-status", "server-timing", "age", "cache-control"):
        known, new = (answer.headers.get(name) for answer in (again, unseen))
        seen = f"{name} is {known!r} for bytes that another client has sent before, {new!r} for new ones"
        yield Check(tell(known) == tell(new), f"{seen} (the same)")


def upload(server: Server, path: str, body: bytes, source: str) -> Answer:
    return asked(server, path, "POST", body=body, headers={"Content-Type": "image/jpeg"}, source=source)


def tell(field: str | None) -> str:
    """What a field reports apart from durations."""
    return json.dumps([part.partition("dur=")[0] for part in (field or "").split(";")])


ATTACKS = [signed_wsrv_queries, iiif_host, redirects_to_sources, uploads_of_others]
