"""Rotation by any angle, in each of the dialects."""

from collections.abc import Iterator

from attack.judge import ROTATION_SECONDS, Check, made_within
from attack.lab import LOOPBACK, Lab, cost, image
from server import encoded

SIZE = (2725, 2225)
QUERIES = ("w=2000&ro=45", "w=2000&ro=30&mask=circle", "w=2000&ro=45&cut=100,100,900,900", "w=2000&ro=45&blur=3")


def rotation(lab: Lab) -> Iterator[Check]:
    """An image of 6 megapixels that is rotated by any angle takes a few seconds of processor time."""
    lab.origin.documents["large"] = lambda _: lab.photograph(*SIZE)
    url = lab.origin.url("large/1.jpg")
    paths = [image(url, query) for query in QUERIES]
    paths += [f"/?url={encoded(url)}&w=2000&ro=45", f"/?url={encoded(url)}&w=2000&ro=30&mask=circle"]
    paths += [f"/iiif/{encoded(url)}/full/2000,/45/default.jpg", f"/iiif/{encoded(url)}/full/2000,/!22.5/default.png"]
    with lab.server(LOOPBACK, "--iiif=true") as server:
        for path in paths:
            yield made_within(path, cost(server, path), ROTATION_SECONDS)


ATTACKS = [rotation]
