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
        yield from synopsis(executable, each["commandName"])
    yield ".SH COMMANDS"
    for each in shown:
        yield f".SS {name} {each['commandName']}"
        yield escaped(each["abstract"])
        for paragraph in paragraphs(each.get("discussion", "")):
            yield ".PP"
            yield escaped(paragraph).replace("\n", "\n.br\n")
        yield from options(each)
    yield f".SH SETTINGS OF {name.upper()} SERVE"
    for title, rows in settings(executable):
        yield f".SS {escaped(title)}"
        for flag, values, default, text in rows:
            yield from entry(flag, f"{text} Values: {values}. Default: {default}.")
    yield from table("FILES", FILES)
    yield from table("EXIT STATUS", STATUSES)


def synopsis(executable: str, command: str) -> Iterator[str]:
    """The usage lines of a command, each with the command's name in bold type."""
    usage = re.search(r"^USAGE: (.*?)\n\n", run(executable, command, "--help"), re.MULTILINE | re.DOTALL)
    forms = re.split(r"\n *(?=darkroom )", usage[1]) if usage else [f"darkroom {command}"]
    for index, words in enumerate(form.split() for form in forms):
        if index:
            yield ".br"
        yield f".B {' '.join(words[:2])}\n{escaped(' '.join(words[2:]))}".rstrip()


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


def paragraphs(discussion: str) -> list[str]:
    """The paragraphs of a discussion, without lists of settings. In a list of parameters, each theme has its line."""
    blocks = re.split(r"\n\s*\n", discussion.strip())
    shown = [block for block in blocks if block and not re.search(r"^ {2}--", block, re.MULTILINE)]
    return ["\n".join(" ".join(part.split()) for part in re.split(r"\n(?=\w+: --)", block)) for block in shown]


def settings(executable: str) -> list[tuple[str, list[tuple[str, ...]]]]:
    """The settings by theme: flag, values, default and meaning."""
    themes: list[tuple[str, list[tuple[str, ...]]]] = []
    for line in run(executable, "settings").splitlines():
        if line.startswith("## "):
            themes.append((line[3:], []))
        elif line.startswith("| `"):
            name, *cells = (re.sub(r"\\([|*])", r"\1", cell) for cell in re.split(r"(?<!\\) \| ", line[2:-2]))
            themes[-1][1].append((f"--{name.strip('`')}", *cells))
    listed = re.findall(r"^ {2}(--\S+) \S", run(executable, "serve", "--help"), re.MULTILINE)
    if sorted(listed) != sorted(row[0] for _, rows in themes for row in rows):
        sys.exit("make-manual.py: 'darkroom settings' and 'darkroom serve --help' list different settings")
    return themes


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
