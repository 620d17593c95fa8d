"""Elements of a page as a tree, so that no text can become markup. Knows nothing of what they mean."""

from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree

Element = ElementTree.Element
Child = Element | str


def element(tag: str, *children: Child, **attributes: Any) -> Element:
    """`class_` is `class`, `stroke_width` is `stroke-width`; attributes that are None are left out."""
    given = {key.rstrip("_").replace("_", "-"): str(value) for key, value in attributes.items() if value is not None}
    return filled(Element(tag, given), children)


def filled(parent: Element, children: Iterable[Child]) -> Element:
    """`parent` with `children` behind what it has."""
    for child in children:
        if isinstance(child, str):
            last = parent[-1] if len(parent) else None
            if last is None:
                parent.text = (parent.text or "") + child
            else:
                last.tail = (last.tail or "") + child
        else:
            parent.append(child)
    return parent


def document(root: Element) -> str:
    """An HTML page."""
    return "<!doctype html>\n" + ElementTree.tostring(root, encoding="unicode", method="html") + "\n"
