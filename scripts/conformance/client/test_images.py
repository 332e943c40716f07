"""Tests the operations that return images and their descriptions, and the problems that they return."""

import hashlib
import inspect
import struct

import pytest
from conftest import contract
from darkroom_client import AuthenticatedClient
from darkroom_client.api.images import get_image, get_info
from darkroom_client.models import CacheMode, Fit, OutputFormat, Problem, ProblemType, SourceDocument, WaitMode
from darkroom_client.models.source_document_color_space import SourceDocumentColorSpace
from darkroom_client.models.source_document_format import SourceDocumentFormat
from darkroom_client.types import UNSET, File, Response

from servers import FIXTURES, RunningServer

SAMPLE = "local:///sample.jpg"


def test_get_image_returns_the_bytes_of_a_webp(admin: AuthenticatedClient) -> None:
    image = get_image.sync(client=admin, url=SAMPLE, w=100, output=OutputFormat.WEBP)
    assert isinstance(image, File)
    body = image.payload.read()
    assert body[:4] == b"RIFF" and body[8:12] == b"WEBP" and len(body) == int.from_bytes(body[4:8], "little") + 8


def test_get_info_returns_json(admin: AuthenticatedClient) -> None:
    document = get_info.sync(client=admin, url=SAMPLE)
    assert isinstance(document, SourceDocument) and (document.width, document.height) == (1067, 1600)


def test_get_image_returns_a_typed_problem(admin: AuthenticatedClient) -> None:
    problem = get_image.sync(client=admin, url="ftp://example.com/photo.jpg")
    assert isinstance(problem, Problem)
    assert (problem.type_, problem.status, problem.parameter) == (ProblemType.INVALID_URL, 400, "url")


def test_a_client_without_configuration_returns_the_same(server: RunningServer) -> None:
    """The content types alone tell bytes, JSON and problems apart."""
    from unconfigured_client import Client
    from unconfigured_client.api.images import get_image, get_info
    from unconfigured_client.models import OutputFormat, Problem, SourceDocument
    from unconfigured_client.types import File

    client = Client(base_url=server.base, httpx_args={"trust_env": False})
    image = get_image.sync(client=client, url_query=SAMPLE, w=100)
    assert isinstance(image, File) and image.payload.read()[:2] == b"\xff\xd8"
    assert isinstance(get_info.sync(client=client, url_query=SAMPLE), SourceDocument)
    assert isinstance(get_image.sync(client=client, url_query="ftp://example.com/"), Problem)
    text = get_image.sync(client=client, url_query=SAMPLE, output=OutputFormat.COLOR)
    assert isinstance(text, File) and text.payload.read().startswith(b"#")


def test_parameters_keep_their_names() -> None:
    names = [parameter["$ref"].rpartition("/")[2] for parameter in contract()["paths"]["/image"]["get"]["parameters"]]
    arguments = set(inspect.signature(get_image.sync).parameters) - {"client"}
    # A hyphen cannot be part of an identifier, and the generator renames the parameter that is an underscore.
    assert arguments == {name.replace("-", "_") if name != "_" else "field_" for name in names}


def test_get_image(admin: AuthenticatedClient) -> None:
    """The client sends every default explicitly, which changes nothing."""
    answer = get_image.sync_detailed(client=admin, url=SAMPLE, w=100, h=50, fit=Fit.COVER, output=OutputFormat.PNG)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "image/png"
    assert isinstance(answer.parsed, File)
    assert png_size(answer.parsed.payload.read()) == (100, 50)
    again = get_image.sync_detailed(client=admin, url=SAMPLE, w=100, h=50, fit=Fit.COVER, output=OutputFormat.PNG)
    assert again.headers["Cache-Status"].startswith("darkroom;hit;")
    assert again.content == answer.content


def test_get_image_with_placeholders(admin: AuthenticatedClient) -> None:
    """They equal the text formats of the same image."""
    answer = get_image.sync_detailed(
        client=admin, url=SAMPLE, w=64, output=OutputFormat.PNG, placeholder="color,blurhash,thumbhash,lqip"
    )
    assert png_size(answer.content)[0] == 64
    names = {"X-Placeholder-Color": OutputFormat.COLOR, "X-Placeholder-BlurHash": OutputFormat.BLURHASH}
    names |= {"X-Placeholder-ThumbHash": OutputFormat.THUMBHASH, "X-Placeholder-Lqip": OutputFormat.LQIP}
    for name, output in names.items():
        text = get_image.sync_detailed(client=admin, url=SAMPLE, w=64, output=output).content.decode()
        assert answer.headers[name] == text


