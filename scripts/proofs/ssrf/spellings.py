"""Spellings of one address in a URL that some browser, resolver or library accepts."""

from ipaddress import IPv4Address, IPv6Address


def spellings(address: IPv4Address | IPv6Address) -> list[str]:
    return of_four(address) if address.version == 4 else of_six(address)


def of_four(address: IPv4Address) -> list[str]:
    a, b, c, d = address.packed
    value, dotted = int(address), str(address)
    wide = "".join(chr(0xFF10 + int(digit)) if digit.isdigit() else digit for digit in dotted)
    hosts = [
        dotted,
        f"{dotted}.",
        str(value),
        hex(value),
        f"0{value:o}",
        ".".join(hex(part) for part in address.packed),
        ".".join(f"0{part:o}" for part in address.packed),
        ".".join(f"0000{part:o}" for part in address.packed),
        f"{a}.{value & 0xFFFFFF}",
        f"{a}.{b}.{value & 0xFFFF}",
        f"0x{a:x}.0{b:o}.{c}.{d}",
        "".join(f"%{ord(character):02x}" for character in dotted),
        dotted.replace(".", "%2E"),
        dotted.replace(".", "。"),
        dotted.replace(".", "．"),
        wide,
        f"[::ffff:{dotted}]",
        f"[0:0:0:0:0:FFFF:{value >> 16:x}:{value & 0xFFFF:x}]",
        f"user@{dotted}",
        f"public.test@{dotted}",
        f"public.test:80@{dotted}:80",
        f"user:pass@public.test@{dotted}",
        f"public.test%40@{dotted}",
        f"{dotted}:80",
        f"{dotted}:",
        f"{dotted}:00080",
    ]
    return [f"http://{host}/" for host in hosts] + [
        f"https://{dotted}/",
        f"HtTp://{dotted}/",
        f"http:{dotted}/",
        f"http:/{dotted}/",
        f"http:\\\\{dotted}\\",
        f"http:////{dotted}/",
        f" \thttp://{dotted}/ ",
        f"http://{dotted}\\@public.test/",
        f"http://{dotted}#@public.test/",
        f"http://{dotted}?@public.test/",
        f"http://{dotted}/@public.test/",
        f"ht\ntp://{dotted[:2]}\t{dotted[2:]}/",
    ]


def of_six(address: IPv6Address) -> list[str]:
    hosts = [f"[{address.compressed}]", f"[{address.exploded.upper()}]", f"[{address.compressed}]:80", f"user@[{address}]"]
    return [f"http://{host}/" for host in hosts] + [f"https://[{address}]/"]
