"""A few shapes that are written as SVG, or drawn by matplotlib; pictures are made of them.

Coordinates are pixels from the upper left corner.
"""

from __future__ import annotations

import attrs

from structperc.pictures.markup import Markup, element, excerpt

LETTER, SIZE = 7.0, 12                  # the width of a letter, the height of text
FONT = "system-ui,sans-serif"
WIDTH = 560                             # of pictures that do not grow with their content
COLUMNS = 78                            # of a terminal


@attrs.frozen
class Line:
    """A straight line.

    Parameters
    ----------
    x1, y1, x2, y2 : float
        Both ends, in pixels. y grows downwards.
    dashed : bool, default False
    width : float, default 1.0
        In pixels.

    Examples
    --------
    >>> from structperc.pictures import Line
    >>> Line(0.0, 0.0, 10.0, 0.0).width
    1.0
    """

    x1: float
    y1: float
    x2: float
    y2: float
    dashed: bool = False
    width: float = 1.0


@attrs.frozen
class Box:
    """A filled rectangle; `strength` from 0, unseen, to 1.

    Parameters
    ----------
    x, y : float
        The upper left corner, in pixels. y grows downwards.
    width, height : float
    strength : float, default 0.2
        Opacity from 0 to 1.

    Examples
    --------
    >>> from structperc.pictures import Box
    >>> Box(0.0, 0.0, 20.0, 10.0).strength
    0.2
    """

    x: float
    y: float
    width: float
    height: float
    strength: float = 0.2


@attrs.frozen
class Dot:
    """A filled circle.

    Parameters
    ----------
    x, y : float
        The centre, in pixels. y grows downwards.
    radius : float, default 4.0

    Examples
    --------
    >>> from structperc.pictures import Dot
    >>> Dot(5.0, 5.0).radius
    4.0
    """

    x: float
    y: float
    radius: float = 4.0


@attrs.frozen
class Arc:
    """A curve from (x1, y) to an arrow's head at (x2, y). Its top is at `top`, which may be below y.

    Parameters
    ----------
    x1, x2 : float
        Where it begins, and where the arrow's head is, in pixels.
    y, top : float
        Height of both ends, and of the highest point. y grows downwards.
    dashed : bool, default False

    Examples
    --------
    >>> from structperc.pictures import Arc
    >>> Arc(0.0, 40.0, 30.0, 5.0).dashed
    False
    """

    x1: float
    x2: float
    y: float
    top: float
    dashed: bool = False


@attrs.frozen
class Text:
    """A text on one line; y is its base line, `anchor` is "start", "middle" or "end".

    Parameters
    ----------
    x, y : float
        Place of the text, in pixels. y is its base line and grows downwards.
    text : str
    anchor : {"start", "middle", "end"}, default "start"
        Which part of the text is at x.
    strong : bool, default False

    Examples
    --------
    >>> from structperc.pictures import Text
    >>> Text(0.0, 12.0, "bmi").anchor
    'start'
    """

    x: float
    y: float
    text: str = attrs.field(converter=excerpt)
    anchor: str = "start"
    strong: bool = False


class Picture:
    """How an explanation shows two structures. A subclass overrides `shapes()`, or `svg` and `draw` for another way of drawing.

    Examples
    --------
    >>> from structperc.pictures import Box, Picture, Text
    >>> class Labelled(Picture):
    ...     def shapes(self):
    ...         return [Box(0, 0, 60, 20), Text(4, 14, "chosen")]
    >>> Labelled().extent()[2]
    24
    """

    def shapes(self) -> list:
        """The shapes, in the order in which they cover each other. Returns a list of Line, Box, Dot, Arc and Text."""
        raise NotImplementedError

    def extent(self) -> tuple[float, float, float]:
        """How far it reaches to the left, to the right and down, in pixels.

        Returns
        -------
        left, right, bottom : float
        """
        return extent(self.shapes())

    def svg(self) -> str:
        """The picture as an SVG element, in the reader's colour."""
        return svg_of(self.shapes())

    def draw(self, ax, top=0.0) -> None:
        """Draws the picture into matplotlib's axes, whose unit is a pixel, from `top` down.

        Parameters
        ----------
        ax : matplotlib.axes.Axes
        top : float, default 0.0
            Height of the picture's upper edge, in pixels.
        """
        draw_shapes(self.shapes(), ax, top)

    def lines(self, width=COLUMNS) -> list[str]:
        """The picture as lines of text, at most `width` characters long; none where it has no such form.

        Parameters
        ----------
        width : int, default 78
            Longest line, in characters.
        """
        return []


def text_ends(text: Text) -> tuple[float, float]:
    """Where a text begins and ends, estimated by the mean width of letters."""
    width = LETTER * len(text.text)
    start = text.x - {"start": 0, "middle": width / 2, "end": width}[text.anchor]
    return start, start + width


