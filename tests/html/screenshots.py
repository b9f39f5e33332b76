#!/usr/bin/env python3
"""Makes the pictures of docs/images/ that show the HTML page: light, dark and narrow.

usage: tests/html/screenshots.py --perfgate BUILD/perfgate
"""
import argparse
import pathlib
import sys
import tempfile

import browser
import html_test

IMAGES = pathlib.Path(__file__).parents[2] / "docs" / "images"
# name, page, scheme, width and height of the window, what stands at its top
PICTURES = [("report-light", "bias_out_of_epilogue", "light", 1200, 1500, None),
            ("report-time-line", "bias_out_of_epilogue", "dark", 1200, 1000, "#main h3:nth-of-type(3)"),
            ("report-narrow", "bias_out_of_epilogue", "light", 400, 900, None),
            ("history", "history", "light", 1100, 600, None)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--perfgate", required=True)
    options = parser.parse_args()
    program = browser.find()
    if program is None:
        sys.exit("there is no chromium here (apt-get install chromium)")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, browser.Browser(program) as page:
        html_test.make_pages(options.perfgate, pathlib.Path(scratch))
        for name, source, scheme, width, height, top in PICTURES:
            page.look(scheme, width, height)
            page.open(pathlib.Path(scratch) / f"{source}.html")
            page.evaluate(f'document.querySelector("{top or "body"}").scrollIntoView({{behavior: "instant"}})')
            page.screenshot(IMAGES / f"{name}.png")
            print(IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()
