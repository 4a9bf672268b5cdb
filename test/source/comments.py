#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Functions of headers that no comment of their own describes.

    comments.py HEADER...

A function that a header declares or defines has a comment directly above it, which names it: its subject is the
function. A comment above several functions belongs to the first of them. Functions of the compiler (__tsan_acquire)
need not be named, and functions of MPI (PMPI_Put_c) need no comment: the standard describes them. Members of a
struct, macros and typedefs are not looked at. Prints a line for each offence, and one if no function was found at
all.
"""
import re
import sys

TOKEN = re.compile(
    r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | ^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*""",
    re.S | re.M | re.X)
ATTRIBUTE = re.compile(
    r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|\b(?:alignas|_Alignas|_Atomic)\s*\([^()]*\)")
NO_FUNCTION = re.compile(r"\s*(?:typedef|_Static_assert|static_assert)\b")
LINKAGE = re.compile(r'\bextern\s+"_"\s*$')
MPI_FUNCTION = re.compile(r"P?MPI_[A-Z]")
CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")


def split(text):
    """The code, with blanks for comments and directives and nothing in strings, and the comments: line of the end,
    counted from 0, to line of the begin and text. Of a directive that has a comment all is left out."""
    comments = {}

    def take(token):
        found = token.group()
        if found.startswith(("/*", "//")):
            first = text.count("\n", 0, token.start())
            comments[first + found.count("\n")] = (first, found)
        elif not found.lstrip().startswith("#"):
            return found[0] + "_" * (len(found) - 2) + found[-1]
        return re.sub(r"[^\n]", " ", found)

    return TOKEN.sub(take, text), comments


def declarations(code):
    """Line, counted from 0, and text of each declaration at the outermost level; of a definition without its body."""
    piece, first, depth, line = "", 0, 0, 0
    body = False
    for char in code:
        line += char == "\n"
        if char == "{" and depth == 0 and LINKAGE.search(piece):
            piece = ""
        elif char == "{":
            body = body if depth else piece.rstrip().endswith(")")
            depth += 1
        elif char == "}" and depth:
            depth -= 1
            if depth == 0 and body:
                yield first, piece
                piece = ""
        elif char == ";" and depth == 0:
            yield first, piece
            piece = ""
        elif depth == 0 and char != "}" and (piece or not char.isspace()):
            first = first if piece else line
            piece += char


def function_of(piece):
    """The name of the function that a piece declares, or None."""
    found = None if NO_FUNCTION.match(piece) else CALLED.search(ATTRIBUTE.sub(" ", piece))
    if found is None or "=" in piece[:found.start()] or piece.lstrip().startswith("enum") and "{" in piece:
        return None
    return found.group(1)


def offences(name):
    """Line and function of each offence, and None for each function that is in order."""
    with open(name, encoding="utf-8") as file:
        code, comments = split(file.read())
    lines = code.split("\n")
    for first, piece in declarations(code):
        function = function_of(piece)
        if function is None or MPI_FUNCTION.match(function):
            continue
        begin, comment = comments.get(first - 1, (0, ""))
        if not comment or lines[begin].strip():
            yield f"{name}:{first + 1}: {function} has no comment of its own"
        elif not function.startswith("__") and not re.search(rf"\b{function}\b", comment):
            yield f"{name}:{first + 1}: the comment above {function} does not name it"
        else:
            yield None


def main(names):
    found = [offence for name in names for offence in offences(name)]
    for offence in found:
        if offence is not None:
            print(offence)
    if not found:
        print("no function was found")


main(sys.argv[1:])
