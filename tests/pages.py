"""Reads a report's page and checks that everything is there and whole."""

import base64
import struct
from html.parser import HTMLParser
from pathlib import Path


class Page(HTMLParser):
    """Collects what a page shows and checks that its tags are balanced."""

    VOID = ("meta", "img", "link", "br")

    def __init__(self, text: str):
        super().__init__()
        self.tables, self.figures, self.pictures, self.anchors, self.links = {}, [], [], [], []
        self.open, self.text = [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "table":
            self.table = self.tables.setdefault(attributes["id"].removeprefix("table-"), [])
        elif tag == "tr":
            self.table.append(0)
        elif tag in ("td", "th"):
            self.table[-1] += 1
        elif tag == "figure":
            self.figures.append(attributes["id"].removeprefix("figure-"))
        elif tag == "img":
            self.pictures.append(attributes["src"])
        elif tag == "a":
            self.links.append(attributes["href"])
        for name in ("src", "href"):
            assert not attributes.get(name, "").startswith("http")  # readable offline
        self.anchors += [attributes["id"]] if "id" in attributes else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def check_page(path: Path, experiments: dict[str, set[str]], tables: set[str]) -> Page:
    page = Page(path.read_text())
    assert set(page.figures) == {
        f"{e}-{kind}" for e, kinds in experiments.items() for kind in kinds
    }
    assert len(page.pictures) == len(page.figures)
    for source in page.pictures:
        head, _, data = source.partition(",")
        png = base64.b64decode(data, validate=True)
        width, height = struct.unpack(">II", png[16:24])
        assert head == "data:image/png;base64"
        assert png.startswith(b"\x89PNG\r\n\x1a\n")
        assert png.endswith(b"IEND\xaeB`\x82")
        assert min(width, height) > 300
    assert set(page.tables) == tables
    for cells in page.tables.values():
        assert len(cells) > 1
        assert len(set(cells)) == 1  # every row as wide as the heading
    assert len(set(page.anchors)) == len(page.anchors)
    assert page.links
    assert {link[1:] for link in page.links} <= set(page.anchors)
    for name in page.figures:
        for ending, magic in ((".png", b"\x89PNG"), (".pdf", b"%PDF-")):
            assert (path.parent / "figures" / (name + ending)).read_bytes().startswith(magic)
    return page
