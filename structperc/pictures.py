"""Pictures that explanations show: ready-made ones for ranks, tokens and trees, and the shapes of custom ones.

`Display.picture` returns one; a picture is written as SVG in notebooks and drawn by matplotlib from the same shapes.
"""

from structperc.core.pictures import (
    Arc,
    ArcChoices,
    Arcs,
    Bars,
    Box,
    Choices,
    Display,
    Dot,
    Line,
    Picture,
    Ruler,
    Spans,
    Text,
    arc_levels,
    token_texts,
)

__all__ = ["Arc", "ArcChoices", "Arcs", "Bars", "Box", "Choices", "Display", "Dot", "Line", "Picture", "Ruler", "Spans", "Text",
           "arc_levels", "token_texts"]
