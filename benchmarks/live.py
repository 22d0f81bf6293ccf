"""How fast the model in the page translates: `python -m benchmarks live`, and with `--wide` the wide one.

In Chromium, on the laboratory's page of a built book: milliseconds until the first token and until the whole sentence,
with every part on and with each part off, and for a beam search of 4. Medians and the slowest of the test sentences,
each translated once with nothing remembered. Also how long the model takes to load.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import shutil
import statistics
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotated.classroom import classroom_pairs
from annotated.classroom.wide.corpus import wide_pairs
from benchmarks.book import _Quiet
from benchmarks.machine import describe

SETTINGS: dict[str, dict[str, Any]] = {
    "every part on": {},
    "positions off": {"positions": False},
    "√d_model off": {"embedScale": False},
    "causal mask off": {"causal": False},
    "residuals off": {"residual": False},
    "layer norm off": {"norm": False},
    "feed-forward off": {"feedForward": False},
    "divisor d_k": {"divisor": "d_k"},
    "divisor 1": {"divisor": "one"},
    "a head off": {"off": ["cross.2.0"]},
}
TIMES = """async ([texts, set, engineOf]) => {
  const engine = await globalThis[engineOf], switches = { ...set, off: new Set(set.off) }, found = [];
  for (const text of texts) {
    engine.results.clear();
    const begun = performance.now(), steps = engine.write(text, { switches });
    steps.next();
    const first = performance.now() - begun;
    while (!steps.next().done);
    found.push([first, performance.now() - begun]);
    await new Promise(resume => setTimeout(resume));
  }
  return found;
}"""
BEAM = """async ([texts, engineOf]) => {
  const engine = await globalThis[engineOf];
  return texts.map(text => {
    const begun = performance.now(), steps = engine.beam(text);
    while (!steps.next().done);
    return performance.now() - begun;
  });
}"""


def measure(page: Any, texts: list[str], engine: str) -> dict[str, dict[str, float]]:
    """Milliseconds for each setting: medians, and the slowest sentence."""
    page.evaluate(TIMES, [texts[:3], {}, engine])  # the browser compiles what runs often
    rows = {}
    for name, switches in SETTINGS.items():
        found = page.evaluate(TIMES, [texts, switches, engine])
        first, whole = zip(*found, strict=True)
        rows[name] = {
            "first": round(statistics.median(first), 1),
            "first_slowest": round(max(first), 1),
            "whole": round(statistics.median(whole), 1),
            "whole_slowest": round(max(whole), 1),
        }
    beam = page.evaluate(BEAM, [texts, engine])
    rows["beam of 4"] = {"whole": round(statistics.median(beam), 1), "whole_slowest": round(max(beam), 1)}
    return rows


def main(arguments: Sequence[str]) -> None:
    """Measure, print a table, and keep the numbers."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(prog="python -m benchmarks live", description=__doc__)
    parser.add_argument("--html", type=Path, default=Path("_build/html"), help="default %(default)s")
    parser.add_argument("--page", default="start/laboratory", help="a page with a live panel (default: %(default)s)")
    parser.add_argument("--sentences", type=int, default=50, help="default %(default)s")
    parser.add_argument("--wide", action="store_true", help="the wide model, on its own test sentences")
    parser.add_argument("--out", type=Path, help="default benchmarks/recorded/live.json, or wide.json with --wide")
    options = parser.parse_args(arguments)
    script, engine, pairs = (
        ("wide.js", "annotatedWideEngine", wide_pairs)
        if options.wide
        else ("model.js", "annotatedEngine", classroom_pairs)
    )
    out = options.out or Path("benchmarks/recorded", "wide.json" if options.wide else "live.json")
    if not (options.html / f"{options.page}.html").is_file():
        raise ValueError(f"there is no page {options.page} under {options.html}: run make book first")
    texts = [pair.source for pair in pairs("test", options.sentences)]
    handler = functools.partial(_Quiet, directory=str(options.html))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"http://127.0.0.1:{server.server_port}/{options.page}.html")
        page.locator(".live").first.scroll_into_view_if_needed()
        page.wait_for_selector(".live[data-state=done]", timeout=60_000)
        page.wait_for_timeout(3000)  # what the panel measures by itself is over
        if options.wide:
            page.locator(".live input[type=text]").first.fill("Hello, how are you?")
            page.wait_for_selector(".live-model:has-text('Translated by the wide model')", timeout=60_000)
            page.wait_for_timeout(5000)
        entry = f"performance.getEntriesByType('resource').find(e => e.name.endsWith('/{script}')).duration"
        loaded = page.evaluate(entry)
        rows = measure(page, texts, engine)
        browser.close()
        server.shutdown()
    print(f"{script} loaded in {loaded:.0f} ms; milliseconds:")
    print(f"{'':18} {'first token':>12} {'slowest':>8} {'sentence':>9} {'slowest':>8}")
    for name, row in rows.items():
        first, slowest = (f"{row[key]:.1f}" if key in row else "-" for key in ("first", "first_slowest"))
        print(f"{name:18} {first:>12} {slowest:>8} {row['whole']:9.1f} {row['whole_slowest']:8.1f}")
    command = f"python -m benchmarks live --sentences {options.sentences}{' --wide' if options.wide else ''}"
    record = {"command": command, "machine": describe(), "model_ms": round(loaded), "rows": rows}
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
