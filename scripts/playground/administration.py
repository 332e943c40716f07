"""Tests of the views that require the admin token, in the same form as the tests of the image view."""

from selenium.webdriver.common.by import By

from .person import Person
from .image import LAKE
from .server import ADMIN_TOKEN


def opens_with_the_token(person: Person) -> None:
    person.opens(f"#view=cache&url={LAKE}")
    person.expected_failures = ["status of 401"]
    person.writes("#token", "another-token-altogether\n")
    person.reads("#gate-trouble", "admin token")
    assert not person.driver.find_element(By.ID, "tiers").is_displayed(), "the view is visible without the token"
    person.takes_screenshot("9-gate")
    person.writes("#token", f"{ADMIN_TOKEN}\n")
    person.reads("#tiers", r"(?s)Memory.*of 256 MiB.*Disk.*of 10 GiB.*Decoded images")
    kept = person.run("return [localStorage.length, document.cookie, location.href, [...Object.values(sessionStorage)].join()]")
    assert kept[:2] == [0, ""] and ADMIN_TOKEN not in kept[2] and kept[3] == ADMIN_TOKEN, kept
    person.sees_labels()


def looks_up_entries(person: Person) -> None:
    person.clicks("#entries button")
    person.reads("#entries-report", r"(?s)record.*original.*variant")


def purges(person: Person) -> None:
    """The preview comes first; only then is there a button that purges."""
    assert not person.driver.find_element(By.ID, "purge-do").is_displayed()
    person.clicks("#purge-try")
    person.reads("#purge-report", rf"(?s)Would be purged: 1 source, \d+ entries.*{LAKE}")
    person.sees_no_overflow()
    person.takes_screenshot("10-cache")
    entries = person.reads("#purge-do", r"^Remove (\d+) entries$")[1]
    person.clicks("#purge-do")
    person.reads("#purge-report", rf"Purged: 1 source, {entries} entries")
    person.clicks("#purge-try")
    person.reads("#purge-report", "Nothing is cached")
    person.clicks("#entries button")
    person.reads("#entries-report", "Nothing is cached")


def prefetches(person: Person) -> None:
    person.clicks("nav [data-view=prefetch]")
    person.writes("#prefetch-urls", f"{LAKE}\nlocal:///formats/photo.jpg\nlocal:///hostile/truncated.jpg")
    person.writes("#prefetch-widths", "200,400")
    person.writes("#prefetch-queries", "w=100&output=jpg")
    person.reads("#prefetch-count", "^9 images$")
    person.clicks("#prefetch-start")
    person.reads("#job-state", "^done$")
    person.reads("#job-figures", r"^9 of 9, 3 failed, [\d.]+ KB$")
    assert person.run("const bar = document.getElementById('job-progress'); return bar.value / bar.max") == 1
    person.reads("#job-failures", r"(corrupt|damaged).*\n.*truncated\.jpg w=200")
    person.reads("#jobs", r"done 9 of 9")
    person.sees_labels()
    person.sees_no_overflow()
    person.takes_screenshot("11-prefetch")


def uses_what_was_prefetched(person: Person) -> None:
    person.opens(f"#url={LAKE}&w=400&output=webp")
    person.sees_result(r"→ 400 × 267 WebP")
    person.opens(f"#url={LAKE}&w=100&output=jpg")
    person.sees_result(r"→ 100 × 67 JPEG")
    person.reads("#answered", "^(Memory|Disk)$")


def makes_mistakes(person: Person) -> None:
    person.opens("#view=prefetch")
    person.expected_failures = ["status of 400"]
    person.writes("#prefetch-urls", f"{LAKE}\n\nno-url\n{LAKE}")
    person.clicks("#prefetch-start")
    person.reads("#prefetch-trouble", "(?is)scheme.*Line 3: no-url")
    area = "const area = document.getElementById('prefetch-urls'); "
    assert person.run(f"{area} return area.value.slice(area.selectionStart, area.selectionEnd)") == "no-url", "the line is not selected"
    person.sees_marked("#prefetch-urls")


def removes_the_token(person: Person) -> None:
    person.clicks("#sign-out")
    person.finds("#token")
    assert not person.driver.find_element(By.ID, "prefetch").is_displayed(), "the view stays visible without the token"
    assert person.run("return sessionStorage.length") == 0


SCENARIOS = [
    opens_with_the_token, looks_up_entries, purges, prefetches, uses_what_was_prefetched, makes_mistakes,
    removes_the_token,
]  # fmt: skip
