"""Requests the example of every query parameter in the document."""

from collections.abc import Iterator
from typing import Any

import pytest
from conftest import contract
from darkroom_client import AuthenticatedClient

SAMPLE, PAGES = "local:///sample.jpg", "local:///animation/pages.tiff"
SMALL = "local:///orientation/f-6.jpg"
"""Builds without optimization take long to look for faces."""
SERVERS_OWN = {"url", "s", "digest", "preset", "default", "gps"}
"""Parameters whose values depend on the source, or on the settings of a server."""
COMPANIONS = {
    ("fpx", "fpy", "focus"): {"a": "focal"}, ("tbg", "tcorner"): {"trim": "10"}, ("layout",): {"rules": "imgproxy"},
    ("sharpf", "sharpj"): {"sharp": "1"}, ("textsize", "textcolor", "texta"): {"text": "Sale"},
    ("mbg", "mtrim"): {"mask": "circle"}, ("fields",): {"output": "json"}, ("pick",): {"n": "2"},
    ("page",): {"url": PAGES}, ("redact",): {"url": SMALL}, ("facezoom",): {"url": SMALL, "a": "face"},
    ("layers",): {f"mark.{name}": SMALL for name in ("photo", "logo")},
    ("mark", "markw", "markh", "marka", "markx", "marky", "markalpha", "markblend"): {"mark": "local:///formats/alpha.png"},
}
"""What must stand beside a parameter."""


def examples() -> Iterator[Any]:
    document = contract()
    for path in ("/image", "/srcset", "/info", "/explain"):
        for parameter in document["paths"][path]["get"]["parameters"]:
            if "$ref" in parameter:
                parameter = document["components"]["parameters"][parameter["$ref"].rpartition("/")[2]]
            example = parameter.get("example", parameter["schema"].get("example"))
            if parameter["name"] not in SERVERS_OWN and example is not None:
                yield pytest.param(path, parameter["name"], example, id=f"{path[1:]}-{parameter['name']}")


@pytest.mark.parametrize(("path", "name", "example"), examples())
def test_each_example_is_answered(admin: AuthenticatedClient, path: str, name: str, example: Any) -> None:
    others = next((others for names, others in COMPANIONS.items() if name in names), {})
    if path == "/info":
        others = {key: value for key, value in others.items() if key == "url"}
    value = str(example).lower() if isinstance(example, bool) else str(example)
    answer = admin.get_httpx_client().get(path, params={"url": SAMPLE, name: value} | others)
    assert answer.status_code == 200, answer.text
