#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names of files and functions in comments and documents that do not exist.

    names.py TREE FOREIGN

In the comments of C sources, and between backquotes in Markdown, a word with the ending of a source is a file,
one that begins with a directory of the TREE is a file, a directory or a program made from a source, and a word in
small letters with an underscore is a name of the code. A file must be in the TREE, under the
directories that it is named with; a name must occur in the code, outside comments, or in a script. FOREIGN lists
files and names that are somebody else's or made up, one a line, each with what it is. Prints a line for each
offence, and for each line of FOREIGN that nothing needs.
"""
import os
import re
import sys

DIRECTORIES = ("src", "include", "bench", "tools", "trace", "examples", "test", "scripts", "doc", "m4", "man", "debian", "packaging")
BINARY = (".o", ".lo", ".a", ".la", ".so", ".png", ".svg", ".pdf")
C_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
FILE_NAME = re.compile(r"(?<![\w/.<-])[\w/.-]*\w\.(?:c|h|sh|py|tap|awk|md|am)\b(?!\w)")
PLACE_NAME = re.compile(r"(?<![\w/.<-])(?:" + "|".join(DIRECTORIES) + r")/[\w/.-]*\w")
CODE_NAME = re.compile(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b")
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def files_of(tree):
    """The files of the tree, as names relative to it."""
    yield from (name for name in os.listdir(tree) if os.path.isfile(os.path.join(tree, name)))
    for directory in DIRECTORIES:
        for path, _, names in os.walk(os.path.join(tree, directory)):
            for name in names:
                yield os.path.relpath(os.path.join(path, name), tree)


def read(tree, name):
    """The text of a file; what is no UTF-8 does not matter here."""
    with open(os.path.join(tree, name), encoding="utf-8", errors="replace") as file:
        return file.read()


class Tree:
    """What exists, and where something is named."""

    def __init__(self, tree, foreign_list):
        self.paths = {}  # the last part of a file's name: all files with it
        self.code = set()
        self.mentions = []  # file, line, text
        for name in sorted(files_of(tree)):
            self.paths.setdefault(os.path.basename(name), []).append(name)
            if name.endswith((".c", ".h")):
                self.add_source(name, read(tree, name))
            elif name.endswith(".md"):
                self.add_document(name, read(tree, name))
            elif os.path.basename(name) != os.path.basename(foreign_list) and not name.endswith(BINARY):
                self.code.update(WORD.findall(read(tree, name)))

    def add_source(self, name, text):
        def take(token):
            if not token.group().startswith("/"):
                return token.group()
            first = text.count("\n", 0, token.start()) + 1
            self.mentions += [(name, first + i, line) for i, line in enumerate(token.group().split("\n"))]
            return " "

        self.code.update(WORD.findall(C_TOKEN.sub(take, text)))

    def add_document(self, name, text):
        for number, line in enumerate(text.split("\n"), 1):
            self.mentions += [(name, number, quoted) for quoted in re.findall(r"`([^`]+)`", line)]

    def has_file(self, name):
        """A sentence may begin with the name of a file, in a capital."""
        for spelt in (name, name[:1].lower() + name[1:]):
            for path in self.paths.get(os.path.basename(spelt), ()):
                if path == spelt or path.endswith("/" + spelt):
                    return True
        return False

    def has_place(self, name):
        """Directories, files with or without ending: a program is named as its source without it."""
        files = (path for paths in self.paths.values() for path in paths)
        return any(path == name or path.startswith((name + "/", name + ".")) for path in files)

    def unknown(self):
        """File, line and word of each mention of what does not exist."""
        for name, number, text in self.mentions:
            for found in FILE_NAME.findall(text):
                word = found.lstrip("./")
                if not self.has_file(word):
                    yield name, number, word
            for word in PLACE_NAME.findall(text):
                if not FILE_NAME.fullmatch(word) and not self.has_place(word):
                    yield name, number, word
            for word in CODE_NAME.findall(text):
                if word not in self.code:
                    yield name, number, word


def main(tree, foreign_list):
    with open(foreign_list, encoding="utf-8") as file:
        foreign = {line.split()[0] for line in file if line.strip() and not line.startswith("#")}
    needed = set()
    for name, number, word in Tree(tree, foreign_list).unknown():
        if word in foreign:
            needed.add(word)
        else:
            print(f"{name}:{number}: {word} does not exist")
    for word in sorted(foreign - needed):
        print(f"{foreign_list}: nothing needs {word}")


main(*sys.argv[1:])
