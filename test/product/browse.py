#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a reader sees of a site: each page in headless Chromium, at the widths of a screen, a tablet and a phone, light and dark.

    browse.py [--pictures DIR] SITE [PAGE...]

Prints a line for each thing that is wrong, and in the end the number of views: a page at a width in a colour scheme. Wrong are
a page that scrolls sideways, code that is cut, a picture that does not load or is not one of its pair, text that has too little
contrast, and whatever the browser writes to its console. With --pictures each view is kept as DIR/PAGE-WIDTH-SCHEME.png.

One browser draws all views. It is spoken to over its pipe for developer tools: messages of JSON, each ended by a zero byte.
"""
import argparse
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

WIDTHS = (1280, 800, 400)
SCHEMES = ("light", "dark")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PAGE_LIMIT = 60  # seconds for a page to be drawn

# Returns what is wrong with the page that is shown. The place of an element is its text's begin.
LOOK = r"""
(async () => {
    const wrong = [], root = document.documentElement;
    const place = element => (element.textContent || element.alt || element.tagName).trim().replace(/\s+/g, ' ').slice(0, 60);
    const shown = element => element.getClientRects().length > 0 && getComputedStyle(element).visibility !== 'hidden';
    await document.fonts.ready;
    for (const image of document.images) {
        image.loading = 'eager';
        try { await image.decode(); } catch (error) { wrong.push('picture does not load: ' + image.getAttribute('src')); }
    }
    if (root.scrollWidth > root.clientWidth || document.body.scrollWidth > root.clientWidth)
        wrong.push(`the page scrolls sideways: ${Math.max(root.scrollWidth, document.body.scrollWidth)} of ${root.clientWidth} pixels`);
    // What reaches out of the window must stand in a box that scrolls.
    const scrolls = element => ['auto', 'scroll'].includes(getComputedStyle(element).overflowX);
    const boxed = element => { for (let e = element; e && e !== document.body; e = e.parentElement) if (scrolls(e)) return true; return false; };
    const article = document.querySelector('article') || document.body;
    for (const element of article.querySelectorAll('pre, code, table, img, svg, p, li, dt, h1, h2, h3, h4')) {
        if (!shown(element) || boxed(element)) continue;
        const box = element.getBoundingClientRect();
        if (box.right > root.clientWidth + 1 || element.scrollWidth > element.clientWidth + 1 && element.tagName === 'PRE')
            wrong.push(`cut at the right: ${element.tagName.toLowerCase()} "${place(element)}"`);
    }
    for (const code of article.querySelectorAll('pre')) {
        for (let e = code; e && e !== article; e = e.parentElement)
            if (!scrolls(e) && getComputedStyle(e).overflowX !== 'visible' && e.scrollWidth > e.clientWidth + 1)
                wrong.push(`code is cut: "${place(code)}"`);
    }
    // Of two pictures for light and dark pages one is shown, and the right one.
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    for (const image of article.querySelectorAll('img')) {
        const pair = /-(light|dark)\.\w+$/.exec(image.getAttribute('src'));
        if (pair && shown(image) !== ((pair[1] === 'dark') === dark))
            wrong.push('of a pair the wrong picture is shown: ' + image.getAttribute('src'));
    }
    // Contrast of text with the ground that it stands on, as WCAG reckons it.
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    const rgba = colour => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); return canvas.getImageData(0, 0, 1, 1).data; };
    const light = c => [0.2126, 0.7152, 0.0722].reduce((sum, part, i) => {
        const v = c[i] / 255;
        return sum + part * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    }, 0);
    const ground = element => {
        for (let e = element; e; e = e.parentElement) {
            const colour = rgba(getComputedStyle(e).backgroundColor);
            if (colour[3] > 250) return colour;
        }
        return [255, 255, 255, 255];
    };
    const poor = new Map();
    for (const element of article.querySelectorAll('p, li, td, th, code, pre span, a, h1, h2, h3, dt, dd')) {
        const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
        if (!own || !shown(element) || element.classList.contains('headerlink')) continue;
        const style = getComputedStyle(element), a = light(rgba(style.color)), b = light(ground(element));
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (contrast < 4 && !poor.has(style.color))
            poor.set(style.color, `too little contrast, ${contrast.toFixed(1)}: "${place(element)}"`);
    }
    wrong.push(...poor.values());
    return [...new Set(wrong)];
})()
"""


class Browser:
    """A headless Chromium, and the one page that it shows."""

    def __init__(self, program: str, profile: str):
        mine, its_out = os.pipe()
        its_in, out = os.pipe()

        def pipes():
            os.dup2(its_in, 103)
            os.dup2(its_out, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--user-data-dir={profile}", "--no-first-run", "about:blank"],
            preexec_fn=pipes, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(its_in)
        os.close(its_out)
        self.to, self.answers = os.fdopen(out, "wb"), os.fdopen(mine, "rb")
        self.number, self.rest, self.events, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def _message(self) -> dict:
        while b"\0" not in self.rest:
            part = os.read(self.answers.fileno(), 1 << 20)
            if not part:
                raise SystemExit("browse.py: the browser has ended")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method: str, **parameters) -> dict:
        """Calls a method and returns its result; events that come before it are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.to.write(json.dumps(message).encode() + b"\0")
        self.to.flush()
        while True:
            answer = self._message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"browse.py: {method}: {answer['error'].get('message')}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method: str) -> None:
        """Waits for an event, which may have come already."""
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self._message())

    def open(self, address: str) -> None:
        """Shows a page as a screen does."""
        self.events.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=WIDTHS[0], height=900, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=address)
        self.wait("Page.loadEventFired")

    def view(self, width: int, scheme: str) -> list:
        """Shows the page that is open at a width and in a colour scheme, and returns what is wrong with it."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        result = self.call("Runtime.evaluate", expression=LOOK, awaitPromise=True, returnByValue=True, timeout=PAGE_LIMIT * 1000)
        if "exceptionDetails" in result:
            return [f"the look at the page failed: {result['exceptionDetails']}"]
        lines = result["result"]["value"] + list(self._console())
        self.events.clear()
        return lines

    def _console(self):
        for event in self.events:
            parameters = event.get("params", {})
            if event.get("method") == "Log.entryAdded":
                yield f"the console has: {parameters['entry']['text']} {parameters['entry'].get('url', '')}"
            elif event.get("method") == "Runtime.consoleAPICalled":
                yield "the console has: " + " ".join(str(one.get("value", one.get("description"))) for one in parameters["args"])
            elif event.get("method") == "Runtime.exceptionThrown":
                yield f"a script failed: {parameters['exceptionDetails'].get('exception', {}).get('description')}"

    def picture(self, path: str) -> None:
        """Keeps what is shown, the whole page if it is not very long."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 4000), "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self) -> None:
        """Ends the browser."""
        self.to.close()
        self.process.terminate()
        self.process.wait()


