"""How Sphinx builds the documentation; `tools/build_docs.py` runs it."""

from numpydoc.xref import DEFAULT_LINKS

import stepviz
from tools import api_pages

project = "stepviz"
author = "stepviz maintainers"
release = version = stepviz.__version__
html_title = "stepviz"

extensions = [
    "sphinx.ext.autodoc",
    "numpydoc",
    "myst_parser",
]
html_theme = "furo"
html_show_copyright = False
html_copy_source = False

# `name` in a docstring: a link where the reference has it, else code
default_role = "py:obj"
# types are in the sections of the docstrings; defaults as they are written
autodoc_typehints = "none"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 88
# the reference lists members itself, with their docstrings
numpydoc_show_class_members = False
# a type of ours is a link, all else in it are words
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
numpydoc_xref_aliases = {name.rpartition(".")[2]: name for name in api_pages.documented()}
# numpydoc would look for Python's and numpy's in their documentation, which is elsewhere
numpydoc_xref_aliases |= {word: word for word in DEFAULT_LINKS}

# headings of guides can be linked to, as on a code host
myst_heading_anchors = 3
