"""Tests of servers without a local root: with images of their own, with keys, and with the page turned off."""

from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from selenium.webdriver.common.keys import Keys

from .person import Person, Screen, browser
from .server import ADMIN_TOKEN, running


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
    person.writes("nav input[type=search]", "saturation")
    person.finds("nav a[href='#parameter-sat']")
    person.until(lambda: not person.run("return document.querySelector(\"nav a[href='#parameter-fit']\").checkVisibility()"), "fit is left out")


def sees_what_a_server_with_keys_needs(executable: Path, screen: Screen) -> None:
    keys = "k1:0123456789abcdef0123456789abcdef"
    with running(executable, None, "--signing-keys", keys) as address, browser() as driver:
        person = Person(driver, address, screen, None)
        person.opens()
        person.reads("#blank", "signed URLs only.*admin token")
        person.sees_quiet_console()
        person.clicks("#unsigned a")
        person.writes("#token", ADMIN_TOKEN + Keys.ENTER)
        person.clicks("nav [data-view=image]")
        person.sees_result(r"→ 480 × 320 WebP")


def sees_no_page_that_is_turned_off(executable: Path) -> None:
    with running(executable, None, "--playground", "false") as address:
        try:
            urlopen(f"{address}/")
            raise AssertionError("the page is there although it is turned off")
        except HTTPError as error:
            assert error.code == 404, error


SCENARIOS = [arrives_without_images_of_ones_own, reads_the_reference]
