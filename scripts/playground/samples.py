"""Tests of servers without a local root: with images of their own, and with the page turned off."""

from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from .person import Person
from .server import running


def arrives_without_images_of_ones_own(person: Person) -> None:
    person.opens()
    person.sees_result(r"600 × 400 JPEG, 46 KB → 480 × 320 WebP, [\d.]+ KB")
    person.reads("#saved", r"^\d+% saved$")
    for name in ("cat.jpg", "paper-plane.svg"):
        person.clicks(f"#samples button[data-url$='{name}']")
        person.sees_result("→ .* WebP")
    person.sees_no_overflow()
    person.takes_screenshot("0-own-samples")


def reads_the_reference(person: Person) -> None:
    person.clicks("nav a[href=reference]")
    person.reads("h1", "API reference")
    person.clicks("a[href='#parameter-fit']")
    person.reads("#parameter-fit", "inside, outside, cover, contain, fill")
    person.sees_no_overflow()


def sees_no_page_that_is_turned_off(executable: Path) -> None:
    with running(executable, None, "--playground", "false") as address:
        try:
            urlopen(f"{address}/")
            raise AssertionError("the page is there although it is turned off")
        except HTTPError as error:
            assert error.code == 404, error


SCENARIOS = [arrives_without_images_of_ones_own, reads_the_reference]