def test_get_image_that_the_client_has_cached(admin: AuthenticatedClient) -> None:
    tag = get_image.sync_detailed(client=admin, url=SAMPLE, w=20).headers["ETag"]
    answer = get_image.sync_detailed(client=admin.with_headers({"If-None-Match": tag}), url=SAMPLE, w=20)
    assert (answer.status_code, answer.parsed, answer.headers["ETag"]) == (304, None, tag)


def test_get_info(admin: AuthenticatedClient) -> None:
    document = get_info.sync(client=admin, url=SAMPLE)
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
    document = get_info.sync(client=admin, url="local:///animation/disposal.gif", fields="all")
    assert isinstance(document, SourceDocument)
    assert document.format_ == SourceDocumentFormat.GIF
    assert isinstance(document.delays, list) and len(document.delays) == document.pages > 1
    assert isinstance(document.palette, list) and document.palette
    assert isinstance(document.blurhash, str) and len(document.blurhash) == 28


def test_get_info_about_caching(admin: AuthenticatedClient, server: RunningServer) -> None:
    url = f"{server.origin}/other.jpg"
    get_image.sync_detailed(client=admin, url=url, w=23, wait=WaitMode.STORED)
    document = get_info.sync(client=admin, url=url, fields="cache")
    assert isinstance(document, SourceDocument) and document.format_ == SourceDocumentFormat.JPEG
    cache = document.cache
    assert cache.fresh and cache.origin["cache-control"] == "max-age=3600"
    assert 0 <= cache.age_seconds <= 60 and 3_500 < cache.remaining_seconds <= 3_600
    assert cache.original.memory and cache.original.disk


def test_get_info_about_positions(admin: AuthenticatedClient) -> None:
    problem = problem_of(get_info.sync_detailed(client=admin, url=SAMPLE, gps=True))
    assert (problem.type_, problem.status, problem.parameter) == (ProblemType.GPS_NOT_ALLOWED, 403, "gps")


@pytest.mark.parametrize(
    ("parameters", "kind", "parameter"),
    [
        ({"w": 0}, ProblemType.INVALID_PARAMETER, "w"),
        ({"crop": "1,2,3"}, ProblemType.INVALID_PARAMETER, "crop"),
        ({"url": "ftp://example.com/photo.jpg"}, ProblemType.INVALID_URL, "url"),
        ({"url": "https://example.com/photo.jpg"}, ProblemType.SOURCE_NOT_ALLOWED, "url"),
        ({"url": "local:///nothing.jpg"}, ProblemType.SOURCE_NOT_FOUND, "url"),
        ({"url": "local:///hostile/bomb.png"}, ProblemType.SOURCE_TOO_LARGE, UNSET),
        ({"url": "local:///hostile/other.tga"}, ProblemType.UNSUPPORTED_IMAGE, UNSET),
        ({"url": "local:///hostile/truncated.jpg"}, ProblemType.CORRUPT_IMAGE, UNSET),
        ({"url": "local:///geometry/grid.png", "cache": CacheMode.ONLY_IF_CACHED}, ProblemType.NOT_CACHED, UNSET),
    ],
)
def test_get_image_problems(
    admin: AuthenticatedClient, parameters: dict[str, object], kind: ProblemType, parameter: str
) -> None:
    problem = problem_of(get_image.sync_detailed(client=admin, **{"url": SAMPLE} | parameters))
    assert problem.type_ == kind
    assert parameter is UNSET or problem.parameter == parameter


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/missing.jpg", ProblemType.SOURCE_NOT_FOUND), ("/broken.jpg", ProblemType.ORIGIN_FAILED)],
)
def test_get_info_problems_of_an_origin(
    admin: AuthenticatedClient, server: RunningServer, path: str, kind: ProblemType
) -> None:
    assert problem_of(get_info.sync_detailed(client=admin, url=server.origin + path)).type_ == kind


def test_get_info_refreshed_without_permission(intruder: AuthenticatedClient) -> None:
    answer = get_info.sync_detailed(client=intruder, url=SAMPLE, cache=CacheMode.RELOAD)
    assert problem_of(answer).type_ == ProblemType.REFRESH_NOT_ALLOWED


def problem_of(answer: Response[object]) -> Problem:
    """The problem document of a response, after checking that it agrees with the response."""
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
