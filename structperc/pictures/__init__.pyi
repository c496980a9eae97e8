# Written by tests/typing/stubs.py from the table of names.
from structperc.pictures.arcs import ArcChoices as ArcChoices
from structperc.pictures.arcs import Arcs as Arcs
from structperc.pictures.arcs import arc_levels as arc_levels
from structperc.pictures.bars import Bars as Bars
from structperc.pictures.display import Display as Display
from structperc.pictures.ruler import Ruler as Ruler
from structperc.pictures.shapes import Arc as Arc
from structperc.pictures.shapes import Box as Box
from structperc.pictures.shapes import Dot as Dot
from structperc.pictures.shapes import Line as Line
from structperc.pictures.shapes import Picture as Picture
from structperc.pictures.shapes import Text as Text
from structperc.pictures.tokens import Choices as Choices
from structperc.pictures.tokens import Spans as Spans
from structperc.pictures.tokens import token_texts as token_texts
