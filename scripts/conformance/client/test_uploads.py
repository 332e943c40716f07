"""Tests images that are sent in the body."""

import io
from pathlib import Path

import httpx
import pytest
from darkroom_client import AuthenticatedClient
from darkroom_client.api.images import get_image, upload_image
from darkroom_client.models import OutputFormat, Problem, ProblemType, UploadImageFilesBody, UploadImageStore
from darkroom_client.types import File

from servers import FIXTURES, RunningServer

SAMPLE = FIXTURES / "sample.jpg"


def file_of(path: Path, name: str | None = "photo.jpg") -> File:
    return File(payload=io.BytesIO(path.read_bytes()), file_name=name)


@pytest.mark.parametrize("is_form", [False, True], ids=["bytes", "form"])
def test_upload_image(admin: AuthenticatedClient, is_form: bool) -> None:
    """The same image at a URL gives the bytes that come back."""
    body = UploadImageFilesBody(file=file_of(SAMPLE)) if is_form else file_of(SAMPLE)
    answer = upload_image.sync_detailed(client=admin, body=body, w=100, output=OutputFormat.WEBP)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/webp")
    assert answer.headers["Cache-Control"] == "no-store" and "ETag" not in answer.headers
    assert isinstance(answer.parsed, File)
    fetched = get_image.sync(client=admin, url="local:///sample.jpg", w=100, output=OutputFormat.WEBP)
    assert answer.parsed.payload.read() == fetched.payload.read()


def test_upload_image_to_be_stored(admin: AuthenticatedClient) -> None:
    """What is stored is not told: another client may have uploaded the same."""
    for _ in range(2):
        answer = upload_image.sync_detailed(client=admin, body=file_of(SAMPLE), w=31, store=UploadImageStore.VARIANT)
        assert answer.headers["Cache-Status"] == "darkroom;fwd=bypass;detail=upload"
        assert answer.headers["Server-Timing"].startswith("total;")


def test_a_client_without_configuration_uploads_the_same(server: RunningServer) -> None:
    from unconfigured_client import Client
    from unconfigured_client.api.images import upload_image
    from unconfigured_client.types import File

    client = Client(base_url=server.base, httpx_args={"trust_env": False})
    image = upload_image.sync(client=client, body=File(payload=io.BytesIO(SAMPLE.read_bytes())), w=100)
    assert isinstance(image, File) and image.payload.read()[:2] == b"\xff\xd8"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (File(payload=io.BytesIO(b"")), ProblemType.INVALID_BODY),
        (File(payload=io.BytesIO(b"no image")), ProblemType.UNSUPPORTED_IMAGE),
        (file_of(FIXTURES / "hostile/truncated.jpg"), ProblemType.CORRUPT_IMAGE),
        (file_of(FIXTURES / "hostile/bomb.png"), ProblemType.SOURCE_TOO_LARGE),
        (UploadImageFilesBody(file=file_of(SAMPLE, name=None)), ProblemType.INVALID_BODY),
    ],
    ids=["empty", "text", "truncated", "bomb", "no file name"],
)
def test_upload_image_problems(admin: AuthenticatedClient, body: File, kind: ProblemType) -> None:
    problem = upload_image.sync(client=admin, body=body, w=10)
    assert isinstance(problem, Problem) and problem.type_ == kind


def test_upload_image_with_another_type(admin: AuthenticatedClient) -> None:
    answer = admin.get_httpx_client().post("/image", content=b"x", headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415
    assert Problem.from_dict(answer.json()).type_ == ProblemType.UNSUPPORTED_BODY


def test_upload_image_with_a_url(admin: AuthenticatedClient) -> None:
    answer = admin.get_httpx_client().post("/image?url=local:///sample.jpg", content=SAMPLE.read_bytes())
    assert (answer.status_code, answer.json()["parameter"]) == (400, "url")


def test_upload_image_without_signature(signer: AuthenticatedClient) -> None:
    problem = upload_image.sync(client=signer, body=file_of(SAMPLE))
    assert isinstance(problem, Problem) and problem.type_ == ProblemType.SIGNATURE_REQUIRED


def test_a_connection_outlives_a_refused_body(server: RunningServer) -> None:
    """The client library reuses the connection only if the response to the unread body allows it."""
    with httpx.Client(base_url=server.base, trust_env=False, timeout=120) as client:
        for _ in range(3):
            answer = client.post("/image", content=bytes(5 << 20), headers={"Content-Type": "text/plain"})
            assert answer.status_code == 415
            assert client.get("/image", params={"url": "local:///sample.jpg", "w": 9}).status_code == 200
