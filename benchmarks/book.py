"""How heavy the built book is, and how soon it can be used: `python -m benchmarks book`.

For each page: the compressed weight of all it loads with an empty cache, seconds until its text can be read (first
paint), until its controls work (DOM ready) and until its first chart is drawn, how far the page shifted meanwhile, and
the median repaint of a step of each chart's sliders, of which the table shows the slowest.
Needs the built book, the extra `dev`, and Chromium.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import http.server
import json
import shutil
import statistics
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from benchmarks.machine import describe

OBSERVE = """
window.shift = 0;
new PerformanceObserver(list => { for (const e of list.getEntries()) if (!e.hadRecentInput) window.shift += e.value })
  .observe({ type: 'layout-shift', buffered: true });
"""
PAINTED = "performance.getEntriesByName('first-contentful-paint')"
STEPS = """async figure => {
  const found = [];
  for (const input of figure.querySelectorAll('.vega-bindings input[type=range]')) {
    for (let step = 0; step < 5; step++) {
      const old = input.value;
      input[step % 2 ? 'stepDown' : 'stepUp']();
      if (input.value === old) continue;
      const start = performance.now();
      input.dispatchEvent(new Event('input', { bubbles: true }));
      await figure.chart.runAsync();
      await new Promise(requestAnimationFrame);
      found.push(performance.now() - start);
    }
  }
  return found;
}"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def measure(browser: Any, site: str, html: Path, name: str) -> dict[str, Any]:
    """One page, in a browser that has seen nothing."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.add_init_script(OBSERVE)
    page.goto(f"{site}/{name}.html")
    ready = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd") / 1000
    page.wait_for_function(f"{PAINTED}.length > 0")
    text = page.evaluate(f"{PAINTED}[0].startTime") / 1000
    first, repaints = None, {}
    for number, figure in enumerate(page.query_selector_all("figure.chart")):
        figure.scroll_into_view_if_needed()
        page.wait_for_function("e => e.dataset.ready || e.dataset.failed", arg=figure, timeout=60_000)
        first = first or page.evaluate("performance.now()") / 1000
        steps = figure.evaluate(STEPS) if figure.get_attribute("data-ready") else []
        if steps:
            repaints[number] = round(statistics.median(steps), 1)
    page.wait_for_load_state("networkidle")
    files = {html / unquote(urlsplit(url).path).lstrip("/") for url in asked if url.startswith(site)}
    weight = sum(len(gzip.compress(file.read_bytes(), 6)) for file in files if file.is_file())
    result = {
        "kib": round(weight / 1024),
        "requests": len(asked),
        "text_s": round(text, 2),
        "ready_s": round(ready, 2),
        "first_chart_s": first and round(first, 2),
        "shift": round(page.evaluate("window.shift"), 3),
        "charts": len(page.query_selector_all("figure.chart")),
        "step_ms": repaints,
    }
    context.close()
    return result


def main(arguments: Sequence[str]) -> None:
    """Measure every page under a folder of built HTML, print a table, and keep the numbers."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(prog="python -m benchmarks book", description=__doc__)
    parser.add_argument("--html", type=Path, default=Path("_build/html"), help="default %(default)s")
    parser.add_argument("--pages", help="comma-separated names without .html (default: every chapter)")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/recorded/book.json"), help="default %(default)s")
    options = parser.parse_args(arguments)
    skipped = ("_static", "_sources", "source", "reference/api", "index")
    found = sorted(path.relative_to(options.html).with_suffix("").as_posix() for path in options.html.rglob("*.html"))
    names = options.pages.split(",") if options.pages else [name for name in found if not name.startswith(skipped)]
    if not names:
        raise ValueError(f"no pages under {options.html}: run make book first")
    handler = functools.partial(_Quiet, directory=str(options.html))
    results = {}
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        print(f"{'page':42} {'KiB':>5} {'text':>6} {'ready':>6} {'chart':>6} {'shift':>6}  slowest step")
        for name in names:
            r = results[name] = measure(browser, f"http://127.0.0.1:{server.server_port}", options.html, name)
            slowest = f"{max(r['step_ms'].values()):.0f} ms" if r["step_ms"] else "-"
            chart = "-" if r["first_chart_s"] is None else f"{r['first_chart_s']:.2f}"
            seconds = f"{r['text_s']:6.2f} {r['ready_s']:6.2f} {chart:>6}"
            print(f"{name:42} {r['kib']:5} {seconds} {r['shift']:6.3f}  {slowest}", flush=True)
        browser.close()
        server.shutdown()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    record = {"command": "python -m benchmarks book", "machine": describe(), "pages": results}
    options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
