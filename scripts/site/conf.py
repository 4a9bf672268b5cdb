# SPDX-License-Identifier: BSD-3-Clause
"""Settings of Sphinx for the site of the documents, which scripts/html.sh makes."""
import os
import re

from docutils import nodes

project = "libmpi-rma"
copyright = "2026, the libmpi-rma authors"  # noqa: A001, the name is Sphinx's
version = release = os.environ["MPIRMA_VERSION"]
extensions = ["myst_parser", "sphinx_copybutton"]
root_doc = "index"
highlight_language = "none"  # of blocks that name no language; _set_languages finds commands and C among them
myst_heading_anchors = 4     # links to headings are those that a forge makes
html_theme = "furo"
html_title = f"libmpi-rma {version}"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5f99", "color-brand-content": "#1f5f99", "color-code-background": "#f5f7f9"},
    "dark_css_variables": {"color-brand-primary": "#7db4e8", "color-brand-content": "#7db4e8", "color-code-background": "#1b1f24"},
}
pygments_style = "xcode"
pygments_dark_style = "github-dark"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_use_index = False
html_copy_source = False
copybutton_selector = ".highlight-sh pre, .highlight-c pre, .highlight-python pre"
copybutton_only_copy_prompt_lines = False

COMMAND = re.compile(r"(\S+=\S+ )*(mpi(exec|cc|fort|run)\b|mpi-rma-|sh |sudo |git |make\b|cd |\./|gdb |valgrind |scorep|python3? |pip |"
                     r"export |test/|bench/|apt|BUILD_SUFFIX|\.ci/|clang|afl|fi_info|coredumpctl|ulimit |gfortran |vite |cmake )")
C_CODE = re.compile(r"^\s*(#include|MPI_\w+\(.*;$|MPIRMA_\w+\(.*;$|(int|double|void|MPI_Win) .*[;{]$)", re.M)


def _set_languages(app, document):
    """Highlights commands and C in the blocks that name no language, which are commands, flows and output."""
    for block in document.findall(nodes.literal_block):
        if block.get("language", "none") in ("none", "default"):
            text = block.astext()
            block["language"] = "sh" if COMMAND.match(text) else "c" if C_CODE.search(text) else "none"
            block["force"] = True


def _pair_pictures(app, document):
    """Of two pictures NAME-light and NAME-dark a page shows the one that suits its colours."""
    for image in document.findall(nodes.image):
        pair = re.search(r"-(light|dark)\.\w+$", image["uri"])
        if pair:
            image["classes"].append(f"only-{pair.group(1)}")


def _mark_prose(app, document):
    """Marks the cells of tables that hold sentences, which are kept wide enough to be read, and short ones, which stay on a line."""
    for cell in document.findall(nodes.entry):
        length = len(cell.astext())
        if length > 60:
            cell["classes"].append("prose")
        elif length <= 24:
            cell["classes"].append("short")


def setup(app):
    """Tells Sphinx what is done to each document that it has read."""
    app.connect("doctree-read", _set_languages)
    app.connect("doctree-read", _pair_pictures)
    app.connect("doctree-read", _mark_prose)
