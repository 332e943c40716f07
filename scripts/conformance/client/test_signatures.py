"""Tests signed requests, signed with the Python package of clients/."""

import base64
import sys

from darkroom_client import AuthenticatedClient
from darkroom_client.api.images import explain_image, get_image, get_info, get_signed_image
from darkroom_client.models import OutputFormat, Problem, ProblemType
from darkroom_client.types import File

from servers import KEY_ID, ROOT, SECRET

sys.path.append(str(ROOT / "clients/python"))
from darkroom_urls import Signer  # noqa: E402

SAMPLE = "local:///sample.jpg"
YEAR_2100 = 4_102_444_800


def signed(path: str, **parameters: str) -> tuple[str, str]:
    """The query without its signature, and the signature."""
    query, _, signature = Signer(KEY_ID, SECRET).url(parameters, path=path).partition("?")[2].rpartition("&s=")
    return query, signature


def test_get_image(signer: AuthenticatedClient) -> None:
    _, signature = signed("/image", url=SAMPLE, w="40", output="png", exp=str(YEAR_2100))
    given = {"url": SAMPLE, "w": 40, "output": OutputFormat.PNG, "exp": YEAR_2100}
    # The generated client also sends every default, and these were not signed.
    answer = signer.get_httpx_client().get(f"/image?url={SAMPLE}&w=40&output=png&exp={YEAR_2100}&s={signature}")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/png")
    refused = get_image.sync(client=signer, s=signature, **given)
    assert isinstance(refused, Problem) and refused.type_ == ProblemType.SIGNATURE_WRONG


def test_get_signed_image(signer: AuthenticatedClient) -> None:
    query, signature = signed("/image", url=SAMPLE, preset="small")
    packed = base64.urlsafe_b64encode(query.encode()).rstrip(b"=").decode()
    answer = get_signed_image.sync_detailed(signature, packed, client=signer)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/png")
    assert isinstance(answer.parsed, File)
    head = signer.get_httpx_client().head(f"/signed/{signature}/{packed}")
    assert (head.status_code, head.content, head.headers["ETag"]) == (200, b"", answer.headers["ETag"])


def test_get_image_without_signature(signer: AuthenticatedClient) -> None:
    for operation in (get_image, get_info, explain_image):
        problem = operation.sync(client=signer, url=SAMPLE)
        assert isinstance(problem, Problem) and problem.type_ == ProblemType.SIGNATURE_REQUIRED


def test_get_info_after_its_expiry_time(signer: AuthenticatedClient) -> None:
    _, signature = signed("/info", url=SAMPLE, exp="1")
    answer = signer.get_httpx_client().get(f"/info?url={SAMPLE}&exp=1&s={signature}")
    assert (answer.status_code, answer.json()["type"]) == (403, "/problems/signature-expired")
