#!/usr/bin/env python3
"""Keeps Sources as README's "Architecture" draws it: arrows between targets, sizes, and words that do not belong."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "Sources"
MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 45
MAX_UNCHECKED_SENDABLE = 3
EXECUTABLE = "darkroom"
VAGUE_NAMES = re.compile(r"Utils?|Common|Helpers?|Core|Services?|Managers?")

SYSTEM = {"Darwin", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Musl", "Swift", "Synchronization"}
NIO = {"NIO", "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL"}
# Target: the modules that it may import besides the system's, ours first.
ARROWS: dict[str, set[str]] = {
    "CVips": set(),
    "Vips": {"CVips"} | {"NIOCore"},
    "Transforms": {"Vips"} | {"Crypto", "NIOCore"},
    "HTTPCaching": {"HTTPTypes", "StructuredFieldValues"},
    "Store": {"Crypto", "GRDB", "Logging", "NIOCore", "NIOPosix"},
    "Origin": {"HTTPCaching"} | {"AsyncHTTPClient", "HTTPTypes", "Logging", "ServiceContextModule", "Tracing"} | NIO,
    "Pipeline": {"Transforms", "Store", "Origin", "HTTPCaching"} | {"Crypto", "HTTPTypes", "Logging"} | NIO,
    "Web": {"Pipeline", "Transforms", "HTTPCaching"}
    | {"CoreMetrics", "Crypto", "HTTPTypes", "Hummingbird", "HummingbirdCore", "Logging", "NIOCore", "ServiceContextModule", "Tracing", "Yams"},
    "CSandbox": set(),
    "Workers": {"CSandbox", "Transforms"} | {"Logging", "NIOCore"},
    "Prometheus": {"CoreMetrics"},
    "darkroom": {"Prometheus", "Web", "Workers", "Pipeline", "Transforms", "Store", "Origin", "HTTPCaching"}
    | {"ArgumentParser", "Configuration", "CoreMetrics", "HTTPTypes", "Hummingbird", "Logging", "NIOCore", "NIOPosix", "ServiceLifecycle"}
    | {"ServiceContextModule", "SystemPackage", "Tracing", "UnixSignals", "Yams"},
}

IMPORT = re.compile(
    r"^[ \t]*(?:@\w+(?:\([^)]*\))?[ \t]+)*(?:(?:public|package|internal|private|fileprivate)[ \t]+)?"
    r"import[ \t]+(?:(?:struct|class|enum|protocol|typealias|func|var|let)[ \t]+)?(\w+)",
    re.MULTILINE,
)
# A line comment, a block comment, or a string: raw, of many lines, or plain.
NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|(?P<hashes>#+)"(?:"")?.*?"(?:"")?(?P=hashes)|"""(?:\\.|.)*?"""|"(?:\\.|[^"\\\n])*"', re.DOTALL
)
FUNCTION = re.compile(r"(?<!\.)\b(?:func\b|init\b(?=[?!]?\s*[(<])|subscript\b(?=\s*[(<])|deinit\b)")
NO_BODY = re.compile(r"\}|\b(?:func|var|let|init|subscript|deinit|associatedtype|typealias|case|struct|enum|class)\b")
FORBIDDEN = {r"\bfatalError\(": "fatalError", r"\btry!": "try!", r"\bas!": "as!"}
# libvips 8.14.1's own sniffing loops for ever on some gzip data, and its JPEG 2000 loader corrupts memory. Names of operations are
# strings, so these are looked for everywhere.
SNIFFS = re.compile(r"foreign_find_load|(?:vips_|\")thumbnail|image_new_from_(?:buffer|file|source)|jp2k", re.IGNORECASE)
PRINTS = re.compile(r"(?<![.\w])print\(")


def main() -> int:
    found = list(problems())
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


def problems() -> Iterator[str]:
    unchecked = []
    for target in sorted(path.name for path in SOURCES.iterdir() if path.is_dir()):
        if VAGUE_NAMES.fullmatch(target):
            yield f"Sources/{target}: a target's name says what it holds"
        if target not in ARROWS:
            yield f"Sources/{target}: no row in ARROWS of scripts/check-imports.py"
        for file in sorted((SOURCES / target).rglob("*")):
            if file.suffix not in (".swift", ".h"):
                continue
            text = file.read_text(encoding="utf-8")
            code = NOT_CODE.sub(_blank, text)
            yield from (f"{file.relative_to(SOURCES.parent)}:{problem}" for problem in _file_problems(target, code))
            yield from (
                f"{file.relative_to(SOURCES.parent)}:{_line(text, match.start())}: {match[0]}: libvips must not sniff, nor read JPEG 2000"
                for match in SNIFFS.finditer(text)
            )
            unchecked += [f"{file.relative_to(SOURCES.parent)}"] * len(re.findall(r"@unchecked\s+Sendable", code))
    if len(unchecked) > MAX_UNCHECKED_SENDABLE:
        yield f"{len(unchecked)} @unchecked Sendable, at most {MAX_UNCHECKED_SENDABLE}: {', '.join(unchecked)}"


def _file_problems(target: str, code: str) -> Iterator[str]:
    """Problems of one file as `line: text`."""
    allowed = ARROWS.get(target, set()) | SYSTEM
    for match in IMPORT.finditer(code):
        if match[1] not in allowed:
            yield f"{_line(code, match.start(1))}: {target} may not import {match[1]}"
    lines = code.count("\n")
    if lines > MAX_FILE_LINES:
        yield f"{lines}: {lines} lines, at most {MAX_FILE_LINES}"
    for start, length in _functions(code):
        if length > MAX_FUNCTION_LINES:
            yield f"{start}: a function of {length} lines, at most {MAX_FUNCTION_LINES}"
    for pattern, name in FORBIDDEN.items():
        yield from (f"{_line(code, match.start())}: {name}" for match in re.finditer(pattern, code))
    if target != EXECUTABLE:
        yield from (f"{_line(code, match.start())}: print in a library" for match in PRINTS.finditer(code))


def _functions(code: str) -> Iterator[tuple[int, int]]:
    """The line where each function with a body starts, and how many lines it has up to its closing brace."""
    for match in FUNCTION.finditer(code):
        opening = _body(code, match.end())
        if opening is None:
            continue
        start, end = _line(code, match.start()), _line(code, _closing(code, opening))
        yield start, end - start + 1


def _body(code: str, at: int) -> int | None:
    """The brace that opens a function's body: the first outside of parentheses, unless a declaration comes first."""
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
