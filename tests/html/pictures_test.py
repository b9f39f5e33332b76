#!/usr/bin/env python3
"""docs/images/ holds the pictures that screenshots.py makes and no others, small ones, each shown by a page.

usage: pictures_test.py
"""
import sys

import screenshots

DOCS = screenshots.IMAGES.parent
MOST_BYTES = 200_000


def main():
    kept = {path.name: path.stat().st_size for path in screenshots.IMAGES.iterdir()}
    made = {f"{name}.png" for name in screenshots.PICTURES}
    pages = [path.read_text(encoding="utf-8") for path in (DOCS.parent / "README.md", *DOCS.glob("*.md"))]
    faults = [f"{name} is not made by screenshots.py" for name in sorted(kept.keys() - made)]
    faults += [f"{name} is missing: run screenshots.py" for name in sorted(made - kept.keys())]
    faults += [f"{name} has {size} bytes" for name, size in sorted(kept.items()) if size > MOST_BYTES]
    faults += [f"no page shows {name}" for name in sorted(made)
               if not any(f"images/{name})" in page for page in pages)]
    print("\n".join(faults) or f"{len(kept)} pictures are kept, and shown")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
