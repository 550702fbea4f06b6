"""Blocks as elements, on the cases that the command and the npm packages share. Needs nothing but Python."""

import importlib.util
import json
import unittest
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
spec = importlib.util.spec_from_file_location("block", PACKAGE / "src/loopscope/block.py")
block = importlib.util.module_from_spec(spec)
spec.loader.exec_module(block)


class Blocks(unittest.TestCase):
    def test_shared_cases(self):
        for case in json.loads((PACKAGE.parent / "blocks.json").read_text(encoding="utf-8")):
            with self.subTest(case["info"]):
                if case.get("error"):
                    with self.assertRaises(block.BlockError):
                        block.embed(case["info"], case["text"])
                else:
                    self.assertEqual(block.embed(case["info"], case["text"]), case["html"])


if __name__ == "__main__":
    unittest.main()
