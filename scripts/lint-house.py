#!/usr/bin/env python3
"""Checks the rules of the project that neither the compiler nor swift-format knows.

Sizes of files, functions and folders, the width of comments, constructs that crash, words that do not belong, the version, and
figures that several pages state.
The arrows between modules are checked by the build (`--explicit-target-dependency-import-check error`) against Package.swift.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "Sources"
SWIFT_FOLDERS = ["Sources", "Tests", "Examples", "Benchmarks/Sources"]
MAX_FILE_LINES = 400
MAX_BODY_LINES = 45
MAX_COLUMNS = 120
MIN_FILES_PER_FOLDER = 3
MAX_UNCHECKED_SENDABLE = 3
EXECUTABLE = "Command"
VAGUE_NAMES = re.compile(r"Utils?|Common|Helpers?|Core|Services?|Managers?")

# A line comment, a block comment, or a string: raw, multi-line, or plain.
NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|(?P<hashes>#+)"(?:"")?.*?"(?:"")?(?P=hashes)|"""(?:\\.|.)*?"""|"(?:\\.|[^"\\\n])*"', re.DOTALL
)
FUNCTION = re.compile(r"(?<!\.)\b(?:func\b|init\b(?=[?!]?\s*[(<])|subscript\b(?=\s*[(<])|deinit\b)")
# A property with a type annotation; its body follows unless a value or another declaration does.
PROPERTY = re.compile(r"^[ \t]*(?:@\w+(?:\([^)]*\))?[ \t]+)*(?:(?:\w+(?:\(set\))?)[ \t]+)*var[ \t]+\w+[ \t]*:", re.MULTILINE)
NO_BODY = re.compile(
    r"\}|(?<![=!<>])=(?![=>])|\b(?:func|var|let|init|subscript|deinit|associatedtype|typealias|case|struct|enum|class)\b"
)
FORBIDDEN = {
    r"\bfatalError\(": "fatalError", r"\btry!": "try!", r"\bas!": "as!",
    # In a child of a task group, optimized code of Swift 6.3.1 loses it, and tests are not optimized. A result that a constant
    # or another function has arrives.
    r"\breturn \([^\n]*\.success\(try\b": "a tuple with a result that is made in it",
}
# libvips 8.14.1's own format detection never returns on some gzip data, and its JPEG 2000 loader corrupts memory. Names of
# operations are strings, so these are looked for everywhere.
SNIFFS = re.compile(r"foreign_find_load|(?:vips_|\")thumbnail|image_new_from_(?:buffer|file|source)|jp2k", re.IGNORECASE)
PRINTS = re.compile(r"(?<![.\w])print\(")
# Words that style rules replace, and what to write instead.
WORDS = {
    r"\bwhoever\b": "name the role",
    r"\bfor ever\b": "forever, or indefinitely",
    r"\bin vain\b": "say what fails",
    r"\blest\b": "so that … not",
    r"\bforetold\b": "estimated",
    r"\bneeds not be\b": "need not be",
    r"\bstops to listen\b": "stops listening",
    r"\bmade to measure\b": "resized",
    r"\bcolour": "color",
    r"\bbehaviour": "behavior",
    # Not in code: Swift's own API and identifiers of ours that users may rely on have two.
    r"//[^\n]*(?<!/)\bcancelled\b": "canceled",
    r"\bneighbour": "neighbor",
    r"\bhonour": "honor",
    r"\binitialis": "initializ",
    r"\brecognis": "recogniz",
    r"\blicence\b": "license",
}
WORD_FILES = [
    "Sources", "Tests", "Examples", "Benchmarks", "clients", "docs", "openapi", "README.md", "SECURITY.md", "CONTRIBUTING.md",
    "CHANGELOG.md", "Makefile", "Package.swift", "Dockerfile", "deploy",
]
WORD_SUFFIXES = {".swift", ".md", ".yaml", ".h", ".c", ".html", ".py", ".sh", ""}
# The version, and the other places that state it.
VERSION = ("Sources/Command/Commands/Darkroom.swift", r'static let release = "(.+)"')
VERSION_COPIES = [
    ("openapi/openapi.yaml", r"(?m)^  version: (.+)$"),
    ("openapi/openapi.yaml", r"info: \{ title: Darkroom, version: (.+?) \}"),
    ("Dockerfile", r'image\.version="(.+?)"'),
    ("clients/javascript/package.json", r'"version": "(.+?)"'),
    ("clients/python/pyproject.toml", r'(?m)^version = "(.+)"'),
    ("clients/ruby/darkroom-urls.gemspec", r'spec\.version = "(.+)"'),
    ("clients/java/pom.xml", r"<version>(.+?)</version>"),
    ("clients/csharp/Darkroom.Urls.csproj", r"<Version>(.+?)</Version>"),
    ("deploy/helm/darkroom/Chart.yaml", r"(?m)^version: (.+)$"),
    ("deploy/helm/darkroom/Chart.yaml", r"(?m)^appVersion: (.+)$"),
    ("deploy/kubernetes/base/deployment.yaml", r"image: darkroom:(.+)"),
    ("deploy/kubernetes/overlays/production/kustomization.yaml", r"newTag: (.+)"),
]
# Rooms without pixels, store and network, and what they must not link through any room that they see.
PURE_ROOMS = ["Requests", "Query", "Dialects"]
IMPURE = {"CVips": "libvips", "grdb": "SQLite", "asyncHTTPClient": "an HTTP client", "hummingbird": "an HTTP server"}
# A figure of docs/benchmarks.md, and the places that repeat it, perhaps rounded or in units that are so many times larger.
MEASURED = "docs/benchmarks.md"
FIGURES = {
    r"\| Darkroom, fast \| (.+?) \| vips": [
        ("README.md", r"JPEG misses, relative to libvips, [0-9-]+ \| (.+?) ", 1), (MEASURED, r"Darkroom, default settings \| (.+?) ", 1),
    ],
    r"\| idle \| (.+?) MB": [
        ("README.md", r"Idle memory, [0-9-]+ \| (.+?) MB", 1), (MEASURED, r"Darkroom, default settings \|.+?\| (.+?) MB", 1),
        ("docs/deploying.md", r"\[(.+?) MB measured\]", 1),
    ],
    r"\| after 300 misses, all caches 0 \| (.+?) MB": [(MEASURED, r"all caches off, Darkroom uses (.+?) MB", 1)],
    r"\| memory hits \| (.+?) \| nginx": [(MEASURED, r"a memory hit of Darkroom (.+?)\.\n", 1)],
    r"\| fast, CPU time of the server process \| (.+?) ms": [
        (MEASURED, r"A miss takes (.+?) ms", 1), ("docs/capacity.md", r"\(benchmarks.md#misses\): (.+?) ms in the server", 1),
    ],
    r"\| fast, CPU time of the worker processes \| (.+?) ms": [("docs/capacity.md", r"ms in the server, (.+?) ms in a worker", 1)],
    r"\| disk hits, CPU time of the server \| (.+?) µs": [("docs/capacity.md", r"target the node knows \| (.+?) ms", 1000)],
    r"\| Darkroom \| [\d,]+ \| (.+?) ms": [("docs/capacity.md", r"any other hit of a node \| (.+?) ms", 1)],
    r"\| bytes of the variant \| (.+?) B": [("docs/capacity.md", r"of an original \| (.+?) kB", 1000)],
}
# Where a maintainer writes the repository's owner. Every other place does without it.
OWNER, OWNER_PLACES = re.compile(r"(?:github\.com|ghcr\.io)/OWNER\b"), ["README.md"]
# A query value that keeps the spelling its users know, an operation of libvips, and a value that tests expect to be refused.
FOREIGN = re.compile(r"greyscale|colourspace|\"colour\"", re.IGNORECASE)


def main() -> int:
    found = [
        *source_problems(), *arrow_problems(), *column_problems(), *folder_problems(), *word_problems(), *version_problems(), *figure_problems(),
        *owner_problems()]
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


def source_problems() -> Iterator[str]:
    unchecked = []
    for target in sorted(path.name for path in SOURCES.iterdir() if path.is_dir()):
        if VAGUE_NAMES.fullmatch(target):
            yield f"Sources/{target}: a target's name says what it holds"
        for file in sorted((SOURCES / target).rglob("*")):
            if file.suffix not in (".swift", ".h"):
                continue
            text = file.read_text(encoding="utf-8")
            code = NOT_CODE.sub(_blank, text)
            yield from (f"{file.relative_to(ROOT)}:{problem}" for problem in _file_problems(target, code))
            yield from (
                f"{file.relative_to(ROOT)}:{_line(text, match.start())}: {match[0]}: "
                "libvips must not detect formats, nor read JPEG 2000"
                for match in SNIFFS.finditer(text)
            )
            unchecked += [f"{file.relative_to(ROOT)}"] * len(re.findall(r"@unchecked\s+Sendable", code))
    if len(unchecked) > MAX_UNCHECKED_SENDABLE:
        yield f"{len(unchecked)} @unchecked Sendable, at most {MAX_UNCHECKED_SENDABLE}: {', '.join(unchecked)}"


def arrow_problems() -> Iterator[str]:
    """Pure rooms that would link what they must not, by the rows of Package.swift, and other rows of the benchmarks."""
    rows = _rows("Package.swift")
    for room in PURE_ROOMS:
        reached, new = set(), {room}
        while new:
            reached |= new
            new = {seen for name in new for seen in rows.get(name, set())} - reached
        if room not in rows:
            yield f"Package.swift: there is no room {room}"
        yield from (f"Package.swift: {room} must not link {IMPURE[name]}" for name in sorted(reached & IMPURE.keys()))
    for room, row in _rows("Benchmarks/Package.swift").items():
        if row != rows.get(room):
            yield f"Benchmarks/Package.swift: the row of {room} differs from Package.swift"


def _rows(manifest: str) -> dict[str, set[str]]:
    """For each room, the rooms and packages that it sees."""
    return {
        name: set(re.findall(r'"(\w+)"', row)) | set(re.findall(r"\b[a-z]\w+\b(?!:)", row))
        for name, row in re.findall(
            r'\broom\(\s*"(\w+)"(.*?)\),?\n(?=        [./rb]|    \])',
            (ROOT / manifest).read_text(encoding="utf-8"), re.DOTALL)
    }


def column_problems() -> Iterator[str]:
    """Lines that are too long. swift-format wraps code; comments and strings are left to people."""
    for folder in SWIFT_FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.swift")):
            if file.is_symlink() or any(parent.is_symlink() for parent in file.parents):
                continue
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                if len(line) > MAX_COLUMNS and "//" in line:
                    yield f"{file.relative_to(ROOT)}:{number}: {len(line)} columns, at most {MAX_COLUMNS}"


def folder_problems() -> Iterator[str]:
    """Folders inside a target that are too small to be worth a level."""
    for folder in sorted(path for path in SOURCES.rglob("*") if path.is_dir() and path.parent != SOURCES):
        count = sum(1 for file in folder.iterdir() if file.suffix == ".swift")
        if 0 < count < MIN_FILES_PER_FOLDER:
            yield f"{folder.relative_to(ROOT)}: a folder of {count}; at least {MIN_FILES_PER_FOLDER} files, or none"


def word_problems() -> Iterator[str]:
    for name in WORD_FILES:
        path = ROOT / name
        files = [path] if path.is_file() else sorted(path.rglob("*")) if path.is_dir() else []
        for file in files:
            if not file.is_file() or file.is_symlink() or file.suffix not in WORD_SUFFIXES or ".build" in file.parts:
                continue
            text = FOREIGN.sub(lambda match: "-" * len(match[0]), file.read_text(encoding="utf-8", errors="replace"))
            for pattern, better in WORDS.items():
                for match in re.finditer(pattern, text, re.IGNORECASE):
                    yield f"{file.relative_to(ROOT)}:{_line(text, match.start())}: {match[0]!r}: {better}"


def version_problems() -> Iterator[str]:
    """Places that state another version than the program."""
    version = _stated(*VERSION)
    for file, pattern in VERSION_COPIES:
        if _stated(file, pattern) != version:
            yield f"{file}: the version is {_stated(file, pattern)}, but {version} in {VERSION[0]}"


def figure_problems() -> Iterator[str]:
    """Figures that pages repeat with another value."""
    for measured, copies in FIGURES.items():
        value = _number(MEASURED, measured)
        for file, pattern, factor in copies:
            copy = _number(file, pattern)
            if value is None or copy is None:
                yield f"{file}: the figure {pattern if copy is None else measured} is missing; update FIGURES in {Path(__file__).name}"
            elif abs(copy * factor - value) > 0.02 * value:
                yield f"{file}: {copy:g} is {value:g} in {MEASURED} ({measured})"


def _number(file: str, pattern: str) -> float | None:
    stated = _stated(file, pattern)
    return float(stated.replace(",", "")) if stated and re.fullmatch(r"[\d,]*\.?\d+", stated) else None


def owner_problems() -> Iterator[str]:
    """Places that name the owner of the repository, other than the one to replace."""
    found = []
    for path in (ROOT / name for name in [*WORD_FILES, ".github"]):
        files = [path] if path.is_file() else sorted(path.rglob("*"))
        for file in files:
            if file.is_file() and ".build" not in file.parts:
                text = file.read_text(encoding="utf-8", errors="replace")
                found += [str(file.relative_to(ROOT))] * len(OWNER.findall(text))
    if found != OWNER_PLACES:
        yield f"the owner stands in {', '.join(found) or 'no file'}, not once in {OWNER_PLACES[0]}"


def _stated(file: str, pattern: str) -> str | None:
    match = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"))
    return match[1] if match else None


def _file_problems(target: str, code: str) -> Iterator[str]:
    """Problems of one file as `line: text`."""
    lines = code.count("\n")
    if lines > MAX_FILE_LINES:
        yield f"{lines}: {lines} lines, at most {MAX_FILE_LINES}"
    for start, length in _bodies(code):
        if length > MAX_BODY_LINES:
            yield f"{start}: a body of {length} lines, at most {MAX_BODY_LINES}"
    for pattern, name in FORBIDDEN.items():
        yield from (f"{_line(code, match.start())}: {name}" for match in re.finditer(pattern, code))
    if target != EXECUTABLE:
        yield from (f"{_line(code, match.start())}: print in a library" for match in PRINTS.finditer(code))


def _bodies(code: str) -> Iterator[tuple[int, int]]:
    """The line where each function and computed property starts, and how many lines it has up to its closing brace."""
    for pattern in (FUNCTION, PROPERTY):
        for match in pattern.finditer(code):
            opening = _body(code, match.end())
            if opening is None:
                continue
            start, end = _line(code, match.end()), _line(code, _closing(code, opening))
            yield start, end - start + 1


def _body(code: str, at: int) -> int | None:
    """The brace that opens a body: the first outside of parentheses, unless a value or a declaration comes first."""
    depth = 0
    while at < len(code):
        depth += (code[at] in "([") - (code[at] in ")]")
        if depth == 0:
            if code[at] == "{":
                return at
            if NO_BODY.match(code, at):
                return None
        at += 1
    return None


def _closing(code: str, opening: int) -> int:
    depth = 0
    for at in range(opening, len(code)):
        depth += (code[at] == "{") - (code[at] == "}")
        if depth == 0:
            return at
    return len(code) - 1


def _line(code: str, at: int) -> int:
    return code.count("\n", 0, at) + 1


def _blank(match: re.Match) -> str:
    """Nothing but the line breaks of a comment or a string."""
    return '""' + "\n" * match[0].count("\n") if match[0][0] in '"#' else "\n" * match[0].count("\n")


if __name__ == "__main__":
    sys.exit(main())
