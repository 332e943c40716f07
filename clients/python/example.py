import os
from datetime import datetime, timedelta, timezone

from darkroom_urls import Signer

signer = Signer("k1", os.environ["SIGNING_SECRET"], base="https://img.example.com")
image = {"url": "https://example.com/photo.jpg", "w": 400, "h": 300, "fit": "cover"}

print(signer.url(image))
print(signer.url(image, expires=datetime.now(timezone.utc) + timedelta(hours=1)))
print(signer.url({"url": image["url"]}, path="/info"))
print(signer.signed_path(image))
print(signer.srcset({"url": image["url"], "ar": "4:3"}, [320, 640, 1280]))
