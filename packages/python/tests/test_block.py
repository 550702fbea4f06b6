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
                    svg = case.get("svg")
                    self.assertEqual(block.embed(case["info"], case["text"], svg and (lambda words, text: svg)), case["html"])

    def test_manifests_without_a_poster_are_drawn(self):
        drawn = []

        def draw(words, text):
            drawn.append((dict(words), text))
            return None

        for info, text in [
            ("loopscope view=nodes", "kind: Pod\n"),
            ("loopscope poster=a.svg", "kind: Pod"),
            ("loopscope", "lesson: 1\n"),
            ("loopscope lesson=undo", " \n"),
            ("yaml", "kind: Pod"),
        ]:
            self.assertEqual(block.embed(info, text, draw), block.embed(info, text))
        self.assertEqual(drawn, [({"view": "nodes"}, "kind: Pod")])


if __name__ == "__main__":
    unittest.main()
