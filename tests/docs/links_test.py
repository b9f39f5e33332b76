#!/usr/bin/env python3
"""Checks that links of the documentation lead somewhere: to a file of the repository, a heading of a page.

usage: links_test.py FILE.md...
"""
import pathlib
import re
import sys

FENCE = re.compile(r"^```.*?^```", re.M | re.S)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.M)


def anchors(path):
    """The fragments of a page's headings, as GitHub makes them."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in HEADING.findall(text))
    return {re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-") for heading in plain}


def faults(page):
    for picture, words, link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, fragment = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists():
            yield f"{link} does not exist"
        elif fragment and fragment not in anchors(target):
            yield f"{link}: {target.name} has no such heading"
        elif picture and not words:
            yield f"{link} is a picture without a description"


def main():
    pages = [pathlib.Path(name) for name in sys.argv[1:]]
    found = [f"{page}: {fault}" for page in pages for fault in faults(page)]
    print("\n".join(found) or f"the links of {len(pages)} pages lead somewhere")
    sys.exit(bool(found) or not pages)


if __name__ == "__main__":
    main()
