"""Drives the operations that tell of a picture without making it: why it is as it is, where it is, what is cached."""

import hashlib
import re

import pytest
from darkroom_client import AuthenticatedClient
from darkroom_client.api.operation import get_cache_entries, head_cache_entries, purge_cache
from darkroom_client.api.pictures import (
    explain_image,
    get_image,
    get_srcset,
    head_explanation,
    head_srcset,
)
from darkroom_client.models import (
    Explanation,
    OutputFormat,
    Problem,
    ProblemType,
    SourceEntries,
    Srcset,
    WaitMode,
)
from darkroom_client.types import UNSET

from servers import FIXTURES, Running

SAMPLE = "local:///sample.jpg"
SPELLED = "/image?url=local%3A%2F%2F%2Fsample.jpg"


def test_explain_image(admin: AuthenticatedClient) -> None:
    query = {"url_query": SAMPLE, "w": 20, "dpr": 2, "output": OutputFormat.WEBP}
    told = explain_image.sync(client=admin, fetch=True, **query)
    assert isinstance(told, Explanation)
    assert (told.request.canonical, told.request.url) == (f"{SPELLED}&w=40&output=webp", SAMPLE)
    assert [(pair.name, pair.value) for pair in told.request.parameters] == [("w", "40"), ("output", "webp")]
    assert told.format_.name == "webp" and told.format_.mime_type == "image/webp"
    assert told.plan_missing is UNSET
    source = told.plan.source
    assert (source.format_, source.width, source.height, source.pages) == ("jpeg", 1067, 1600, 1)
    assert source.bytes_ == (FIXTURES / "sample.jpg").stat().st_size
    assert told.plan.exact and told.plan.shrink_on_load > 1 and told.plan.steps[0].name == "decode"
    output = told.plan.output
    assert (output.width, output.height, output.frames) == (40, 27, 1)
    side = next(limit for limit in told.limits if limit.setting == "max-output-side")
    assert (side.value, side.limit, side.share) == (40, 8192, 0.005)


def test_explain_image_before_and_after_it_is_made(admin: AuthenticatedClient, things: Running) -> None:
    url = f"{things.origin}/other.jpg"
    purge_cache.sync(client=admin, url_query=url)
    before = explain_image.sync(client=admin, url_query=url, w=21)
    assert isinstance(before, Explanation)
    assert (before.freshness.decision, before.freshness.because) == ("ask", "miss")
    assert before.plan is UNSET and before.plan_missing
    assert not any(entry.memory or entry.disk for entry in before.caches)
    get_image.sync_detailed(client=admin, url_query=url, w=21, wait=WaitMode.STORED)
    after = explain_image.sync(client=admin, url_query=url, w=21)
    assert isinstance(after, Explanation) and after.keys == before.keys
    assert (after.freshness.decision, after.freshness.because) == ("use", "fresh")
    assert after.freshness.lifetime_seconds == 3_600 and 3_500 < after.freshness.remaining_seconds <= 3_600
    assert [entry.entry for entry in after.caches] == ["record", "original", "variant"]
    assert all(entry.memory and entry.disk for entry in after.caches)


def test_explain_image_that_would_fail(admin: AuthenticatedClient) -> None:
    problem = explain_image.sync(client=admin, url_query="local:///nothing.jpg", fetch=True)
    assert isinstance(problem, Problem) and problem.type_ == ProblemType.SOURCE_NOT_FOUND


def test_get_cache_entries(admin: AuthenticatedClient, things: Running) -> None:
    url = f"{things.origin}/photo.jpg"
    purge_cache.sync(client=admin, url_query=url)
    nothing = get_cache_entries.sync(client=admin, url_query=url)
    assert isinstance(nothing, SourceEntries) and nothing.entries == [] and nothing.fetched is UNSET
    get_image.sync_detailed(client=admin, url_query=url, w=22, output=OutputFormat.PNG, wait=WaitMode.STORED)
    told = get_cache_entries.sync(client=admin, url_query=url)
    assert isinstance(told, SourceEntries)
    assert (told.url, told.source) == (url, nothing.source)
    assert told.content_sha256 == hashlib.sha256((FIXTURES / "formats/photo.jpg").read_bytes()).hexdigest()
    assert told.origin["cache-control"] == "max-age=3600" and 3_500 < told.remaining_seconds <= 3_600
    assert told.fetched.utcoffset() is not None
    explained = explain_image.sync(client=admin, url_query=url, w=22, output=OutputFormat.PNG)
    keys = explained.keys
    assert {entry.entry: entry.key for entry in told.entries} == {
        "record": keys.record,
        "original": keys.original,
        "variant": keys.variant,
    }
    assert all(entry.memory and entry.disk and entry.bytes_ > 0 for entry in told.entries)
    assert told.entries[2].format_ == "png"


def test_get_srcset(admin: AuthenticatedClient) -> None:
    """Each address leads to a picture that is as wide as it is said to be."""
    told = get_srcset.sync(
        client=admin, url_query=SAMPLE, widths="40,20,40", sizes='(width<1"),50vw', dpr=2, output=OutputFormat.PNG
    )
    assert isinstance(told, Srcset)
    assert [candidate.width for candidate in told.candidates] == [40, 80]
    assert told.candidates[0].url == f"{SPELLED}&w=40&output=png"
    assert told.srcset == ", ".join(f"{candidate.url} {candidate.width}w" for candidate in told.candidates)
    assert (told.src, told.sizes) == (told.candidates[-1].url, '(width<1"),50vw')
    assert re.fullmatch(r'<img src="[^"<]*" srcset="[^"<]*" sizes="\(width&lt;1&quot;\),50vw" alt="">', told.html)
    for candidate in told.candidates:
        picture = admin.get_httpx_client().get(candidate.url).content
        assert int.from_bytes(picture[16:20], "big") == candidate.width


def test_get_srcset_of_texts(admin: AuthenticatedClient) -> None:
    problem = get_srcset.sync(client=admin, url_query=SAMPLE, output=OutputFormat.COLOR)
    assert isinstance(problem, Problem)
    assert (problem.type_, problem.parameter) == (ProblemType.INVALID_PARAMETER, "output")


@pytest.mark.parametrize("operation", [head_explanation, head_srcset, head_cache_entries])
def test_heads(admin: AuthenticatedClient, operation: object) -> None:
    answer = operation.sync_detailed(client=admin, url_query=SAMPLE)
    assert (answer.status_code, answer.content, answer.parsed) == (200, b"", None)
    assert answer.headers["Content-Type"] == "application/json"
