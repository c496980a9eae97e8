"""Pieces of the report as HTML: parts of results pages, tables with captions, figures drawn anew as SVG, pictures as data.

Everything is escaped by structperc.pictures.markup; nothing is loaded and no script runs. What a colour means is also written.
"""

import base64
import io
import itertools
import math
import re

from results_pages import Figure, Heading, Lines, Paragraph, Table

from structperc.pictures.markup import Markup, element

STYLE = """
:root{color-scheme:light dark;
  --text:#1b1b1b;--page:#fff;--soft:#5a5a5a;--rule:#cfcfcf;--band:#f3f4f5;--link:#0b5394;--good:#0a5f38;--bad:#9a1f17}
@media (prefers-color-scheme:dark){:root{
  --text:#e6e6e6;--page:#15181b;--soft:#b0b4b8;--rule:#454b51;--band:#20252a;--link:#8fc1ff;--good:#7fd6a8;--bad:#ffa198}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.5 system-ui,sans-serif}
header,main,footer{max-width:72rem;margin:0 auto;padding:0 1rem}
h1{font-size:1.9rem;line-height:1.2;margin:1.4rem 0 .4rem}
h2{font-size:1.5rem;margin:2.6rem 0 .6rem;border-bottom:2px solid var(--rule);padding-bottom:.2rem}
h3{font-size:1.2rem;margin:2.2rem 0 .4rem}
h4{font-size:1.05rem;margin:1.5rem 0 .4rem}
h5,h6{font-size:1rem;margin:1.2rem 0 .3rem}
p,ul{max-width:46rem;margin:.5rem 0}
li{margin:.2rem 0}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:.5rem;background:var(--page);padding:.4rem .8rem;z-index:1}
nav ul{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;max-width:none}
.soft,caption{color:var(--soft)}
.scroll{overflow-x:auto;margin:.8rem 0}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
caption{text-align:left;padding:.2rem 0;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.22rem .7rem .22rem .3rem;border-bottom:1px solid var(--rule)}
td,tbody th{white-space:nowrap}
table .words{white-space:normal;min-width:10rem;max-width:34rem}
thead th{background:var(--band);vertical-align:bottom}
tbody th{font-weight:400}
.number{text-align:right}
.good{color:var(--good);font-weight:600}
.bad{color:var(--bad);font-weight:600}
code{font:.92em ui-monospace,monospace;overflow-wrap:anywhere}
details{border:1px solid var(--rule);border-radius:.3rem;padding:.3rem .8rem;margin:.8rem 0}
summary{cursor:pointer;font-weight:600}
figure{margin:1rem 0}
figure img{max-width:100%;height:auto;background:#fff;border:1px solid var(--rule)}
figcaption{color:var(--soft);font-size:.9rem}
.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(20rem,100%),1fr));gap:.6rem 2rem}
.tables{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(27rem,100%),1fr));gap:.2rem 2rem}
.plots>*,.tables>*{margin:.4rem 0;min-width:0}
svg{display:block;width:100%;height:auto;color:var(--text)}
.wide{grid-column:1/-1}
@media (max-width:40rem){
  table{font-size:.78rem}
  th,td{padding:.22rem .3rem .22rem .1rem}
  table .long,table .words{white-space:normal;min-width:5.5rem}
  details{padding:.3rem .25rem}
  figure img{max-width:none}
}
@media print{details>*{display:block}}
"""
SIGNS = {"better": ("▲", "good"), "even": ("●", None), "worse": ("▼", "bad"), "met": ("●", None), "missed": ("▼", "bad"),
         "faster": ("▲", "good"), "slower": ("▼", "bad"), "holds": ("●", None), "does not hold": ("▼", "bad"), "not run": ("–", "soft"),
         "constant": ("○", "soft")}
COLOURS, WIDE = 48, 1250                # of a picture: greys, and a few; pixels of those that take a line of their own
NUMBER = re.compile(r"[*+−–-]?[*]*[\d.,]+")


# ---- text ----

