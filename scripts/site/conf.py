# SPDX-License-Identifier: BSD-3-Clause
"""Settings of Sphinx for the site of the documents, which scripts/html.sh makes."""
import os

project = "libmpi-rma"
copyright = "2026, the libmpi-rma authors"  # noqa: A001, the name is Sphinx's
version = release = os.environ["MPIRMA_VERSION"]
extensions = ["myst_parser"]
root_doc = "index"
highlight_language = "none"  # blocks without a language are commands, flows and output
myst_heading_anchors = 4     # links to headings are those that a forge makes
html_theme = "alabaster"
html_theme_options = {"page_width": "75em", "sidebar_width": "15em", "fixed_sidebar": True, "show_powered_by": False,
                      "description": "One-sided communication beneath an application's own MPI"}
html_sidebars = {"**": ["about.html", "navigation.html", "searchbox.html"]}
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_use_index = False
