# May import nothing.
"""Pictures of structures, and the HTML around them: ready-made ones for ranks, tokens and trees, and the shapes of custom ones.

Provisional: it may change in any minor version.

`Display.picture` returns a picture. Notebooks show it as SVG, matplotlib draws it from the same shapes, terminals print its lines.
"""

from structperc.later import names_of

MODULES = {
    "arcs": ("ArcChoices", "Arcs", "arc_levels"),
    "bars": ("Bars",),
    "display": ("Display",),
    "ruler": ("Ruler",),
    "shapes": ("Arc", "Box", "Dot", "Line", "Picture", "Text"),
    "tokens": ("Choices", "Spans", "token_texts"),
}
__all__, __getattr__, __dir__ = names_of(__name__, MODULES)
