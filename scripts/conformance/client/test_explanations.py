"""Tests the operations that describe images without making them: explanations, srcsets and cache entries."""

import hashlib
import re

from darkroom_client import AuthenticatedClient
from darkroom_client.api.operations import get_cache_entries, purge_cache
from darkroom_client.api.images import explain_image, get_image, get_srcset
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

from servers import FIXTURES, RunningServer

SAMPLE = "local:///sample.jpg"
CANONICAL = "/image?url=local%3A%2F%2F%2Fsample.jpg"


def test_explain_image(admin: AuthenticatedClient) -> None:
    query = {"url": SAMPLE, "w": 20, "dpr": 2, "output": OutputFormat.WEBP}
    explanation = explain_image.sync(client=admin, fetch=True, **query)
    assert isinstance(explanation, Explanation)
    assert (explanation.request.canonical, explanation.request.url) == (f"{CANONICAL}&w=40&output=webp", SAMPLE)
    assert [(pair.name, pair.value) for pair in explanation.request.parameters] == [("w", "40"), ("output", "webp")]
    assert explanation.format_.name == "webp" and explanation.format_.mime_type == "image/webp"
    assert explanation.plan_missing is UNSET
    source = explanation.plan.source
    assert (source.format_, source.width, source.height, source.pages) == ("jpeg", 1067, 1600, 1)
    assert source.bytes_ == (FIXTURES / "sample.jpg").stat().st_size
    assert explanation.plan.exact and explanation.plan.shrink_on_load > 1 and explanation.plan.steps[0].name == "decode"
    output = explanation.plan.output
    assert (output.width, output.height, output.frames) == (40, 27, 1)
    side = next(limit for limit in explanation.limits if limit.setting == "max-output-side")
    assert (side.value, side.limit, side.share) == (40, 8192, 0.005)


def test_explain_image_before_and_after_it_is_made(admin: AuthenticatedClient, server: RunningServer) -> None:
    url = f"{server.origin}/other.jpg"
    purge_cache.sync(client=admin, url=url)
    before = explain_image.sync(client=admin, url=url, w=21)
    assert isinstance(before, Explanation)
    assert (before.freshness.decision, before.freshness.because) == ("ask", "miss")
    assert before.plan is UNSET and before.plan_missing
    assert not any(entry.memory or entry.disk for entry in before.caches)
    get_image.sync_detailed(client=admin, url=url, w=21, wait=WaitMode.STORED)
    after = explain_image.sync(client=admin, url=url, w=21)
    assert isinstance(after, Explanation) and after.keys == before.keys
    assert (after.freshness.decision, after.freshness.because) == ("use", "fresh")
    assert after.freshness.lifetime_seconds == 3_600 and 3_500 < after.freshness.remaining_seconds <= 3_600
    assert [entry.entry for entry in after.caches] == ["record", "original", "variant"]
    assert all(entry.memory and entry.disk for entry in after.caches)


def test_explain_image_that_would_fail(admin: AuthenticatedClient) -> None:
    problem = explain_image.sync(client=admin, url="local:///nothing.jpg", fetch=True)
    assert isinstance(problem, Problem) and problem.type_ == ProblemType.SOURCE_NOT_FOUND


def test_get_cache_entries(admin: AuthenticatedClient, server: RunningServer) -> None:
    url = f"{server.origin}/photo.jpg"
    purge_cache.sync(client=admin, url=url)
    nothing = get_cache_entries.sync(client=admin, url=url)
    assert isinstance(nothing, SourceEntries) and nothing.entries == [] and nothing.fetched is UNSET
    get_image.sync_detailed(client=admin, url=url, w=22, output=OutputFormat.PNG, wait=WaitMode.STORED)
    document = get_cache_entries.sync(client=admin, url=url)
    assert isinstance(document, SourceEntries)
    assert (document.url, document.source) == (url, nothing.source)
    assert document.content_sha256 == hashlib.sha256((FIXTURES / "formats/photo.jpg").read_bytes()).hexdigest()
    assert document.origin["cache-control"] == "max-age=3600" and 3_500 < document.remaining_seconds <= 3_600
    assert document.fetched.utcoffset() is not None
    explained = explain_image.sync(client=admin, url=url, w=22, output=OutputFormat.PNG)
    keys = explained.keys
    assert {entry.entry: entry.key for entry in document.entries} == {
        "record": keys.record,
        "original": keys.original,
        "variant": keys.variant,
    }
    assert all(entry.memory and entry.disk and entry.bytes_ > 0 for entry in document.entries)
    assert document.entries[2].format_ == "png"


def test_get_srcset(admin: AuthenticatedClient) -> None:
    """Each URL leads to an image of the stated width."""
    srcset = get_srcset.sync(
        client=admin, url=SAMPLE, widths="40,20,40", sizes='(width<1"),50vw', dpr=2, output=OutputFormat.PNG
    )
    assert isinstance(srcset, Srcset)
    assert [candidate.width for candidate in srcset.candidates] == [40, 80]
    assert srcset.candidates[0].url == f"{CANONICAL}&w=40&output=png"
    assert srcset.srcset == ", ".join(f"{candidate.url} {candidate.width}w" for candidate in srcset.candidates)
    assert (srcset.src, srcset.sizes) == (srcset.candidates[-1].url, '(width<1"),50vw')
    sizes = r'sizes="\(width&lt;1&quot;\),50vw"'
    rest = f'width="80" height="{srcset.height}" alt="" loading="lazy" decoding="async"'
    assert re.fullmatch(rf'<img src="[^"<]*" srcset="[^"<]*" {sizes} {rest}>', srcset.html)
    assert srcset.width == 80 and not srcset.picture
    for candidate in srcset.candidates:
        image = admin.get_httpx_client().get(candidate.url).content
        assert int.from_bytes(image[16:20], "big") == candidate.width


def test_get_srcset_beyond_the_source(admin: AuthenticatedClient) -> None:
    """A width beyond the source becomes its width, and the source has to be read."""
    srcset = get_srcset.sync(client=admin, url=SAMPLE, widths="800,1600,3200")
    assert isinstance(srcset, Srcset)
    assert [candidate.width for candidate in srcset.candidates] == [800, 1600]
    assert 'type="image/avif"' in srcset.picture and 'type="image/webp"' in srcset.picture
    problem = get_srcset.sync(client=admin, url="local:///nowhere.jpg")
    assert isinstance(problem, Problem)
    assert problem.type_ == ProblemType.SOURCE_NOT_FOUND


def test_get_srcset_of_a_text_format(admin: AuthenticatedClient) -> None:
    problem = get_srcset.sync(client=admin, url=SAMPLE, output=OutputFormat.COLOR)
    assert isinstance(problem, Problem)
    assert (problem.type_, problem.parameter) == (ProblemType.INVALID_PARAMETER, "output")