def extent(shapes) -> tuple[float, float, float]:
    """How far shapes reach to the left, to the right and down."""
    x, y = [0.0], [1.0]
    for shape in shapes:
        if isinstance(shape, Text):
            x += text_ends(shape)
            y.append(shape.y + 5)
        elif isinstance(shape, Box):
            x.append(shape.x + shape.width)
            y.append(shape.y + shape.height)
        elif isinstance(shape, Dot):
            x.append(shape.x + shape.radius)
            y.append(shape.y + shape.radius)
        elif isinstance(shape, Arc):
            x += [shape.x1, shape.x2]
            y += [shape.y, shape.top]
        else:
            x += [shape.x1, shape.x2]
            y += [shape.y1, shape.y2]
    return min(x) - 4, max(x) + 4, max(y) + 4


def svg_of(shapes) -> Markup:
    """Shapes as an SVG element."""
    shapes = list(shapes)
    left, right, height = extent(shapes)
    width = right - left
    spoken = ", ".join(shape.text for shape in shapes if isinstance(shape, Text)) or "picture"         # for readers who hear it
    return element("svg", *map(element_of, shapes), xmlns="http://www.w3.org/2000/svg", width=f"{width:.0f}", height=f"{height:.0f}",
                   viewBox=f"{left:.0f} 0 {width:.0f} {height:.0f}", font_family=FONT, font_size=SIZE, role="img", aria_label=spoken,
                   fill="currentColor")


def element_of(shape) -> Markup:
    dashes = "4 3" if getattr(shape, "dashed", False) else None
    if isinstance(shape, Line):
        return element("line", x1=f"{shape.x1:.1f}", y1=f"{shape.y1:.1f}", x2=f"{shape.x2:.1f}", y2=f"{shape.y2:.1f}",
                       stroke="currentColor", stroke_width=shape.width if shape.width != 1 else None, stroke_dasharray=dashes)
    if isinstance(shape, Box):
        return element("rect", x=f"{shape.x:.1f}", y=f"{shape.y:.1f}", width=f"{shape.width:.1f}", height=f"{shape.height:.1f}",
                       class_="tone", fill_opacity=f"{shape.strength:.2f}")
    if isinstance(shape, Dot):
        return element("circle", cx=f"{shape.x:.1f}", cy=f"{shape.y:.1f}", r=f"{shape.radius:g}")
    if isinstance(shape, Arc):
        y, way = shape.y, 4 if shape.top > shape.y else -4
        return Markup(element("path", d=f"M{shape.x1:.1f},{y:.1f} C{shape.x1:.1f},{shape.top:.1f} {shape.x2:.1f},{shape.top:.1f} "
                                        f"{shape.x2:.1f},{y + way:.1f}", fill="none", stroke="currentColor", stroke_dasharray=dashes)
                      + element("polygon", points=f"{shape.x2 - 3:.1f},{y + 2 * way:.1f} {shape.x2:.1f},{y:.1f} "
                                                  f"{shape.x2 + 3:.1f},{y + 2 * way:.1f}"))
    return element("text", shape.text, x=f"{shape.x:.1f}", y=f"{shape.y:.1f}",
                   text_anchor=None if shape.anchor == "start" else shape.anchor, font_weight="bold" if shape.strong else None)


def draw_shapes(shapes, ax, top=0.0) -> None:
    """Draws shapes into matplotlib's axes, `top` pixels down."""
    for shape in shapes:
        style = "--" if getattr(shape, "dashed", False) else "-"
        if isinstance(shape, Line):
            ax.plot([shape.x1, shape.x2], [shape.y1 + top, shape.y2 + top], color="black", linewidth=0.75 * shape.width, linestyle=style)
        elif isinstance(shape, Box):
            ax.bar(shape.x, shape.height, shape.width, shape.y + top, align="edge", color="#0b6e8f", alpha=shape.strength, linewidth=0)
        elif isinstance(shape, Dot):
            ax.plot([shape.x], [shape.y + top], marker="o", color="black", markersize=1.5 * shape.radius)
        elif isinstance(shape, Arc):
            t = [i / 24 for i in range(25)]
            x = [(1 - s) ** 2 * (1 + 2 * s) * shape.x1 + s * s * (3 - 2 * s) * shape.x2 for s in t]
            ax.plot(x, [top + shape.y + 3 * s * (1 - s) * (shape.top - shape.y) for s in t], color="black", linewidth=0.75, linestyle=style)
            ax.plot([shape.x2], [shape.y + top], marker="^" if shape.top > shape.y else "v", color="black", markersize=3)
        else:
            ax.text(shape.x, shape.y + top, shape.text, ha={"start": "left", "middle": "center", "end": "right"}[shape.anchor],
                    va="baseline", fontsize=9, fontweight="bold" if shape.strong else None, parse_math=False, clip_on=True)
