"""Tests the operations of the IIIF Image API."""

from darkroom_client import AuthenticatedClient
from darkroom_client.api.images import get_iiif_base, get_iiif_image, get_iiif_information
from darkroom_client.models import IIIFInformation, Problem
from darkroom_client.types import File

SAMPLE = "local:///sample.jpg"


def test_the_base_uri_redirects_to_the_document(admin: AuthenticatedClient) -> None:
    response = get_iiif_base.sync_detailed(SAMPLE, client=admin)
    assert response.status_code == 303 and response.headers["location"].endswith("/info.json")


def test_the_document_is_typed(admin: AuthenticatedClient) -> None:
    document = get_iiif_information.sync(SAMPLE, client=admin)
    assert isinstance(document, IIIFInformation) and (document.width, document.height) == (1600, 1067)


def test_an_image_is_bytes(admin: AuthenticatedClient) -> None:
    image = get_iiif_image.sync(SAMPLE, "square", "40,", "0", "gray.png", client=admin)
    assert isinstance(image, File) and image.payload.read()[:4] == b"\x89PNG"
    problem = get_iiif_image.sync(SAMPLE, "full", "9000,", "0", "default.jpg", client=admin)
    assert isinstance(problem, Problem) and problem.parameter == "size"
