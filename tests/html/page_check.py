#!/usr/bin/env python3
"""Checks HTML pages of perfgate: well formed, headings and tables in order, every link lands on the
page, nothing is loaded, and the Content-Security-Policy names the hashes of the page's style and script.

usage: page_check.py PAGE.html...
"""
import base64
import hashlib
import html.parser
import re
import sys

VOID = {"br", "meta", "link", "img", "input", "hr"}
LOADING = {"src", "srcset", "style", "data", "action", "poster"}


class Page(html.parser.HTMLParser):
    """Collects the faults of one page."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.faults, self.open, self.ids, self.links = [], [], set(), []
        self.level, self.texts, self.policy = 0, {}, ""
        self.names, self.tables, self.captions, self.pictures, self.titles = [], 0, 0, 0, 0

    def fault(self, text):
        self.faults.append(f"line {self.getpos()[0]}: {text}")

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        values = dict(attributes)
        if len(names) != len(set(names)):
            self.fault(f"<{tag}> has an attribute twice")
        for name in names:
            if name in LOADING or name.startswith("on"):
                self.fault(f"<{tag}> has {name}")
        if tag in ("link", "img", "iframe", "object", "embed", "base", "form"):
            self.fault(f"<{tag}> on a page that loads nothing")
        if "id" in values:
            if values["id"] in self.ids:
                self.fault(f"the id {values['id']} stands twice")
            self.ids.add(values["id"])
        self.links += [(self.getpos()[0], values[name]) for name in ("href", "aria-labelledby")
                       if name in values]
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"]
        if re.fullmatch("h[1-6]", tag):
            if int(tag[1]) > self.level + 1:
                self.fault(f"<{tag}> after <h{self.level}>")
            self.level = int(tag[1])
        self.tables += tag == "table"
        self.captions += tag == "caption"
        self.pictures += tag == "svg"
        self.titles += tag == "title" and bool(self.open) and self.open[-1] == "svg"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        if "svg" not in self.open:
            self.fault(f"<{tag}/> outside a picture")
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.fault(f"</{tag}> closes <{self.open[-1] if self.open else ''}>")
        else:
            self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] in ("style", "script"):
            self.texts.setdefault(self.open[-1], []).append(data)

    def finish(self):
        self.close()
        if self.open:
            self.fault(f"not closed: {self.open}")
        for line, link in self.links:
            target = link[1:] if link.startswith("#") else link
            if target not in self.ids:
                self.faults.append(f"line {line}: {link} leads nowhere")
        if self.tables != self.captions:
            self.faults.append(f"{self.tables} tables, {self.captions} captions")
        if self.pictures != self.titles:
            self.faults.append(f"{self.pictures} pictures, {self.titles} titles of them")
        for kind in ("style", "script"):
            texts = self.texts.get(kind, [])
            digest = hashlib.sha256("".join(texts).encode()).digest()
            allowed = f"{kind}-src 'sha256-{base64.b64encode(digest).decode()}'"
            if len(texts) != 1 or allowed not in self.policy:
                self.faults.append(f"{kind} is not the one that the policy allows")
        if not self.policy.startswith("default-src 'none';"):
            self.faults.append(f"the policy is {self.policy!r}")
        return self.faults


def check(path):
    page = Page()
    with open(path, encoding="utf-8", newline="") as file:
        page.feed(file.read())
    return page.finish()


def main():
    failed = False
    for path in sys.argv[1:]:
        for fault in check(path):
            print(f"{path}: {fault}")
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