def pages_of(site: str) -> list:
    """Returns the pages of a site, by their paths in it."""
    return sorted(os.path.relpath(os.path.join(folder, name), site) for folder, _, names in os.walk(site)
                  for name in names if name.endswith(".html"))


def main() -> int:
    """Looks at all views, and returns 1 if anything is wrong with one."""
    parser = argparse.ArgumentParser(prog="browse.py", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--pictures", metavar="DIR", help="keep a picture of each view there")
    parser.add_argument("site")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="only these pages, by their paths in the site")
    args = parser.parse_args()
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not program:
        parser.error("there is no Chromium")
    site = os.path.realpath(args.site)
    if args.pictures:
        os.makedirs(args.pictures, exist_ok=True)
    views, failed = 0, 0
    with tempfile.TemporaryDirectory(prefix="mpi-rma-browser.", ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        for page in args.pages or pages_of(site):
            address = "file://" + urllib.request.pathname2url(os.path.join(site, page))
            browser.open(address)
            for width in WIDTHS:
                for scheme in SCHEMES:
                    views += 1
                    for line in browser.view(width, scheme):
                        failed += 1
                        print(f"{page}, {width} pixels, {scheme}: {line}")
                    if args.pictures:
                        name = urllib.parse.quote(page.removesuffix(".html"), safe="").replace("%2F", "-")
                        browser.picture(os.path.join(args.pictures, f"{name}-{width}-{scheme}.png"))
        browser.close()
    print(f"{views} views")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
