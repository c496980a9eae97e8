"""`make browser` opens every page in headless Chromium, narrow and wide, light and dark, and checks it.

Faults are console errors, network requests, pages wider than the window, and controls that Tab does not reach. Cut code and tables are
faults too, and findings of axe-core, contrast among them. Screenshots and generated pages are in build/browser. The documentation site,
the gallery and the report are checked if you have built them. Without a browser, Node or npm, the command prints what is missing and
exits with 0.
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

from browser.pages import made

ROOT = Path(__file__).parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGES = ("puppeteer-core@24", "axe-core@4.10")
SITE = ("watch.html", "README.html", "docs/*.html", "docs/guide/*.html", "docs/gallery/index.html", "docs/gallery/*/*.html",
        "docs/reference/structperc.html", "docs/reference/structperc.estimators.html", "docs/reference/structperc.estimators/*.html",
        "docs/reference/structperc.components/Loss.html", "docs/reference/structperc.solvers.integer_programs.html")


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="make browser", description=__doc__.split("\n")[0])
    parser.add_argument("--site", type=Path, default=ROOT / "build/docs", help="a folder of pages, default build/docs")
    parser.add_argument("--report", type=Path, default=ROOT / "build/report.html", help="one page, default build/report.html")
    parser.add_argument("--only", help="a part of the names of the pages to look at")
    arguments = parser.parse_args(argv)
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    for found, what in ((browser, "Chromium or Chrome"), (shutil.which("node"), "Node"), (shutil.which("npm"), "npm")):
        if not found:
            print(f"make browser: skipped, since there is no {what}.")
            return 0
    folder = ROOT / "build/browser"
    folder.mkdir(parents=True, exist_ok=True)
    if not install(folder):
        return 1
    pages = [*made(folder), *built(arguments.site, arguments.report)]
    return look(browser, folder, [(name, address, clicked) for name, address, clicked in pages if (arguments.only or "") in name])


def install(folder) -> bool:
    """Installs the packages with npm, unless they are installed. Returns True on success."""
    if all((folder / "node_modules" / package.split("@")[0]).is_dir() for package in PACKAGES):
        return True
    done = subprocess.run(["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error", *PACKAGES])
    return done.returncode == 0


def built(site, report) -> list:
    """The pages of the site and the report, if they are built."""
    found = [("report", report), *((f"site-{'-'.join(path.relative_to(site).with_suffix('').parts)}", path)
                                   for pattern in SITE for path in sorted(site.glob(pattern)))]
    if not site.is_dir():
        print(f"The site is not built, so not looked at ({site}).")
    if not report.exists():
        print(f"The report is not built, so not looked at ({report}).")
    return [(name, path.resolve().as_uri(), ()) for name, path in found if path.exists()]


def look(browser, folder, pages) -> int:
    """Checks the pages and prints a line for each fault. Returns 1 if there is a fault or Node fails, else 0."""
    asked = {"browser": browser, "modules": str(folder), "folder": str(folder), "pages": pages}
    seen = faulty = 0
    command = ["node", str(Path(__file__).with_name("check.cjs"))]
    with subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as node:
        node.stdin.write(json.dumps(asked))
        node.stdin.close()
        for page in map(json.loads, node.stdout):
            seen, faulty = seen + 1, faulty + bool(page["faults"])
            print(f"{page['page']}: {'fine' if not page['faults'] else str(len(page['faults'])) + ' faults'}", flush=True)
            for fault in page["faults"]:
                print(f"    {fault}", flush=True)
    print(f"{seen} of {len(pages)} pages, {faulty} with faults; 390 and 1280 px, light and dark; screenshots in {folder}")
    return int(node.returncode != 0 or seen < len(pages) or faulty > 0)


if __name__ == "__main__":
    sys.exit(main())
