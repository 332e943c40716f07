import base64, hashlib, hmac
from urllib.parse import quote

def sign(key_id, secret, path, parameters):
    pairs = sorted(parameters.items(), key=lambda pair: pair[0].encode())
    query = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in pairs)
    mac = hmac.new(secret.encode(), f"darkroom 1\n{path}\n{query}".encode(), hashlib.sha256)
    code = base64.urlsafe_b64encode(mac.digest()).rstrip(b"=").decode()
    return f"{path}?{query}&s={key_id}.{code}"
