"""Pages in a headless browser: the part that is quick. `make browser` looks at all pages, closely."""

import os
import shutil
import subprocess
from html import escape

import pytest
from browser.__main__ import BROWSERS
from browser.pages import patients

from structperc.pages import page

BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr", "--dump-dom")
ASK = """<script>
onload = () => {
  const [grades, watch] = [...document.querySelectorAll("iframe")].map((frame) => frame.contentDocument);
  for (let i = 0; i < 3; i++) watch.getElementById("step").click();
  document.body.textContent = `grade: ${grades.querySelector("output").value}; ${watch.getElementById("status").textContent}`;
};
</script>"""


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium or Chrome")
def test_pages_work_in_a_browser(tmp_path):
    patients().export(tmp_path / "grades.html", "html")
    texts = [tmp_path.joinpath("grades.html").read_text(encoding="utf-8"), page("watch.html")]
    path = tmp_path / "both.html"
    path.write_text("<!DOCTYPE html>" + "".join(f'<iframe srcdoc="{escape(text)}"></iframe>' for text in texts) + ASK, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}      # make sanitize loads its library so
    done = subprocess.run([BROWSER, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", path.as_uri()], env=environment,
                          capture_output=True, text=True, timeout=200)
    assert done.returncode == 0 and "CONSOLE" not in done.stderr
    assert "grade: severe; Visit 3: the point (1.59, 0.94). Wrong, at a cost of 3. The prediction was 1, and 4 is right." in done.stdout
