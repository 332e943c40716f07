"""Tests of the image view. Each function is a scenario that continues where the one before it ended."""

import html
import re
from urllib.request import Request, urlopen

from selenium.webdriver.common.keys import Keys

from .person import Person
from .server import ROOT

SWIFT = (ROOT / "Sources/Web/Pages/Playground/swift.js").read_text()
LAKE = "local:///sample.jpg"
LAKE_WIDTH = 1600
WIDTH = "input[inputmode=numeric][data-parameter=w]"


def arrives(person: Person) -> None:
    """The first visit shows a sample image, transformed and compared with its original."""
    person.opens()
    person.sees_result(r"1,600 × 1,067 JPEG, 112 KB → 640 × 427 WebP, [\d.]+ KB")
    person.reads("#saved", r"^\d+% saved$")
    person.reads("#answered", r"^(Memory|Disk|Original|Origin)$")
    person.reads("#took", r"^[\d.]+ ms$")
    for name in ("before", "after"):
        assert person.run(f"return document.getElementById('{name}').naturalWidth") > 0, f"{name} is not loaded"
    person.sees_no_overflow()
    person.sees_labels()
    person.takes_screenshot("1-arrival")


def asks_again(person: Person) -> None:
    """The second answer comes from memory, so that nothing was read, let alone downloaded."""
    person.clicks("#again")
    person.reads("#answered", "^Memory$")
    person.reads("#timing-legend", "No work needed")
    person.writes(WIDTH, "500")
    person.sees_result("→ 500 × 333 WebP")
    person.reads("#answered-note", "Made from the original")
    assert "Download" not in person.finds("#timing-legend").text, "nothing was downloaded"
    person.writes(WIDTH, "640")
    person.sees_result("→ 640 × 427 WebP")


def uses_the_result_bar(person: Person) -> None:
    """The URL below the image leads to it."""
    person.until(lambda: "w=640" in person.finds("#address").get_attribute("value"), "the bar has no URL")
    target = person.finds("#address").get_attribute("value")
    assert person.finds("#address-open").get_attribute("href") == target
    with urlopen(Request(target, headers={"Accept": "image/webp"})) as answer:
        assert answer.headers["Content-Type"] == "image/webp", target
    assert copies(person, "#address-copy", "URL copied") == target


def copies(person: Person, button: str, said: str) -> str:
    """What a copy button puts into the clipboard."""
    permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]
    person.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": permissions})
    person.clicks(button)
    person.reads("#live", said)
    return person.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")


def picks_a_sample(person: Person) -> None:
    person.clicks("#samples button[data-url$='drawing.svg']")
    person.sees_result(r"320 × 240 SVG|SVG, .* → ")
    person.clicks(f"#samples button[data-url='{LAKE}']")
    person.sees_result(r"1,600 × 1,067 JPEG")


def changes_the_width(person: Person) -> None:
    slider = "#width"
    before = int(person.finds(WIDTH).get_attribute("value") or 0)
    part = before / LAKE_WIDTH
    person.drags(slider, (part, 0.5), (0.2, 0.5))
    width = int(person.fragment("w", r"[23]\d\d"))
    person.sees_result(rf"→ {width} × \d+ WebP")
    person.presses(slider, Keys.ARROW_RIGHT)
    person.sees_result(rf"→ {width + 1} × \d+ WebP")


def moves_the_divider(person: Person) -> None:
    person.presses("#split", *[Keys.ARROW_LEFT] * 5)
    assert person.finds("#split").get_attribute("aria-valuetext") == "45 percent original", "the arrow keys do not move the divider"
    person.drags("#split", (0.45, 0.4), (0.8, 0.4))
    place = person.run("return document.getElementById('frame').style.getPropertyValue('--split')")
    assert 75 <= float(place.rstrip("%")) <= 85, place
    person.takes_screenshot("2-compare")


def sets_a_focal_point(person: Person) -> None:
    person.chooses("tool", "focal")
    person.fragment("shape", "1(:|%3A)1")
    person.drags("#editor", (0.3, 0.5), (0.69, 0.35))
    person.fragment("fpx", r"0\.(68|69|70?)\d?")
    person.fragment("fpy", r"0\.3[3-7]\d?")
    person.sees_result(r"→ (\d+) × \1 WebP")
    person.takes_screenshot("3-focal-point")
    across = float(person.fragment("fpx", r"0\.\d+"))
    person.presses("#marker", Keys.ARROW_LEFT)
    person.fragment("fpx", f"{across - 0.02:.3f}".rstrip("0"))


