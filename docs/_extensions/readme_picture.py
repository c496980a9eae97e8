"""The picture of README.md, drawn by the library from the guide: python docs/_extensions/readme_picture.py"""

from pathlib import Path

from pages import Pictures

from structperc.pictures.markup import Markup, element

DOCS = Path(__file__).parents[1]
WIDTH, HEIGHT = 940, 330
# Page of the guide, caption, left edge, top edge.
DRAWN = (("ranks", "Ordinal regression: the score of one patient among the learned thresholds", 20, 44),
         ("sequences", "Sequence tagging: the predicted tags, and the runner-up", 20, 208),
         ("trees", "Dependency parsing: the predicted tree", 560, 168))


def svg() -> str:
    """One SVG of three explanations, on a white ground so that it is readable on dark pages."""
    pictures, pieces = Pictures(), [element("rect", width=WIDTH, height=HEIGHT, fill="#ffffff")]
    for page, caption, left, top in DRAWN:
        drawn = pictures.of(DOCS / f"guide/{page}.md")[1]["why"].picture.svg()
        pieces += [element("text", caption, x=left, y=top - 20, font_weight="bold"),
                   element("g", Markup(drawn), transform=f"translate({left} {top})")]
    style = element("style", Markup(".tone { fill: #0b6e8f; }"))
    return element("svg", style, *pieces, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH} {HEIGHT}", width=WIDTH, height=HEIGHT,
                   font_family="system-ui,sans-serif", font_size=13, color="#1b1b1b", fill="#1b1b1b", role="img",
                   aria_label="Explanations of a grade, a tagged sentence and a dependency tree")


if __name__ == "__main__":
    (DOCS / "_static/three.svg").write_text(svg() + "\n", encoding="utf-8")
