"""Drives the operations about pictures, and the problems that they end in."""

import hashlib
import struct

import pytest
from darkroom_client import AuthenticatedClient
from darkroom_client.api.pictures import get_image, get_info, head_image, head_info
from darkroom_client.models import CacheMode, Fit, OutputFormat, Problem, ProblemType, SourceDocument, WaitMode
from darkroom_client.models.source_document_color_space import SourceDocumentColorSpace
from darkroom_client.models.source_document_format import SourceDocumentFormat
from darkroom_client.types import UNSET, File, Response

from servers import FIXTURES, Running

SAMPLE = "local:///sample.jpg"


def test_get_image(admin: AuthenticatedClient) -> None:
    """Every default is written out by the client, and changes nothing."""
    answer = get_image.sync_detailed(client=admin, url_query=SAMPLE, w=100, h=50, fit=Fit.COVER, output=OutputFormat.PNG)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "image/png"
    assert isinstance(answer.parsed, File)
    assert png_size(answer.parsed.payload.read()) == (100, 50)
    again = get_image.sync_detailed(client=admin, url_query=SAMPLE, w=100, h=50, fit=Fit.COVER, output=OutputFormat.PNG)
    assert again.headers["Cache-Status"].startswith("darkroom;hit;")
    assert again.content == answer.content


def test_get_image_with_placeholders(admin: AuthenticatedClient) -> None:
    """They are those that the texts of the same picture would be."""
    answer = get_image.sync_detailed(
        client=admin, url_query=SAMPLE, w=64, output=OutputFormat.PNG, placeholder="color,blurhash,thumbhash,lqip"
    )
    assert png_size(answer.content)[0] == 64
    names = {"X-Placeholder-Color": OutputFormat.COLOR, "X-Placeholder-BlurHash": OutputFormat.BLURHASH}
    names |= {"X-Placeholder-ThumbHash": OutputFormat.THUMBHASH, "X-Placeholder-Lqip": OutputFormat.LQIP}
    for name, output in names.items():
        text = get_image.sync_detailed(client=admin, url_query=SAMPLE, w=64, output=output).content.decode()
        assert answer.headers[name] == text


def test_get_image_that_the_client_has(admin: AuthenticatedClient) -> None:
    tag = get_image.sync_detailed(client=admin, url_query=SAMPLE, w=20).headers["ETag"]
    answer = get_image.sync_detailed(client=admin.with_headers({"If-None-Match": tag}), url_query=SAMPLE, w=20)
    assert (answer.status_code, answer.parsed, answer.headers["ETag"]) == (304, None, tag)


def test_head_image(admin: AuthenticatedClient) -> None:
    got = get_image.sync_detailed(client=admin, url_query=SAMPLE, w=20)
    answer = head_image.sync_detailed(client=admin, url_query=SAMPLE, w=20)
    assert (answer.status_code, answer.content, answer.parsed) == (200, b"", None)
    for name in ("Content-Type", "Content-Length", "ETag"):
        assert answer.headers[name] == got.headers[name]


def test_get_info(admin: AuthenticatedClient) -> None:
    document = get_info.sync(client=admin, url_query=SAMPLE)
    assert isinstance(document, SourceDocument)
    original = (FIXTURES / "sample.jpg").read_bytes()
    assert (document.format_, document.mime_type) == (SourceDocumentFormat.JPEG, "image/jpeg")
    assert (document.bytes_, document.sha256) == (len(original), hashlib.sha256(original).hexdigest())
    assert (document.width, document.height, document.orientation) == (1067, 1600, 6)
    assert (document.upright_width, document.upright_height) == (1600, 1067)
    assert (document.color_space, document.has_alpha) == (SourceDocumentColorSpace.RGB, False)
    assert document.metadata.artist == "Darkroom contributors"
    assert document.blurhash is UNSET and document.palette is UNSET


def test_get_info_with_all_fields(admin: AuthenticatedClient) -> None:
    document = get_info.sync(client=admin, url_query="local:///animation/disposal.gif", fields="all")
    assert isinstance(document, SourceDocument)
    assert document.format_ == SourceDocumentFormat.GIF
    assert isinstance(document.delays, list) and len(document.delays) == document.pages > 1
    assert isinstance(document.palette, list) and document.palette
    assert isinstance(document.blurhash, str) and len(document.blurhash) == 28


