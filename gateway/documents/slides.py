"""PPTX: the text of each slide, its tables, the figures of its charts, and its notes."""

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from gateway.documents.archive import Archive, attribute, child, local
from gateway.documents.model import DocumentLimits, ReadDocument
from gateway.documents.pages import Pages, table


def read_pptx(
    archive: Archive, main: str, root: ET.Element, _: bytes, limits: DocumentLimits
) -> ReadDocument:
    """Return the presentation. Raises `CannotRead`."""
    related = archive.relationships(main)
    listed = child(root, "sldIdLst")
    # The id of the relationship, not the number of the slide, which has the same local name.
    ids = [
        next((value for key, value in each.attrib.items() if key.endswith("}id")), "")
        for each in (listed if listed is not None else ())
    ]
    slides = [related[id_].target for id_ in ids if id_ in related]
    pages = Pages(limits)
    for number, name in enumerate(slides, 1):
        if pages.full:
            break
        _add(pages, archive, name, number)
    return pages.document(
        "pptx", total=len(slides), title=archive.title(), left_out=archive.left_out()
    )


def _add(pages: Pages, archive: Archive, name: str, number: int) -> None:
    slide = archive.xml(name)
    if slide is None:
        pages.add(f"slide {number}", "")
        return
    tree = child(slide, "cSld", "spTree")
    blocks = list(_Slide(archive, name).blocks(tree)) if tree is not None else []
    text = "\n\n".join(blocks)
    notes = archive.xml(archive.one(name, "notesSlide"))
    said = "\n".join(_notes(notes)) if notes is not None else ""
    if said.strip():
        text = f"{text}\n\nNotes: {said}"
    hidden = " (hidden)" if attribute(slide, "show") == "0" else ""
    pictured = not text.strip() and any(local(each) == "pic" for each in slide.iter())
    pages.add(f"slide {number}{hidden}", text, picture=pictured)


class _Slide:
    def __init__(self, archive: Archive, name: str) -> None:
        self._archive = archive
        self._related = archive.relationships(name)

    def blocks(self, tree: ET.Element) -> Iterator[str]:
        """Yield the texts of the shapes in the order of the slide."""
        for shape in tree:
            match local(shape):
                case "grpSp":
                    yield from self.blocks(shape)
                case "sp":
                    if text := _shape(shape):
                        yield text
                case "graphicFrame":
                    yield from self._frame(shape)
                case "pic":
                    said = attribute(child(shape, "nvPicPr", "cNvPr"), "descr").strip()
                    if said:
                        yield f"[picture: {said[:200]}]"
                case "AlternateContent":
                    chosen = child(shape, "Choice")
                    if chosen is not None:
                        yield from self.blocks(chosen)

    def _frame(self, frame: ET.Element) -> Iterator[str]:
        data = child(frame, "graphic", "graphicData")
        for element in data if data is not None else ():
            match local(element):
                case "tbl":
                    rows = [
                        ["\n".join(_lines(one)) for one in row if local(one) == "tc"]
                        for row in element
                        if local(row) == "tr"
                    ]
                    if shown := table(rows):
                        yield shown
                case "chart":
                    reference = self._related.get(attribute(element, "id"))
                    if reference is not None and not reference.external:
                        yield from _chart(self._archive.xml(reference.target))
                case "relIds":  # a diagram, whose text is in a part of its own
                    reference = self._related.get(attribute(element, "dm"))
                    if reference is not None and not reference.external:
                        yield from _diagram(self._archive.xml(reference.target))


def _shape(shape: ET.Element) -> str:
    kind = attribute(child(shape, "nvSpPr", "nvPr", "ph"), "type")
    if kind in ("sldNum", "dt", "ftr"):
        return ""
    body = child(shape, "txBody")
    if body is None:
        return ""
    if kind in ("title", "ctrTitle"):
        title = " ".join(_lines(body))
        return f"# {title}" if title.strip() else ""
    listed = kind in ("", "body", "obj") and child(shape, "nvSpPr", "nvPr", "ph") is not None
    return "\n".join(_lines(body, listed=listed))


def _lines(element: ET.Element, *, listed: bool = False) -> Iterator[str]:
    """Yield the paragraphs with text, as list items if they stand in the list of a layout."""
    for paragraph in element.iter():
        if local(paragraph) != "p":
            continue
        text = "".join(
            "\n" if local(each) == "br" else each.text or ""
            for each in paragraph.iter()
            if local(each) in ("t", "br")
        )
        if not text.strip():
            continue
        level = attribute(child(paragraph, "pPr"), "lvl")
        indent = "  " * (min(int(level), 8) if level.isdecimal() else 0)
        yield f"{indent}- {text}" if listed else text


def _notes(notes: ET.Element) -> Iterator[str]:
    for shape in notes.iter():
        if (
            local(shape) == "sp"
            and attribute(child(shape, "nvSpPr", "nvPr", "ph"), "type") == "body"
        ):
            body = child(shape, "txBody")
            yield from _lines(body) if body is not None else ()


def _chart(chart: ET.Element | None) -> Iterator[str]:
    """Yield the title of a chart and its figures as a table: a row for each category."""
    if chart is None:
        return
    title = child(chart, "chart", "title")
    if title is not None and (said := " ".join(_lines(title))):
        yield f"Chart: {said}"
    series = [each for each in chart.iter() if local(each) == "ser"]
    columns = [_points(one, ("val", "yVal")) for one in series]
    if not columns:
        return
    categories = _points(series[0], ("cat", "xVal"))
    places = sorted({*categories, *(at for column in columns for at in column)})
    heading = ["", *(" ".join(_points(one, ("tx",)).values()) for one in series)]
    rows = [[categories.get(at, ""), *(column.get(at, "") for column in columns)] for at in places]
    yield table([heading, *rows])


def _points(series: ET.Element, names: tuple[str, ...]) -> dict[int, str]:
    """Return the stored values of a part of a series by their place."""
    part = next((each for each in series if local(each) in names), None)
    found: dict[int, str] = {}
    for point in part.iter() if part is not None else ():
        at = attribute(point, "idx")
        if local(point) == "pt" and at.isdecimal() and len(found) < 1_000:
            value = child(point, "v")
            found[int(at)] = (value.text or "") if value is not None else ""
    return found


def _diagram(data: ET.Element | None) -> Iterator[str]:
    points = child(data, "ptLst")
    for point in points if points is not None else ():
        if attribute(point, "type") in ("", "node") and (text := " ".join(_lines(point)).strip()):
            yield f"- {text}"
