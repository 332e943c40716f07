"""A person who uses the page in Chromium. Every check waits for the expected state."""

import base64
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

WAIT_SECONDS = 30
Seen = TypeVar("Seen")


class Screen(NamedTuple):
    width: int
    height: int
    scheme: str

    @property
    def name(self) -> str:
        return f"{self.width}-{self.scheme}"


def browser() -> webdriver.Chrome:
    """The installed Chromium. Selenium must not download another one."""
    os.environ.update(SE_OFFLINE="true", SE_AVOID_STATS="true")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for argument in ("--no-sandbox", "--headless=new", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    return webdriver.Chrome(options=options, service=service)


class Person:
    def __init__(self, driver: webdriver.Chrome, address: str, screen: Screen, screenshots: Path | None) -> None:
        self.driver, self.address, self.screen, self.screenshots = driver, address, screen, screenshots
        self.expected_failures: list[str] = []
        metrics = {"width": screen.width, "height": screen.height, "deviceScaleFactor": 1, "mobile": False}
        scheme = {"name": "prefers-color-scheme", "value": screen.scheme}
        motion = {"name": "prefers-reduced-motion", "value": "reduce"}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, motion]})

    # Actions

    def opens(self, fragment: str = "") -> None:
        """Loads the page anew, without any state of an earlier visit."""
        self.driver.get("about:blank")
        self.driver.get(f"{self.address}/{fragment}")

    def finds(self, selector: str) -> WebElement:
        return self.until(lambda: self._shown(selector), f"'{selector}' is not shown")

    def _shown(self, selector: str) -> WebElement | None:
        # is_displayed() would exclude transparent controls, which are usable.
        return self.run(f"return [...document.querySelectorAll({selector!r})].find((it) => it.checkVisibility())")

    def brings_up(self, selector: str) -> WebElement:
        element = self.finds(selector)
        self.run("arguments[0].scrollIntoView({ block: 'center', inline: 'center' })", element)
        return element

    def clicks(self, selector: str) -> None:
        self.brings_up(selector).click()

    def chooses(self, name: str, value: str) -> None:
        """Selects a radio button by a click on its label."""
        self.clicks(f"label:has(> input[name={name}][value='{value}'])")
        self.until(lambda: self.run(f"return document.querySelector('input[name={name}]:checked').value") == value, value)

    def writes(self, selector: str, text: str) -> None:
        element = self.brings_up(selector)
        element.send_keys(Keys.CONTROL, "a")
        element.send_keys(Keys.DELETE if text == "" else text)

    def presses(self, selector: str, *keys: str) -> None:
        self.brings_up(selector).send_keys(*keys)

    def drags(self, selector: str, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drags from one position in an element to another, both as fractions of its size."""
        element = self.brings_up(selector)
        size = element.size

        def offset(place: tuple[float, float]) -> tuple[int, int]:
            return round((place[0] - 0.5) * size["width"]), round((place[1] - 0.5) * size["height"])

        actions = ActionChains(self.driver, duration=50).move_to_element_with_offset(element, *offset(start)).click_and_hold()
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        for place in (middle, end):
            actions.move_to_element_with_offset(element, *offset(place))
        actions.release().perform()

    def run(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    # Checks

    def until(self, condition: Callable[[], Seen | None], message: str) -> Seen:
        """Waits for the condition to return a truthy value, and returns that value."""
        wait = WebDriverWait(self.driver, WAIT_SECONDS, poll_frequency=0.05, ignored_exceptions=[StaleElementReferenceException])
        try:
            return wait.until(lambda _: condition())
        except TimeoutException:
            self.takes_screenshot("failed")
            raise AssertionError(f"{self.screen.name}: {message}; the URL is {self.driver.current_url}") from None

    def reads(self, selector: str, pattern: str) -> re.Match[str]:
        """Waits until the text of an element matches."""
        latest = ""

        def match() -> re.Match[str] | None:
            nonlocal latest
            shown = self._shown(selector)
            latest = shown.text if shown else "(not shown)"
            return re.search(pattern, latest)

        try:
            return self.until(match, "")
        except AssertionError:
            raise AssertionError(f"{self.screen.name}: the text of '{selector}' is '{latest}', which does not match /{pattern}/") from None

    def sees_result(self, pattern: str) -> re.Match[str]:
        """Waits until the summary matches and no request is in flight."""
        found = self.reads("#summary", pattern)
        for part in ("canvas", "panels"):
            self.until(lambda part=part: self.run(f"return document.getElementById('{part}').ariaBusy") == "false", f"the {part} stays busy")
        return found

    def fragment(self, name: str, pattern: str) -> str:
        """Waits until the URL fragment has a matching value."""

        def value() -> str | None:
            found = re.search(rf"[#&]{name}=([^&]*)", self.driver.current_url)
            return found[1] if found and re.fullmatch(pattern, found[1]) else None

        return self.until(value, f"the URL has no {name} matching /{pattern}/")

    def sees_marked(self, selector: str) -> None:
        self.until(lambda: self.finds(selector).get_attribute("aria-invalid") == "true", f"'{selector}' is not marked")

    def sees_labels(self) -> None:
        """Every control has an accessible name."""
        unnamed = [
            element.get_attribute("outerHTML")
            for element in self.driver.find_elements(By.CSS_SELECTOR, "button, input, select, textarea, a, [tabindex='0']")
            if element.is_displayed() and not element.accessible_name and element.get_attribute("role") != "tabpanel"
        ]
        assert not unnamed, f"{self.screen.name}: no accessible name: {unnamed}"

    def sees_no_overflow(self) -> None:
        width = self.run("return document.documentElement.scrollWidth")
        assert width <= self.screen.width, f"{self.screen.name}: the page is {width} pixels wide"

    def takes_screenshot(self, name: str) -> None:
        """Saves a screenshot of the whole page."""
        if self.screenshots is None:
            return
        self.run("scrollTo(0, 0)")
        height = min(6000, self.run("return document.documentElement.scrollHeight"))
        clip = {"x": 0, "y": 0, "width": self.screen.width, "height": height, "scale": 1}
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        (self.screenshots / f"{self.screen.name}-{name}.png").write_bytes(base64.b64decode(shot["data"]))

    def sees_quiet_console(self) -> None:
        """The console has no messages except expected failures of requests, which are reset."""
        for entry in self.driver.get_log("browser"):
            is_expected = entry["source"] == "network" and any(part in entry["message"] for part in self.expected_failures)
            assert is_expected, f"{self.screen.name}: the console says {entry['message']}"
        self.expected_failures = []
