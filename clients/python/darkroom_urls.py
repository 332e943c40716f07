"""Signed URLs of a Darkroom server."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Union
from urllib.parse import quote

__all__ = ["Signer", "query"]

Value = Union[str, int, float, bool]
Parameters = Mapping[str, Union[Value, Sequence[Value], None]]

_LATEST = 253402300799  # 9999-12-31T23:59:59Z


class Signer:
    """Creates signed URLs with one key of the server.

    key_id: ID of the key in the server's `signing-keys`.
    secret: Secret of the key, at least 32 characters.
    base: The server's URL, with its base path if it has one. Without it, URLs are relative to
        the host.
    """

    def __init__(self, key_id: str, secret: str, base: str = "") -> None:
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,32}", key_id):
            raise ValueError("key_id must be 1 to 32 letters A-Z and a-z, digits, - and _.")
        if not re.fullmatch(r"[\x21-\x2b\x2d-\x7e]{32,}", secret):
            raise ValueError("secret must be at least 32 printable ASCII characters without spaces and commas.")
        self._key_id = key_id
        self._secret = secret.encode()
        self._base = base.rstrip("/")

    def url(self, parameters: Parameters, *, path: str = "/image", expires: datetime | int | None = None) -> str:
        """Returns the signed URL of a request.

        parameters: Parameters by name, not percent-encoded.
        path: `/image`, `/info`, `/explain`, `/srcset` or `/`.
        expires: When the URL expires, as a datetime with a time zone or in seconds since 1970. Default: never.
        """
        text, signature = self._sign(path, parameters, expires)
        return f"{self._base}{path}?{text}&s={signature}"

    def signed_path(self, parameters: Parameters, *, expires: datetime | int | None = None) -> str:
        """Returns the URL of an image with its query in the path, for CDNs that use the path alone as cache key."""
        text, signature = self._sign("/image", parameters, expires)
        return f"{self._base}/signed/{signature}/{_base64url(text.encode())}"

    def srcset(
        self, parameters: Parameters, widths: Iterable[int], *, expires: datetime | int | None = None
    ) -> str:
        """Returns the value of `srcset` with a signed URL of `/image` for each width in pixels."""
        return ", ".join(f"{self.url({**parameters, 'w': w}, expires=expires)} {w}w" for w in widths)

    def _sign(self, path: str, parameters: Parameters, expires: datetime | int | None) -> tuple[str, str]:
        if parameters.get("s") is not None:
            raise ValueError("Parameter 's' is the signature; leave it out.")
        text = query(parameters if expires is None else {**parameters, "exp": _seconds(expires)})
        mac = hmac.new(self._secret, f"darkroom 1\n{path}\n{text}".encode(), hashlib.sha256)
        return text, f"{self._key_id}.{_base64url(mac.digest())}"


def query(parameters: Parameters) -> str:
    """Returns the canonical query: parameters sorted by name, percent-encoded except for letters, digits and `-._~`.

    Lists are joined with commas. Parameters that are None are left out.
    """
    pairs = sorted((name, _text(value)) for name, value in parameters.items() if value is not None)
    return "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in pairs)


def _text(value: Value | Sequence[Value]) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    return ",".join(_text(item) for item in value)


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _seconds(expires: datetime | int) -> int:
    if isinstance(expires, datetime):
        if expires.tzinfo is None:
            raise ValueError("expires must have a time zone.")
        expires = int(expires.timestamp())
    if not isinstance(expires, int) or not 1 <= expires <= _LATEST:
        raise ValueError("expires must be a datetime or whole seconds since 1970, until the year 9999.")
    return expires
