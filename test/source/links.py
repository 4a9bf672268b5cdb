#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Links between the pages of a site that lead nowhere.

    links.py SITE

Prints a line for each link or picture of an HTML file whose file, or place in it, does not exist, and in the end the
number of links that were followed. Links that leave the site are not followed.
"""
import html.parser
import os
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The places in a page, and where its links lead."""

    def __init__(self, path):
        super().__init__()
        self.places, self.links = set(), []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("id", "name"):
                self.places.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def main(site):
    pages = {}
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html"):
                path = os.path.normpath(os.path.join(folder, name))
                pages[path] = Page(path)
    followed = 0
    for path, page in sorted(pages.items()):
        for link in page.links:
            target = urllib.parse.urlsplit(link)
            if target.scheme or target.netloc:
                continue
            followed += 1
            file = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(target.path))) \
                if target.path else path
            place = urllib.parse.unquote(target.fragment)
            if not os.path.exists(file):
                print(f"{os.path.relpath(path, site)}: {link}: there is no such file")
            elif place and file in pages and place not in pages[file].places:
                print(f"{os.path.relpath(path, site)}: {link}: there is no such place")
    print(f"{followed} links")


main(*sys.argv[1:])
