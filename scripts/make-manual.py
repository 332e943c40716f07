#!/usr/bin/env python3
"""Writes the manual page darkroom(1) from what the executable says about itself: its commands, settings and version.

    make-manual.py EXECUTABLE > darkroom.1
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator

FILES = [
    ("/etc/darkroom/config.yaml", "Settings of the service."),
    ("/etc/default/darkroom", "Environment variables of the service, which take precedence over the settings. Optional."),
    ("/var/cache/darkroom", "Disk cache of the service. It may be removed while the service is stopped."),
]
STATUSES = [
    ("0", "Success; for serve, a shutdown after SIGTERM or SIGINT."),
    (
        "1",
        "Failure, such as an address in use, a missing folder, or output that cannot be written; for transform and "
        "prefetch, also of a single image.",
    ),
    ("64", "Invalid arguments."),
    ("78", "Invalid settings."),
    ("130, 143", "SIGINT or SIGTERM ended the command before it was done; for serve, the second one did."),
    ("141", "The reader of standard output has gone."),
]


def main() -> None:
    executable = sys.argv[1]
    command = json.loads(run(executable, "--experimental-dump-help"))["command"]
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    date = time.strftime("%Y-%m-%d", time.gmtime(epoch))
    sys.stdout.write("\n".join(page(executable, command, date)) + "\n")


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def page(executable: str, command: dict, date: str) -> Iterator[str]:
    name, version = command["commandName"], run(executable, "--version").strip()
    shown = [each for each in command["subcommands"] if each.get("shouldDisplay", True) and each["commandName"] != "help"]
    yield f'.TH {name.upper()} 1 "{date}" "{name} {version}" "User Commands"'
    yield ".SH NAME"
    yield f"{name} \\- {escaped(uncapitalized(command['abstract']).rstrip('.'))}"
    yield ".SH SYNOPSIS"
    for index, each in enumerate(shown):
        if index:
            yield ".br"
        yield synopsis(executable, each["commandName"])
    yield ".SH COMMANDS"
    for each in shown:
        yield f".SS {name} {each['commandName']}"
        yield escaped(each["abstract"])
        introduction, _ = split(each.get("discussion", ""))
        for paragraph in introduction:
            yield ".PP"
            yield escaped(paragraph)
        yield from options(each)
    for each in shown:
        _, themes = split(each.get("discussion", ""))
        if themes:
            yield f".SH SETTINGS OF {name.upper()} {each['commandName'].upper()}"
        for title, settings in themes:
            yield f".SS {escaped(title)}"
            for flag, text in settings:
                yield from entry(flag, text)
    yield from table("FILES", FILES)
    yield from table("EXIT STATUS", STATUSES)


def synopsis(executable: str, command: str) -> str:
    """The usage line of a command, with its name in bold type."""
    usage = re.search(r"^USAGE: (.*?)\n\n", run(executable, command, "--help"), re.MULTILINE | re.DOTALL)
    words = usage[1].split() if usage else ["darkroom", command]
    return f".B {' '.join(words[:2])}\n{escaped(' '.join(words[2:]))}".rstrip()


def names(argument: dict) -> str:
    if argument["kind"] == "positional":
        return escaped(argument["valueName"].upper())
    flags = ", ".join(("--" if each["kind"] == "long" else "-") + each["name"] for each in argument["names"])
    value = f" {argument['valueName'].upper()}" if argument["kind"] == "option" else ""
    return escaped(flags + value)


def listed(argument: dict) -> bool:
    """Whether an argument is worth a line: --help and --version belong to every command."""
    return argument.get("shouldDisplay", True) and argument.get("valueName") not in ("help", "version")


def options(command: dict) -> Iterator[str]:
    for argument in command.get("arguments", []):
        if listed(argument):
            yield ".TP"
            yield f".B {names(argument)}"
            yield escaped(argument.get("abstract", ""))


def split(discussion: str) -> tuple[list[str], list[tuple[str, list[tuple[str, str]]]]]:
    """The paragraphs of a discussion, and its themes: `TITLE:` in capitals, then flags with indented texts."""
    paragraphs: list[str] = []
    themes: list[tuple[str, list[tuple[str, str]]]] = []
    for block in re.split(r"\n\s*\n", discussion.strip("\n")):
        lines = block.split("\n")
        if re.fullmatch(r"[A-Z][A-Z ]+:", lines[0]):
            settings: list[tuple[str, str]] = []
            for line in lines[1:]:
                if re.match(r" {2}-", line):
                    settings.append((line.strip(), ""))
                else:
                    flag, text = settings[-1]
                    settings[-1] = (flag, f"{text} {line.strip()}".strip())
            themes.append((lines[0].rstrip(":").capitalize(), settings))
        elif block.strip():
            paragraphs.append(" ".join(line.strip() for line in lines))
    return paragraphs, themes


def table(title: str, rows: list[tuple[str, str]]) -> Iterator[str]:
    yield f".SH {title}"
    for name, text in rows:
        yield from entry(name, text)


def entry(name: str, text: str) -> Iterator[str]:
    yield ".TP"
    yield f".B {escaped(name)}"
    yield escaped(text)


def uncapitalized(text: str) -> str:
    return text[:1].lower() + text[1:]


def escaped(text: str) -> str:
    """Text as roff shows it, with plain hyphens, quotes and no control lines."""
    for character, escape in {"\\": "\\e", "-": "\\-", "'": "\\(aq", "^": "\\(ha", "~": "\\(ti", "`": "\\(ga"}.items():
        text = text.replace(character, escape)
    return re.sub(r"^\.", r"\\&.", text, flags=re.MULTILINE).replace("…", "...")


if __name__ == "__main__":
    main()