def inline(text):
    """Text with `code` and **bold** marked."""
    parts = re.split(r"(`[^`]+`|\*\*[^*]+\*\*)", text)
    return Markup("".join(element("code", part[1:-1]) if part[:1] == "`" != part else
                          element("strong", part[2:-2]) if part.startswith("**") and len(part) > 4 else element("span", part)[6:-7]
                          for part in parts))


def joined(pieces):
    return Markup("\n".join(pieces))


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def signed(word):
    """A verdict with a sign of its own, so that it is read without colour."""
    sign, kind = SIGNS[word]
    return element("span", f"{sign} {word}", class_=kind)


# ---- tables ----

def table(caption, head, rows):
    """A table whose first column names its rows. Columns of numbers are flush right. A wide table scrolls by itself."""
    flush = [False, *(numeric(column) for column in list(zip(*rows, strict=True))[1:])] if rows else [False] * len(head)
    names = [element("th", inline(name or "verdict"), scope="col", class_="number" if right else None)
             for name, right in zip(head, flush, strict=True)]
    lines = [element("tr", element("th", shown(first), scope="row", class_=kind(first)), *map(cell, others, flush[1:]))
             for first, *others in rows]
    written = [element("caption", inline(caption)), element("thead", element("tr", *names)), element("tbody", joined(lines))]
    return element("div", element("table", *written), class_="scroll", role="group", aria_label=caption, tabindex="0")


def numeric(column):
    return any(column) and all(not isinstance(value, Markup) and NUMBER.match(value) for value in column if value)


def shown(value):
    return value if isinstance(value, Markup) else signed(value) if value in SIGNS else inline(value)


def cell(value, right):
    return element("td", shown(value), class_="number" if right else kind(value))


def kind(value):
    """The class of cells whose text may break into lines, everywhere or on narrow screens."""
    length = len(re.sub("<[^>]*>", "", value) if isinstance(value, Markup) else value)
    return "words" if length > 40 else "long" if length > 18 else None


# ---- parts of results pages ----

def parts(page, level):
    """The page's parts but for its figures; its own headings begin at `level`."""
    pieces, last = [], page.title
    for part in page.parts:
        if isinstance(part, Heading):
            last = part.text
            pieces.append(element(f"h{min(6, level + part.level - 2)}", inline(part.text)))
        elif isinstance(part, Paragraph):
            pieces.append(element("p", inline(part.text)))
        elif isinstance(part, Lines):
            pieces.append(element("ul", *(element("li", inline(item)) for item in part.items)))
        elif isinstance(part, Table):
            pieces.append(table(last, part.head, part.rows))
    return joined(pieces)


def figures(pages, folder):
    """The pictures of these pages, those side by side that are narrow; None without any."""
    found = [picture(folder / file, text) for page in pages for file, text in files(page, folder).items()]
    return element("div", *found, class_="tables") if found else None


def files(page, folder):
    """Pictures that the page names, and those that are called by its name, with what they show."""
    named = {part.file: part.text for part in page.parts if isinstance(part, Figure)}
    own = re.compile(rf"{page.name.replace('_', '[_-]')}(-[\w-]+)?\.png")
    others = [found for path in sorted(folder.glob("*.png")) if path.name not in named and (found := own.fullmatch(path.name))]
    return named | {found[0]: page.title + (found[1] or "").replace("-", ", ", 1).replace("-", " ") for found in others}


