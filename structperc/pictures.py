"""Pictures that explanations show: ready-made ones for ranks, tokens and trees, and the shapes to make one of one's own.

`Outputs.picture` answers with one; a picture is written as SVG in notebooks and drawn by matplotlib from the same shapes.
"""

from structperc.core.pictures import (
    Arc,
    ArcChoices,
    Arcs,
    Bars,
    Box,
    Choices,
    Dot,
    Line,
    Picture,
    Ruler,
    Spans,
    Text,
    arc_levels,
    token_texts,
)

__all__ = ["Arc", "ArcChoices", "Arcs", "Bars", "Box", "Choices", "Dot", "Line", "Picture", "Ruler", "Spans", "Text", "arc_levels",
           "token_texts"]
