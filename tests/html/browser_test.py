#!/usr/bin/env python3
"""Opens pages in Chromium: nothing on the console, nothing fetched, tables sort, the keyboard reaches
the spans of the time line, a narrow window scrolls in one direction only.

Without Chromium it says that it did not run and exits 77, which CTest shows as skipped.

usage: browser_test.py --perfgate BUILD/perfgate
"""
import argparse
import pathlib
import sys
import tempfile

import browser
import html_test

FIRST_TIMES = """Array.from(document.querySelector("table.sortable").tBodies[0].rows)
    .slice(0, 3).map((row) => Number(row.cells[6].dataset.key))"""


def check_sorting(page):
    button = 'document.querySelector("table.sortable").tHead.rows[0].cells[6].firstElementChild'
    for order in ("descending", "ascending"):
        page.evaluate(f"{button}.focus()")
        page.press(" ", 32)
        times = page.evaluate(FIRST_TIMES)
        shown = page.evaluate(f"{button}.parentElement.ariaSort")
        if shown != order or times != sorted(times, reverse=order == "descending"):
            yield f"sorted {shown}, and the times are {times}"


def check_keyboard(page):
    page.evaluate('document.querySelector("svg.lanes rect").focus()')
    seen = []
    for key, code in (("ArrowRight", 39), ("ArrowRight", 39), ("ArrowLeft", 37), ("End", 35)):
        page.press(key, code)
        seen.append(page.evaluate('document.querySelector("output.about").textContent'))
    if not all(seen) or seen[0] != seen[2] or len(set(seen)) < 3:
        yield f"the arrow keys led to {seen}"
    stops = page.evaluate('document.querySelector("svg.lanes").querySelectorAll("[tabindex=\'0\']").length')
    if stops != 1:
        yield f"a picture is {stops} stops of the Tab key"


def check_page(page, path):
    page.look()
    page.open(path)
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    page.look(width=380, height=800)
    narrow = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    page.look()
    if wide or narrow:
        yield "it scrolls sideways"
    if page.evaluate('document.querySelectorAll("svg.lanes rect").length'):
        yield from check_keyboard(page)
    if path.name == "bias_out_of_epilogue.html":
        yield from check_sorting(page)
    for said in page.said:
        yield f"the browser says: {said}"
    foreign = [url for url in page.requests if url != path.resolve().as_uri()]
    if foreign:
        yield f"it asks for {foreign}"
    page.said.clear()
    page.requests.clear()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--perfgate", required=True)
    options = parser.parse_args()
    program = browser.find()
    if program is None:
        print("NOT RUN: there is no chromium here (apt-get install chromium)")
        sys.exit(77)
    faults = []
    with tempfile.TemporaryDirectory() as scratch, browser.Browser(program) as page:
        pages = html_test.make_pages(options.perfgate, pathlib.Path(scratch))
        for path in pages:
            faults += [f"{path.name}: {fault}" for fault in check_page(page, path)]
    print("\n".join(faults) or f"{len(pages)} pages, nothing on the console, nothing fetched")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
