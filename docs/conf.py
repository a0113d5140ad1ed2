"""Settings of the documentation. Building needs no network."""

import os
import re
import sys
import warnings
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from sklearn.datasets import load_breast_cancer

import skauto

sys.path.append(str(Path(__file__).parent))
from import_figure import draw_imports

project = "skauto"
author = "skauto developers"
copyright = author
version = release = skauto.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "auto_examples/**/*.ipynb", "auto_examples/**/*.py"]
root_doc = "index"
default_role = "literal"
nitpicky = True  # a reference that finds nothing is an error, except to other packages
nitpick_ignore_regex = [(r"py:.*", r"(?!skauto).*")]

html_theme = "pydata_sphinx_theme"
html_title = f"skauto {version}"
html_theme_options = {
    "header_links_before_dropdown": 5,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "show_toc_level": 2,
}
_ALONE = (
    "index", "install", "how_good", "coming_from", "errors", "whats_new", "architecture",
    "auto_examples/plot_tutorial",
)  # fmt: skip
html_sidebars = {page: [] for page in _ALONE}  # pages without a section have no navigation
html_show_sourcelink = False
html_math_renderer = "mathml"  # defined below; MathJax would need the network
html_static_path = ["_static"]
EXTRA = Path(__file__).parent / "_extra"  # the report of the start page, written below
EXTRA.mkdir(exist_ok=True)
html_extra_path = [EXTRA.name]
html_css_files = ["skauto.css"]

autosummary_generate = True
autosummary_imported_members = True  # a package lists what its __all__ names
autosummary_ignore_module_all = False
autodoc_preserve_defaults = True
autodoc_typehints = "none"  # the docstrings carry the types
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False

os.environ["MPLBACKEND"] = "Agg"
warnings.filterwarnings("ignore", message=".*FigureCanvasAgg is non-interactive.*")
sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["auto_examples"],
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"^(quickstart|first_hour)\.py$",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "parallel": True,  # as many processes as sphinx-build has by -j
}


REQUEST = re.compile(r"set_\w+_request")  # scikit-learn writes these methods into our classes


def skip_foreign(app, what, name, member, skip, options):
    """Leave out what scikit-learn defines; its texts refer to its own documentation."""
    function = getattr(member, "fget", None) or member
    ours = (getattr(function, "__module__", None) or "").startswith("skauto")
    return None if ours and not REQUEST.fullmatch(name) else True


def list_components(app, what, name, package, options, lines):
    """List the algorithms of the default space in the documentation of their package."""
    if name == "skauto.space.catalog":
        space = package.get_space("default")
        lines += ["", 'The algorithms of the space ``"default"`` by step:', ""]
        for step in space.steps:
            names = [f"``{component.name}``" for component in space.components(step)]
            lines.append(f"- {step}: {', '.join(names)}")


def write_report(app):
    """Write the report that the start page links to."""
    path = EXTRA / "report.html"
    if path.exists():
        return
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    clf = skauto.AutoClassifier("random", max_evals=8, cv=3, random_state=0)
    clf.fit(X[::2], y[::2]).save_report(path, X=X[1::2], y=y[1::2])


def draw_figure(app):
    """Draw the figure of the page on the architecture."""
    target = Path(__file__).parent / "generated" / "imports.svg"
    target.parent.mkdir(exist_ok=True)
    draw_imports(target)


def write_math(translator, node):
    """Write a formula as MathML, which browsers draw without scripts."""
    if isinstance(node, nodes.math_block):
        formula = convert(node.astext(), display="block")
        translator.body.append(f'<div class="formula">{formula}</div>')
    else:
        translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (write_math, None), (write_math, None))
    app.connect("builder-inited", write_report)
    app.connect("builder-inited", draw_figure)
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("autodoc-process-docstring", list_components)
