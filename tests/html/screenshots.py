#!/usr/bin/env python3
"""Makes the pictures of docs/images/: the HTML page light, dark and narrow, its time line, a history, the
comment of a pull request and the terminal. All show recorded traces.

Needs more than the build does: apt-get install chromium cmark-gfm aha fonts-noto-color-emoji

usage: tests/html/screenshots.py --perfgate BUILD/perfgate [NAME...]
"""
import argparse
import pathlib
import shutil
import sys
import tempfile

import browser
import gated_run
import html_test

IMAGES = pathlib.Path(__file__).parents[2] / "docs" / "images"
# name: page, scheme, width and height of the window (None: of the page), what stands at its top
PICTURES = {
    "comment": ("comment", "light", 840, None, None),
    "history": ("history", "light", 1100, 569, None),
    "report-dark": ("bias_out_of_epilogue", "dark", 1200, 812, None),
    "report-light": ("bias_out_of_epilogue", "light", 1200, 1216, None),
    "report-narrow": ("bias_out_of_epilogue", "light", 400, 803, None),
    "report-time-line": ("bias_out_of_epilogue", "dark", 1200, 1000, "#main h3:nth-of-type(3)"),
    "terminal": ("terminal", "dark", 920, None, None),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--perfgate", required=True, type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", default=[])
    options = parser.parse_args()
    program = browser.find()
    missing = [name for name in ("cmark-gfm", "aha") if not shutil.which(name)]
    if program is None or missing:
        sys.exit(f"missing: {' '.join(missing + ['chromium'] * (program is None))} (apt-get install it)")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, browser.Browser(program) as page:
        for maker in (html_test, gated_run):
            maker.make_pages(options.perfgate.resolve(), pathlib.Path(scratch))
        for name in options.names or PICTURES:
            source, scheme, width, height, top = PICTURES[name]
            page.look(scheme, width, height or 100)
            page.open(pathlib.Path(scratch) / f"{source}.html")
            if height is None:
                page.look(scheme, width, page.evaluate("document.documentElement.scrollHeight"))
            page.evaluate(f'document.querySelector("{top or "body"}").scrollIntoView({{behavior: "instant"}})')
            page.screenshot(IMAGES / f"{name}.png")
            print(IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()
