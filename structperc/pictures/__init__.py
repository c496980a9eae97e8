"""Pictures of structures, and the HTML around them: ready-made ones for ranks, tokens and trees, and the shapes of custom ones.

`Display.picture` returns a picture. Notebooks show it as SVG, matplotlib draws it from the same shapes, terminals print its lines.
"""

from structperc.pictures.arcs import ArcChoices, Arcs, arc_levels
from structperc.pictures.bars import Bars
from structperc.pictures.display import Display
from structperc.pictures.ruler import Ruler
from structperc.pictures.shapes import Arc, Box, Dot, Line, Picture, Text
from structperc.pictures.tokens import Choices, Spans, token_texts

__all__ = ["Arc", "ArcChoices", "Arcs", "Bars", "Box", "Choices", "Display", "Dot", "Line", "Picture", "Ruler", "Spans", "Text",
           "arc_levels", "token_texts"]
