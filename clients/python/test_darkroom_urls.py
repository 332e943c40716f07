import json
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path

from darkroom_urls import Signer, query

VECTORS = json.loads((Path(__file__).parents[2] / "Fixtures/signatures.json").read_text(encoding="utf-8"))
SOURCE = "https://example.com/photo.jpg"


def signer(base=""):
    return Signer("k1", VECTORS["keys"]["k1"], base)


class SignerTests(unittest.TestCase):
    def test_signs_the_vectors(self):
        for row in VECTORS["valid"] + VECTORS["signed"]:
            with self.subTest(row["name"]):
                signer = Signer(row["key"], VECTORS["keys"][row["key"]])
                self.assertEqual(signer.url(row["parameters"], path=row["path"]), row["url"])
                if "signed_path" in row:
                    self.assertEqual(signer.signed_path(row["parameters"]), row["signed_path"])
                rest = dict(row["parameters"])
                if exp := rest.pop("exp", None):
                    time = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=int(exp))
                    for expires in (int(exp), time):
                        self.assertEqual(signer.url(rest, path=row["path"], expires=expires), row["url"])

    def test_values_may_be_numbers_booleans_and_lists_and_are_left_out_if_there_is_none(self):
        typed = {"url": SOURCE, "w": 400, "fpx": 0.25, "flip": True, "radius": [8, 0], "h": None}
        texts = {"url": SOURCE, "w": "400", "fpx": "0.25", "flip": "true", "radius": "8,0"}
        self.assertEqual(query(typed), query(texts))

    def test_the_base_precedes_the_path_and_is_not_signed(self):
        relative = signer().url({"url": SOURCE, "w": 400})
        absolute = signer("https://img.example.com/base/").url({"url": SOURCE, "w": 400})
        self.assertEqual(absolute, "https://img.example.com/base" + relative)

    def test_a_set_of_widths_has_a_signed_url_for_each_width(self):
        small, large = (signer().url({"url": SOURCE, "w": w}, expires=4102444800) for w in (320, 640))
        made = signer().srcset({"url": SOURCE}, [320, 640], expires=4102444800)
        self.assertEqual(made, f"{small} 320w, {large} 640w")

    def test_what_no_server_accepts_is_refused(self):
        secret = VECTORS["keys"]["k1"]
        for key_id in ("", "a.b", "k1\n", "a" * 33):
            with self.assertRaises(ValueError):
                Signer(key_id, secret)
        for weak in ("short", " " * 32, "," * 32):
            with self.assertRaises(ValueError):
                Signer("k1", weak)
        with self.assertRaises(ValueError):
            signer().url({"url": SOURCE, "s": "k1.x"})
        for expires in (0, 1.5, 253402300800, datetime(2030, 1, 1)):
            with self.assertRaises(ValueError):
                signer().url({"url": SOURCE}, expires=expires)


if __name__ == "__main__":
    unittest.main()
