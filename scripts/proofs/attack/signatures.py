"""Spellings of signed paths of other services, and sources that leave a base URL."""

import base64
import hashlib
import hmac
from collections.abc import Iterator

from attack.access import KEY, signed
from attack.judge import Check
from attack.lab import LOOPBACK, Lab, asked
from server import Answer, Server, encoded

SECRET = "proof-key-of-thumbor"
PAIR = (b"proof-key-of-imgproxy", b"proof-salt-of-imgproxy")
FUTURE = 4_102_444_800
REFUSED = (400, 403)


def encoded_bytes(lab: Lab) -> Iterator[Check]:
    """With any one byte of a signed path or query encoded, the image and its expiry stay, or the request is refused."""
    url = lab.origin.url("photo/1.jpg")
    path = f"60x40/filters:grayscale():blur(9):expire({FUTURE}000)/{url}"
    with lab.server(LOOPBACK, "--compat=thumbor", f"--thumbor-key={SECRET}") as server:
        yield from one_image(server, f"/{thumbor_signature(path)}/", path)
    path = f"/rs:fill:60:40/bl:9/exp:{FUTURE}/plain/{url}"
    with lab.server(LOOPBACK, "--compat=imgproxy", f"--imgproxy-keys={imgproxy_keys()}") as server:
        yield from one_image(server, f"/{imgproxy_signature(path)}", path)
    with lab.server(LOOPBACK, f"--signing-keys={KEY}") as server:
        for start, query in (("/image?", "w=60&blur=9"), ("/?", "w=60&blur=9"), ("/image?", "compat=wsrv&w=60&blur=9")):
            target = signed(lab.binary, f"{start}url={encoded(url)}&{query}&exp={FUTURE}")
            yield from one_image(server, start, target.removeprefix(start))


def one_image(server: Server, start: str, rest: str) -> Iterator[Check]:
    """Encodes each byte of the rest of a signed target, once and twice. The page at / is no image."""
    good = asked(server, start + rest)
    yield Check(good.status == 200, f"{start}{rest}: {good.status} {good.problem} (200)")
    escapes = [f"%{ord(byte):02X}" for byte in rest]
    escapes += [f"%25{escape[1:]}" for escape in escapes]
    others: dict[str, str] = {}
    for number, escape in enumerate(escapes):
        place = number % len(rest)
        changed = rest[:place] + escape + rest[place + 1:]
        answer = followed(server, start + changed)
        is_page = answer.headers.get("content-type", "").startswith("text/html")
        if answer.status not in REFUSED and not is_page and not same(answer, good):
            others[changed] = f"{answer.status} {answer.problem}"
    seen = next(iter(others.items()), "")
    yield Check(not others, f"{len(escapes)} spellings, {len(others)} with another image or expiry {seen} (0)")


def copies_of_signed_paths(lab: Lab) -> Iterator[Check]:
    """A signed path is answered at one URL: other spellings of path and signature are redirected to it or refused."""
    url = lab.origin.url("photo/1.jpg")
    path = f"60x40/{url}"
    signature = thumbor_signature(path)
    with lab.server(LOOPBACK, "--compat=thumbor", f"--thumbor-key={SECRET}") as server:
        spellings = [thumbor(path) + end for end in ("?", "?x=1", "/", "//", "%2F")]
        spellings += [f"/{other}/{path}" for other in spellings_of(signature)]
        changes = [("photo", "%70hoto"), ("photo", "phot%6f"), ("60", "%36%30"), (":", "%3a"), ("/", "%2F"), ("x", "%2578")]
        spellings += [f"/{thumbor(path)}", *(f"/{signature}/{path.replace(*change)}" for change in changes)]
        yield from at_one_url(server, thumbor(path), spellings)
    path = f"/rs:fill:60:40/plain/{url}"
    signature = imgproxy_signature(path)
    with lab.server(LOOPBACK, "--compat=imgproxy", f"--imgproxy-keys={imgproxy_keys()}") as server:
        spellings = [f"/{signature}{path}{end}" for end in ("?", "?x=1", "?x=1&y", "/", "@", "%2F")]
        spellings += [f"/{other}{path}" for other in spellings_of(signature)]
        spellings += [f"//{signature}{path}", f"/{signature}/{path}", f"/{signature}{path.replace('rs:', 'rs%3A')}"]
        yield from at_one_url(server, f"/{signature}{path}", spellings)


