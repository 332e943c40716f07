"""Checks the rule of the document that HEAD answers like GET without the body, for every path."""

import httpx
import pytest
from conftest import contract
from darkroom_client import AuthenticatedClient
from darkroom_client.api.operations import start_prefetch
from darkroom_client.models import PrefetchJob, PrefetchOrder

SAMPLE = "local:///sample.jpg"
# Fields whose values belong to a single request or moment.
VARYING = {"age", "cache-status", "connection", "content-length", "date", "server-timing", "x-request-id"}
# Documents about the current moment, whose length may differ between two requests.
LIVE = ("/cache", "/cache/entries", "/explain", "/metrics", "/prefetch", "/prefetch/{id}")
TARGETS = {
    "/image": f"/image?url={SAMPLE}&w=20",
    "/info": f"/info?url={SAMPLE}",
    "/explain": f"/explain?url={SAMPLE}",
    "/srcset": f"/srcset?url={SAMPLE}",
    "/cache/entries": f"/cache/entries?url={SAMPLE}",
    "/problems/{slug}": "/problems/loop",
}
GETS = [path for path, item in contract()["paths"].items() if "get" in item]
STREAMS = ["/prefetch/{id}/events"]
SIGNED = ["/signed/{signature}/{query}"]


@pytest.mark.parametrize("path", [path for path in GETS if path not in STREAMS + SIGNED])
def test_head_answers_like_get(admin: AuthenticatedClient, path: str) -> None:
    job = start_prefetch.sync(client=admin, body=PrefetchOrder(urls=[SAMPLE], widths=[33]))
    assert isinstance(job, PrefetchJob)
    target = TARGETS.get(path, path).replace("{id}", str(job.id))
    http = admin.get_httpx_client()
    http.get(target)  # fills the cache, so that both responses are hits
    expect_same(http.get(target), http.head(target), compares_length=path not in LIVE)


@pytest.mark.parametrize("target", ["/image?url=local:///nothing.jpg", f"/image?url={SAMPLE}&w=0", "/nowhere"])
def test_head_answers_like_get_after_a_failure(admin: AuthenticatedClient, target: str) -> None:
    http = admin.get_httpx_client()
    expect_same(http.get(target), http.head(target), compares_length=True)


def test_head_of_a_stream(admin: AuthenticatedClient) -> None:
    job = start_prefetch.sync(client=admin, body=PrefetchOrder(urls=[SAMPLE], widths=[33]))
    assert admin.get_httpx_client().head(f"/prefetch/{job.id}/events").status_code == 405


def test_no_operation_describes_head_again() -> None:
    assert not [path for path, item in contract()["paths"].items() if "head" in item]


def expect_same(got: httpx.Response, head: httpx.Response, *, compares_length: bool) -> None:
    assert (head.status_code, head.content) == (got.status_code, b"")
    assert fields_of(head) == fields_of(got)
    assert not compares_length or head.headers.get("content-length") == got.headers.get("content-length")


def fields_of(response: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in response.headers.items() if name.lower() not in VARYING}
