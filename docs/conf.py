"""How Sphinx builds the documentation; `tools/build_docs.py` runs it."""

import stepviz

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

# headings of guides can be linked to, as on a code host
myst_heading_anchors = 3