def picture(path, text):
    """A PNG file with few colours as data, or a sentence that it is not there."""
    if not path.is_file():
        return element("p", f"The figure “{text}” is missing: {path.name} is not among the results.", class_="soft")
    from PIL import Image

    image, packed = Image.open(path).convert("RGB"), io.BytesIO()
    image.quantize(COLOURS).save(packed, "PNG", optimize=True)
    data = base64.b64encode(packed.getvalue()).decode()
    shown = element("img", src=f"data:image/png;base64,{data}", alt=text, width=image.width // 2, height=image.height // 2)
    scrolled = element("div", shown, class_="scroll", role="group", aria_label=text, tabindex="0")
    return element("figure", scrolled, element("figcaption", text), class_="wide" if image.width > WIDE else None)


# ---- figures drawn anew ----

ROW, WIDTH, EDGE, LETTER = 17, 360, 12, 6.3         # LETTER: the width of one, on average


def scaled(low, high, left):
    """A linear scale onto the plot, and its ticks."""
    step = next(step for power in itertools.count(-1) for one in (1, 2, 5) if (high - low) / (step := one * 10.0**power) <= 5)
    low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    ticks = [low + i * step for i in range(round((high - low) / step) + 1)]
    return lambda value: left + (value - low) / (high - low) * (WIDTH - left - EDGE), ticks


def text(x, y, content, **more):
    return element("text", content, x=f"{x:.1f}", y=f"{y:.1f}", font_size="11", fill="currentColor", **more)


def line(x1, y1, x2, y2, **more):
    return element("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}", stroke="currentColor", **more)


def mark(x, y, verdict):
    """A disc, a triangle up or down, or an empty disc."""
    if verdict in ("better", "worse"):
        up = 5 if verdict == "better" else -5
        base = y + up * 0.8
        return element("polygon", points=f"{x:.1f},{y - up:.1f} {x - 5:.1f},{base:.1f} {x + 5:.1f},{base:.1f}", fill="currentColor")
    filling = "currentColor" if verdict == "even" else "none"
    return element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="4", fill=filling, stroke="currentColor")


def plot(caption, spoken, height, drawn):
    return element("figure", element("svg", *drawn, viewBox=f"0 0 {WIDTH} {height}", role="img", aria_label=spoken),
                   element("figcaption", caption))


def ratios(caption, cells):
    """Ours over published, a row for each cell, with two standard errors; None where no cell has both numbers."""
    cells = [one for one in cells if not math.isnan(one.ratio[0])]
    if not cells:
        return None
    ends = [[one.ratio[0] + side * (0 if math.isnan(one.ratio[1]) else one.ratio[1]) for one in cells] for side in (-1, 1)]
    left = 10 + LETTER * max(len(one.what) for one in cells)
    scale, ticks = scaled(max(0, min(0.9, *ends[0])), max(1.1, *ends[1]), left)
    bottom = ROW * len(cells) + 8
    drawn = [line(scale(tick), 4, scale(tick), bottom, stroke_opacity=".22") for tick in ticks]
    drawn += [text(scale(tick), bottom + 13, f"{tick:.3g}", text_anchor="middle") for tick in ticks]
    drawn.append(line(scale(1), 4, scale(1), bottom, stroke_width="1.4"))
    for i, (one, low, high) in enumerate(zip(cells, *ends, strict=True)):
        y = 8 + ROW * (i + 0.5)
        drawn += [text(left - 8, y + 4, one.what, text_anchor="end"),
                  line(scale(max(ticks[0], low)), y, scale(high), y, stroke_width="1.2"), mark(scale(one.ratio[0]), y, one.verdict)]
    told = "; ".join(f"{one.what} {one.ratio[0]:.2f}, {one.verdict}" for one in cells)
    return plot(caption, f"{caption}: ours divided by the published figure. {told}", bottom + 20, drawn)


def history(name, points):
    """One case of all comparisons: (label, median, low, high) from the oldest to the newest."""
    low, high = min(0.95, *(one[2] for one in points)), max(1.05, *(one[3] for one in points))
    height, top, left = 90, 10, 44

    def y(value):
        return top + (high - value) / (high - low) * height

    def x(i):
        return left + (WIDTH - left - EDGE) * (i + 0.5) / len(points)

    drawn = [line(left, y(1), WIDTH - EDGE, y(1), stroke_dasharray="4 3", stroke_opacity=".7")]
    drawn += [text(left - 6, y(value) + 4, f"{value:.2f}", text_anchor="end") for value in (low, high)]
    for i, (label, middle, least, most) in enumerate(points):
        drawn += [line(x(i), y(least), x(i), y(most), stroke_width="1.2"), mark(x(i), y(middle), "even"),
                  text(x(i), top + height + 16, label, text_anchor="middle")]
        if i:
            drawn.append(line(x(i - 1), y(points[i - 1][1]), x(i), y(middle), stroke_opacity=".5"))
    return plot(name, f"{name}: " + "; ".join(f"{label} {middle:.3f}" for label, middle, *_ in points), top + height + 24, drawn)