def crops(person: Person) -> None:
    person.clicks("#reset")
    person.chooses("tool", "crop")
    person.fragment("crop", r"240,160,1120,747")
    person.drags("#editor", (0.02, 0.02), (0.52, 0.77))
    left, top, width, height = map(int, person.fragment("crop", r"[234]\d,[12]\d,[78]\d\d,[78]\d\d").split(","))
    person.sees_result(rf"→ 640 × {round(640 * height / width)} WebP")
    person.takes_screenshot("4-crop")
    person.presses("#cropbox", Keys.ARROW_RIGHT)
    person.fragment("crop", f"{left + 16},{top},{width},{height}")
    person.presses("#cropbox", Keys.SHIFT + Keys.ARROW_DOWN)
    person.fragment("crop", f"{left + 16},{top},{width},{height + 16}")
    person.writes("[data-crop=width]", "300")
    person.fragment("crop", f"{left + 16},{top},300,{height + 16}")
    person.clicks("#crop-none")
    person.sees_result(r"→ 640 × 427 WebP")


def changes_the_shape(person: Person) -> None:
    person.chooses("fit", "contain")
    person.sees_result(r"→ 640 × 640 WebP")
    person.chooses("shape", "16:9")
    person.sees_result(r"→ 640 × 360 WebP")
    person.chooses("shape", "auto")
    person.sees_result(r"→ 640 × 427 WebP")
    person.clicks("#reset")


def copies_no_distorted_image(person: Person) -> None:
    """A shape implies cover, and what is copied states the size of the result, whatever box was asked for."""
    person.chooses("shape", "16:9")
    person.sees_result(r"→ 640 × 360 WebP")
    person.fragment("fit", "cover")
    person.reads("#panel-code", r'(?s)width="640"\s+height="360"')
    person.chooses("fit", "inside")
    person.sees_result(r"→ 540 × 360 WebP")
    person.reads("#panel-code", r'(?s)width="540"\s+height="360"')
    person.clicks("#reset")
    person.sees_result(r"→ 640 × 427 WebP")
    person.reads("#panel-code", r'(?s)width="640"\s+height="427"')


def types_values(person: Person) -> None:
    """Beside each slider is a field with its value."""
    person.clicks("#more details:nth-of-type(2) summary")
    person.sees_labels()
    quality = "input[type=number][data-parameter=q]"
    person.writes(quality, "41")
    person.fragment("q", "41")
    assert person.finds("#quality").get_attribute("value") == "41", "the slider does not follow"
    sliders = person.run("return document.querySelectorAll('#controls input[type=range]').length")
    typed = person.run("return document.querySelectorAll('.typed input').length")
    assert typed == sliders - 1, f"{typed} fields for {sliders} sliders, of which the width has its own"
    person.writes("input[type=number][data-parameter=con]", "25")
    person.fragment("con", "25")
    person.run("const it = document.querySelector('[data-color=bg]'); it.value = '#2060c0'; it.dispatchEvent(new Event('input'))")
    person.fragment("bg", "2060c0")
    person.writes("#p-tint", "rebeccapurple")
    person.until(lambda: person.finds("[data-color=tint]").get_attribute("value") == "#663399", "the picker does not follow")
    person.clicks("#reset")
    person.clicks("#more details:nth-of-type(2) summary")
    person.sees_result(r"→ 640 × 427 WebP")


def changes_the_format(person: Person) -> None:
    for value, name in (("jpg", "JPEG"), ("png", "PNG"), ("avif", "AVIF")):
        person.chooses("output", value)
        person.sees_result(rf"→ 640 × 427 {name}, ")
    person.presses("#quality", Keys.ARROW_LEFT)
    person.fragment("q", "79")
    person.chooses("output", "tiff")
    person.sees_result("TIFF, .*This browser does not support the format")
    person.clicks("#reset")
    person.sees_result(r"→ 640 × 427 WebP")