def copies_of_signed_queries(lab: Lab) -> Iterator[Check]:
    """A signed query accepts no other signature and nothing beside it, and its path form has one URL."""
    request = f"/image?url={encoded(lab.origin.url('photo/1.jpg'))}&w=40"
    with lab.server(LOOPBACK, f"--signing-keys={KEY}") as server:
        query, in_path = signed(lab.binary, request), signed(lab.binary, request, "--path")
        signature = query.rpartition(".")[2]
        # Clients and proxies may encode a query otherwise.
        others = [other for other in spellings_of(signature) if not other.startswith("%")]
        spellings = [query.replace(signature, other) for other in others]
        spellings += [f"{query}&x=1", f"{query}&W=40", f"{query}&w=40", query.replace("&s=k1.", "&s=k2.")]
        yield from at_one_url(server, query, spellings)
        text = in_path.rpartition("/")[2]
        spellings = [in_path.replace(signature, other) for other in spellings_of(signature) if "/" not in other]
        spellings += [in_path.replace(text, other) for other in spellings_of(text) if "/" not in other]
        spellings += [f"{in_path}{end}" for end in ("?", "?x=1", "/", "//", "%2F")]
        yield from at_one_url(server, in_path, spellings)


def paths_out_of_base_urls(lab: Lab) -> Iterator[Check]:
    """No source of a path leaves the base URL of its service, or becomes part of another host."""
    ways = ["../", "%2e%2e/", "%252e%252e/", "%25252e./", "..%5c", "..%255c", "..;/", "%5c%5c", "x/../../", ".%09./"]
    base = lab.origin.url("photo/inner/")
    services = [
        ("thumbor", "/unsafe/60x40/"), ("imgproxy", "/unsafe/rs:fill:60:40/plain/"),
        ("cloudflare", "/cdn-cgi/image/width=60/"),
    ]
    for service, start in services:
        with lab.server(LOOPBACK, f"--compat={service}", f"--compat-base-url={base}") as server:
            good = asked(server, f"{start}a.jpg")
            yield Check(good.status == 200, f"{service}, a.jpg: {good.status} {good.problem} (200)")
            for way in ways:
                answer = asked(server, f"{start}{way}secret.jpg")
                seen = f"{service}, {way}secret.jpg: {answer.status} {answer.problem}"
                yield Check(answer.status in REFUSED, f"{seen} (400 or 403)")
    authority = lab.origin.authority
    with lab.server(LOOPBACK, "--compat=imgproxy", "--compat-base-url=http://base.invalid") as server:
        for source in (f"%40{authority}/photo/1.jpg", f"http://{authority}/photo/1.jpg", encoded(f"@{authority}/photo/1.jpg")):
            answer = asked(server, f"/unsafe/plain/{source}")
            yield Check(answer.status != 200, f"imgproxy with a base URL without a slash, {source}: {answer.status} (not 200)")


def at_one_url(server: Server, target: str, spellings: list[str]) -> Iterator[Check]:
    good = asked(server, target)
    yield Check(good.status == 200, f"{target}: {good.status} {good.problem} (200)")
    for spelling in spellings:
        answer = asked(server, spelling)
        location = answer.headers.get("location")
        holds = answer.status in REFUSED or (answer.status == 301 and location == target)
        seen = f"{spelling}: {answer.status} {answer.problem or location}"
        yield Check(holds, f"{seen} (400, 403 or a redirect to the one URL)")


def followed(server: Server, target: str) -> Answer:
    """The response, behind one redirect."""
    answer = asked(server, target)
    return asked(server, answer.headers["location"]) if answer.status == 301 else answer


def same(answer: Answer, good: Answer) -> bool:
    return answer.status == 200 and answer.body == good.body and kept(answer) == kept(good)


def kept(answer: Answer) -> bool:
    """Whether the response may be used after the URL has expired."""
    return "must-revalidate" not in answer.headers.get("cache-control", "")


def spellings_of(signature: str) -> list[str]:
    """Other texts that some decoders read as the same bytes, or nearly."""
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    bare = signature.rstrip("=")
    last = digits.index(bare[-1])
    padding = signature[len(bare):]
    others = [bare, f"{bare}=", f"{bare}==", f"{bare}%3D", bare + "A", signature.upper(), signature.swapcase()]
    others += [bare[:-1] + digits[last ^ bit] + padding for bit in (1, 2, 3)]
    others += [signature.replace("-", "+").replace("_", "/"), f"%{ord(signature[0]):02X}{signature[1:]}"]
    return [other for other in others if other != signature]


def thumbor(path: str) -> str:
    return f"/{thumbor_signature(path)}/{path}"


def thumbor_signature(path: str) -> str:
    return base64.urlsafe_b64encode(hmac.digest(SECRET.encode(), path.encode(), hashlib.sha1)).decode()


def imgproxy_keys() -> str:
    return ":".join(part.hex() for part in PAIR)


def imgproxy_signature(path: str) -> str:
    key, salt = PAIR
    return base64.urlsafe_b64encode(hmac.digest(key, salt + path.encode(), hashlib.sha256)).decode().rstrip("=")


ATTACKS = [encoded_bytes, copies_of_signed_paths, copies_of_signed_queries, paths_out_of_base_urls]