def test_get_info_about_caching(admin: AuthenticatedClient, things: Running) -> None:
    url = f"{things.origin}/other.jpg"
    get_image.sync_detailed(client=admin, url_query=url, w=23, wait=WaitMode.STORED)
    document = get_info.sync(client=admin, url_query=url, fields="cache")
    assert isinstance(document, SourceDocument) and document.format_ == SourceDocumentFormat.JPEG
    cache = document.cache
    assert cache.fresh and cache.origin["cache-control"] == "max-age=3600"
    assert 0 <= cache.age_seconds <= 60 and 3_500 < cache.remaining_seconds <= 3_600
    assert cache.original.memory and cache.original.disk


def test_get_info_about_positions(admin: AuthenticatedClient) -> None:
    problem = problem_of(get_info.sync_detailed(client=admin, url_query=SAMPLE, gps=True))
    assert (problem.type_, problem.status, problem.parameter) == (ProblemType.GPS_NOT_ALLOWED, 403, "gps")


def test_head_info(admin: AuthenticatedClient) -> None:
    answer = head_info.sync_detailed(client=admin, url_query=SAMPLE)
    assert (answer.status_code, answer.content, answer.parsed) == (200, b"", None)
    assert answer.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("parameters", "kind", "parameter"),
    [
        ({"w": 0}, ProblemType.INVALID_PARAMETER, "w"),
        ({"crop": "1,2,3"}, ProblemType.INVALID_PARAMETER, "crop"),
        ({"url_query": "ftp://example.com/photo.jpg"}, ProblemType.INVALID_URL, "url"),
        ({"url_query": "https://example.com/photo.jpg"}, ProblemType.SOURCE_NOT_ALLOWED, "url"),
        ({"url_query": "local:///nothing.jpg"}, ProblemType.SOURCE_NOT_FOUND, "url"),
        ({"url_query": "local:///hostile/bomb.png"}, ProblemType.SOURCE_TOO_LARGE, UNSET),
        ({"url_query": "local:///hostile/other.bmp"}, ProblemType.UNSUPPORTED_IMAGE, UNSET),
        ({"url_query": "local:///hostile/truncated.jpg"}, ProblemType.CORRUPT_IMAGE, UNSET),
        ({"url_query": "local:///geometry/grid.png", "cache": CacheMode.ONLY_IF_CACHED}, ProblemType.NOT_CACHED, UNSET),
    ],
)
def test_get_image_problems(
    admin: AuthenticatedClient, parameters: dict[str, object], kind: ProblemType, parameter: str
) -> None:
    problem = problem_of(get_image.sync_detailed(client=admin, **{"url_query": SAMPLE} | parameters))
    assert problem.type_ == kind
    assert parameter is UNSET or problem.parameter == parameter


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/missing.jpg", ProblemType.SOURCE_NOT_FOUND), ("/broken.jpg", ProblemType.ORIGIN_FAILED)],
)
def test_get_info_problems_of_an_origin(
    admin: AuthenticatedClient, things: Running, path: str, kind: ProblemType
) -> None:
    assert problem_of(get_info.sync_detailed(client=admin, url_query=things.origin + path)).type_ == kind


def test_get_info_refreshed_by_a_stranger(stranger: AuthenticatedClient) -> None:
    answer = get_info.sync_detailed(client=stranger, url_query=SAMPLE, cache=CacheMode.RELOAD)
    assert problem_of(answer).type_ == ProblemType.REFRESH_NOT_ALLOWED


def problem_of(answer: Response[object]) -> Problem:
    """That of an answer, which has to agree with itself."""
    problem = answer.parsed
    assert isinstance(problem, Problem)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert problem.status == answer.status_code
    assert problem.instance == f"urn:request:{answer.headers['X-Request-Id']}"
    assert problem.title and problem.detail.endswith(".")
    return problem


def png_size(body: bytes) -> tuple[int, int]:
    assert body.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", body[16:24])