def changes_colors(person: Person) -> None:
    color = "#more details:nth-of-type(2)"
    person.clicks(f"{color} summary")
    person.brings_up("#p-filt").send_keys("Sepia")
    person.fragment("filt", "sepia")
    person.reads(f"{color} .changed", "1 set")
    person.presses("#p-bri", Keys.ARROW_RIGHT)
    person.fragment("bri", "1")
    person.sees_result(r"→ 640 × 427 WebP")
    person.takes_screenshot("5-colors")
    person.clicks("#reset")
    person.clicks(f"{color} summary")
    person.sees_result(r"→ 640 × 427 WebP")


def copies_code(person: Person) -> None:
    person.clicks("[data-tab=code]")
    person.reads("#panel-code", r"(?s)<img src=\"[^\"]*/image\?[^\"]*\"\s+srcset=\"[^\"]* 320w, [^\"]* 640w")
    for title, part in (
        ("Picture", r'(?s)<picture>.*type="image/avif".*type="image/jxl".*type="image/webp".*output=jpg.*height="427"'),
        ("React", r"(?s)srcSet=.*width=\{640\}\s+height=\{427\}"),
        ("Next.js", r"(?s)const loader = .*w=\$\{width\}.*<Image loader=\{loader\}.*height=\{427\}"),
        ("SwiftUI", "AsyncImage"), ("Swift in process", "import Darkroom"),
    ):  # fmt: skip
        person.chooses("snippet", title)
        answers_each_url(person.reads("#panel-code", part).string)
    for values, line in (
        ({"a": "face"}, "position = .faces(FaceFocus(.largest))"), ({"a": "left"}, "position = .anchor(x: 0, y: 0.5)"),
        ({"crop": "25p,0,50p,9"}, "crop = Crop(x: .percent(25), y: .pixels(0), width: .percent(50), height: .pixels(9))"),
    ):  # fmt: skip
        share = "const isShare = (side) => side.endsWith('p');"
        assert person.run(f"{share}\n{SWIFT}\nreturn RECIPE[arguments[1]](arguments[0])", values, *values) == line, values
    person.chooses("snippet", "curl")
    person.sees_no_overflow()
    copied = copies(person, "button[aria-label='Copy curl']", "curl copied")
    assert copied.startswith("curl -o image.webp -H 'Accept: image/webp'"), copied
    target = copied.split("'")[-2]
    with urlopen(Request(target, headers={"Accept": "image/webp"})) as answer:
        assert answer.headers["Content-Type"] == "image/webp", target
    person.chooses("snippet", "HTML")


def answers_each_url(code: str) -> None:
    """Requests the images of a snippet; raises HTTPError for one that is refused."""
    for url in set(re.findall(r"http://[^\s\"'`,]+/image\?[^\s\"'`,]+", html.unescape(code))):
        if "${" not in url:
            urlopen(Request(url, headers={"Accept": "image/jxl,image/avif,image/webp,*/*"})).close()


def compares_formats(person: Person) -> None:
    """Four formats side by side, each with its bytes and the time that it took."""
    person.clicks("[data-tab=formats]")
    for output in ("jpg", "webp", "avif", "jxl"):
        person.reads(f"[data-format={output}] .statement", r"^[\d.]+ KB$")
        person.reads(f"[data-format={output}] .note", r"[\d.]+ ms|from the cache")
        person.until(lambda output=output: person.run(f"return document.querySelector('[data-format={output}] img')?.naturalWidth") == 640, output)
    person.reads("[data-format=avif] .note", r"^\d+% smaller than JPEG")
    person.sees_no_overflow()
    person.takes_screenshot("5-formats")
    person.clicks("button[aria-label='Use AVIF']")
    person.sees_result(r"→ 640 × 427 AVIF")
    person.chooses("output", "auto")
    person.sees_result(r"→ 640 × 427 WebP")


def sees_placeholders(person: Person) -> None:
    person.clicks("[data-tab=placeholders]")
    person.reads("#panel-placeholders", r"(?s)BlurHash.*ThumbHash.*LQIP.*Color.*Palette")
    wanted = (0x70, 0x42, 0x5C)  # average_color of the sample, by /info
    for canvas in person.run(MEAN_COLORS):
        assert all(abs(seen - want) < 24 for seen, want in zip(canvas, wanted, strict=True)), canvas
    person.takes_screenshot("6-placeholders")
    person.clicks("#panel-placeholders button[aria-pressed]")
    opacity = "return getComputedStyle(document.querySelector('.tile .real')).opacity"
    person.until(lambda: person.run(opacity) == "1", "the image is not shown")


