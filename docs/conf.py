"""The documentation site: pages of Markdown, a gallery of the examples, and the reference of the public list; `make docs` builds it.

Sphinx reads from the root of the repository. A link therefore leads to the same file here and on a code host.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "structperc"
author = "The structperc developers"
copyright = author
version = release = re.search(r'__version__ = "(.+)"', (ROOT / "structperc/version.py").read_text())[1]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_gallery.gen_gallery", "sphinx_copybutton",
              "reference", "bibliography", "pages", "search", "formulas"]
root_doc = "docs/index"
templates_path = ["_templates"]                 # numpydoc's order of sections: the example before the parameters
include_patterns = ["*.md", "docs/**", "examples/README.md", "examples/*/README.md", "benchmarks/README.md", "benchmarks/results/*.md"]
exclude_patterns = [".*", "build", "dist", "demo-output", "docs/_*"]
html_extra_path = ["_static/index.html", "../build/pages"]

def modules(names, package="structperc."):
    """Entries of the reference by short names."""
    return [f"{name} <reference/{package}{name}>" for name in names.split()]


# The pages below each page, with optional captions. Pages of Markdown stay free of them.
navigation = {
    "docs/index": ["start", "install", "guide/index", "gallery/index", "write-a-problem", "replace-a-part", "api", "background"],
    "docs/guide/index": {
        "Find": ["problems", "names"],
        "By problem": ["ranks", "intervals", "classes", "sequences", "trees", "rankings", "pairs", "graphs", "decisions"],
        "By update rule": ["perceptron", "passive-aggressive", "gradients", "margins", "boosting", "scores"],
        "By form of data": ["arrays", "frames", "tokens", "blocks", "kernels", "streams"],
        "Before and after training": ["tune", "uncertainty", "effects", "odds", "sets", "counterfactuals", "export"],
        "In full": ["/docs/how-to-choose",
                    "/docs/bounds", "/docs/presets", "/docs/more-than-one-machine",
                    "/docs/run-on-a-cluster", "/docs/model-files", "/docs/ecosystem"],
    },
    "docs/replace-a-part": ["parts", "/docs/architecture", "/examples/README", "/examples/*/README"],
    "docs/architecture": ["rooms/*"],
    "docs/api": {
        "Train and predict": ["reference/structperc", *modules("estimators problems files streams distributed crfsuite torch jax")],
        "Judge and explain": modules("metrics callbacks inference counterfactuals plotting pictures pipelines"),
        "Write parts": modules("components plugin_tools schedules testing errors solvers"),
        "Packages of plugins": modules("boosting decisions dual_kernel.nystroem kernels large_margin.estimators parsing.estimators "
                                       "parsing.scores parsing.heads parsing.drawing prank", "structperc_"),
    },
    "docs/background": ["/README", "glossary", "performance", "reliability", "decisions", "errata", "papers/*", "reference/bibliography",
                        "/benchmarks/README", "releasing", "/CHANGELOG", "/CONTRIBUTING", "/SECURITY"],
    "benchmarks/README": ["results/*"],
}

# ---- Markdown ----

myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "mathml"

# ---- search ----

# Pages that the search leaves out: they use the field's words, but are for developers.
unsearched = ["benchmarks/*", "docs/decisions", "docs/rooms/*", "docs/errata", "docs/papers/*",
              "docs/releasing", "docs/reference/bibliography", "CHANGELOG", "CONTRIBUTING"]
html_search_scorer = str(Path(__file__).parent / "_extensions/scorer.js")

# ---- reference ----

default_role = "py:obj"                         # `name` in a docstring is code, and a link where the name is public
autodoc_default_options = {"members": True, "undoc-members": False, "member-order": "bysource"}
autodoc_typehints = "none"
autosummary_generate = False
numpydoc_show_class_members = False
add_module_names = False
toc_object_entries_show_parents = "hide"        # the right bar: "fit()", not "SequenceTagger.fit()"
python_use_unqualified_type_names = True
nitpicky = True
nitpick_ignore_regex = [("py:obj", "(?s).*"), ("py:.*", "PluginManager.*")]

# ---- gallery ----

sphinx_gallery_conf = {
    "examples_dirs": "examples/gallery",
    "gallery_dirs": "docs/gallery",
    "filename_pattern": r"\.py$",               # all of them run
    "nested_sections": True,                    # a group of questions for each folder, also in the navigation
    "subsection_order": [f"examples/gallery/{folder}"
                         for folder in ("grades", "sentences", "structures", "networks", "trust", "production")],
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 0,
    "image_srcset": ["2x"],
    "write_computation_times": False,
    "download_all_examples": False,
    "abort_on_example_error": True,
    "backreferences_dir": "docs/gallery/backreferences",        # "Gallery" on the pages of the reference
    "doc_module": ("structperc", "structperc_parsing", "structperc_boosting", "structperc_large_margin"),
}

# ---- looks ----

html_theme = "pydata_sphinx_theme"
html_title = f"structperc {version}"
html_logo = "_static/logo.svg"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
copybutton_exclude = ".linenos, .gp, .go"         # prompts and output of examples are not copied
html_theme_options = {
    "logo": {"text": f"structperc {version}", "alt_text": "structperc: first page"},
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": {"**": ["page-toc"], "docs/index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_depth": 3,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"docs/index": []}
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