MEAN_COLORS = """
return [...document.querySelectorAll('#panel-placeholders canvas')].map((canvas) => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const sums = [0, 0, 0];
  data.forEach((sample, at) => { if (at % 4 < 3) sums[at % 4] += sample; });
  return sums.map((sum) => sum / (data.length / 4));
});
"""


def sees_explanation(person: Person) -> None:
    person.clicks("[data-tab=explain]")
    person.reads("#panel-explain", r"(?s)Freshness.*RFC 9111.*Plan.*source, JPEG.*Keys.*Variant.*[0-9a-f]{64}.*max-output-side")
    person.sees_no_overflow()
    person.takes_screenshot("7-explain")
    person.presses("[data-tab=explain]", Keys.ARROW_RIGHT)
    person.reads("#panel-info", r"(?s)JPEG, image/jpeg.*1,067 × 1,600, orientation 6.*SHA-256")
    person.presses("[data-tab=info]", Keys.ARROW_RIGHT)
    person.finds("#panel-code")


def makes_mistakes(person: Person) -> None:
    """Each failure shows a sentence and marks the control at fault."""
    person.expected_failures = ["status of 4"]
    person.writes("#url", "ftp://example.com/a.jpg" + Keys.ENTER)
    person.reads("#trouble", r"The scheme 'ftp' is not supported")
    person.sees_marked("#url")
    person.writes("#url", "local:///there-is-none.jpg" + Keys.ENTER)
    person.reads("#trouble", r"no (picture|image)")
    person.writes("#url", "http://localhost:3000/a.jpg" + Keys.ENTER)
    person.reads("#trouble", r"(?s)localhost is not a public address.*--allow-networks 127\.0\.0\.0/8")
    person.takes_screenshot("8-private-address")
    person.clicks("#samples button[data-url$='truncated.jpg']")
    person.reads("#trouble", r"corrupt|damaged")
    assert person.run("return document.getElementById('address').value") == "", "the URL of the last result is still there"
    person.takes_screenshot("8-failure")
    person.clicks(f"#samples button[data-url='{LAKE}']")
    person.sees_result(r"→ 640 × 427 WebP")
    person.writes(WIDTH, "0")
    person.reads("#trouble", r"'w' must be .*, got '0'")
    person.sees_marked(WIDTH)
    person.writes(WIDTH, "320")
    person.sees_result(r"→ 320 × \d+ WebP")
    assert person.finds(WIDTH).get_attribute("aria-invalid") is None, "a valid width is still marked"


def sees_dependent_controls(person: Person) -> None:
    """A control that has an effect only with another is off until that one is set."""
    person.opens(f"#url={LAKE}&w=320")
    person.sees_result(r"→ 320 × \d+ WebP")

    def is_off(name: str) -> bool:
        return person.run(f"return document.getElementById('p-{name}').disabled")

    assert all(map(is_off, ["textsize", "markw", "tbg", "rbg", "default-for"])), "a control without effect is on"
    person.opens(f"#url={LAKE}&w=320&text=Hi&trim=5")
    person.sees_result(r"→ 320 × \d+ WebP")
    assert not is_off("textsize") and not is_off("tbg") and is_off("markw"), "a control with effect is off"


def follows_a_link(person: Person) -> None:
    """A URL restores the settings in it."""
    person.opens(f"#url={LAKE}&w=300&h=200&shape=free&fit=cover&a=focal&fpx=0.7&fpy=0.3&output=jpg&q=50&tab=info")
    person.sees_result(r"→ 300 × 200 JPEG")
    assert person.finds("#a").get_attribute("value") == "focal", "the link does not restore the position"
    assert person.finds("[data-parameter=fpx]").get_attribute("value") == "0.7", "the link does not restore the focal point"
    assert person.finds("input[type=number][data-parameter=q]").get_attribute("value") == "50", "the link does not restore the quality"
    person.reads("#panel-info", "SHA-256")


SCENARIOS = [
    arrives, asks_again, uses_the_result_bar, picks_a_sample, changes_the_width, moves_the_divider, sets_a_focal_point, crops, changes_the_shape,
    copies_no_distorted_image, types_values, changes_the_format, changes_colors, copies_code, compares_formats, sees_placeholders, sees_explanation, makes_mistakes, sees_dependent_controls,
    follows_a_link,
]  # fmt: skip
