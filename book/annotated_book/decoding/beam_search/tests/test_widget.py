"""The beam tree: its data, and its search, which is the library's. Its page is tested with the chapter."""

from __future__ import annotations

import zlib

import pytest
import torch

import annotated
from annotated.decoding import beam_search, greedy_decode
from annotated_book import recorded
from annotated_book.decoding.beam_search.playback import Playback
from annotated_book.decoding.beam_search.search_record import unpack
from annotated_book.decoding.beam_search.search_tree import record_search
from annotated_book.decoding.beam_search.widget import beam_tree
from annotated_book.pages import page_folder
from book.tests.javascript import evaluate

FOLDER = page_folder("beam_search")
SETTINGS = [(1, 0.6, 1), (2, 0.0, 2), (4, 0.6, 4), (5, 1.3, 1), (8, 2.0, 8)]
UNPACK = """const bytes = Uint8Array.from(atob(data), c => c.charCodeAt(0));
  const { inflate } = await import(`${folder}/../../viz/drawing.js`);
  const { pathOf, search, unpack } = await import(`${folder}/search.js`);
  const records = unpack(await inflate(new DataView(bytes.buffer)));"""
SEARCHES = f"""async (_, {{ data, jobs, folder }}) => {{
  {UNPACK}
  return jobs.map(([sentence, k, alpha, places, cap]) => {{
    const one = records[sentence], found = search(one, k, alpha, places, cap);
    return {{ stopped: found.stopped, returned: found.returned.map(node => pathOf(one, node.at)),
      nodes: found.nodes.map(n => [n.step, n.token, n.fate, n.lp, n.score]) }};
  }});
}}"""
TREES = f"""async ({{ compare, layout, neighbour, nodesOf }}, {{ data, sentences, states, folder }}) => {{
  {UNPACK}
  return sentences.flatMap((cap, i) => states.map(state => {{
    const about = compare(records[i], cap, state), {{ shown, lines }} = nodesOf(about, state);
    const at = layout(shown, token => `${{token}}`, state.bound), nodes = [...shown.values()];
    const firsts = nodes.filter(n => n.kids.length)
      .map(n => [n.row, n.kids[0].row, neighbour(shown, n, "ArrowRight").at === n.kids[0].at]);
    return {{ places: nodes.map(n => [n.step, n.row]), firsts, winner: lines.winner.map(node => node.token),
      inside: nodes.every(n => at.place(n)[1] < at.height && at.place(n)[0] < at.width),
      best: about.best.tokens, greedy: about.others.greedy.tokens, reference: about.others.reference.tokens,
      forced: about.others.forced?.tokens ?? null }};
  }}));
}}"""

CROSSINGS = f"""async ({{ compare, layout, nodesOf, turn }}, {{ data, caps, states, folder }}) => {{
  {UNPACK}
  const {{ wording }} = await import(`${{folder}}/sentences.js`);
  const {{ label }} = wording({{}}), long = (token, step) => label(token, step) + "x".repeat(token % 9);
  const crossed = [];
  for (const [i, cap] of caps.entries()) for (const state of states) {{
    const about = compare(records[i], cap, state), {{ shown, lines }} = nodesOf(about, state);
    const at = layout(shown, long, state.bound, state.room), nodes = [...shown.values()].filter(n => n.step);
    const boxes = nodes.map(n => {{
      const [left, y] = at.place(n);
      return [left - 5, y - 20, left - 5 + at.wide(n), y - 7];
    }});
    const paths = [...nodes.map(n => turn(n, at, 0, false)),
      ...Object.values(lines).flatMap((line, k) => line.map(n => turn(n, at, 3 * (k - 1))))];
    const narrow = state.room < 620, most = narrow ? state.room : state.room / 0.84;
    if (at.width > most || (narrow && at.band.at(-1) < 1)) crossed.push([i, `${{at.width}} wide`]);
    for (const path of paths) {{
      let x, y;
      for (const [, command, numbers] of path.matchAll(/([MHV])([-\\d. ]+)/g)) {{
        const [a, b] = numbers.trim().split(" ").map(Number), to = {{ M: [a, b], H: [a, y], V: [x, a] }}[command];
        if (command !== "M" && boxes.some(([l, t, r, u]) => Math.max(x, to[0]) > l && Math.min(x, to[0]) < r
          && Math.max(y, to[1]) > t && Math.min(y, to[1]) < u)) crossed.push([i, path]);
        [x, y] = to;
      }}
    }}
    if (!paths.length) crossed.push([i, "no lines"]);
  }}
  return crossed;
}}"""


def test_no_line_of_the_tree_crosses_a_label() -> None:
    results = recorded("beam_search/tree").results
    plain = {"beam": 4, "alpha": 0.6, "all": True, "greedy": True, "reference": True, "force": -1, "graveyard": True}
    states = [{**plain, "bound": bound, "room": room} for bound in (False, True) for room in (1000, 320)]
    caps = [len(s["source"]) + results["extra_tokens"] for s in results["sentences"][:6]]
    given = {"data": results["searches"], "caps": caps, "states": states, "folder": FOLDER.as_uri()}
    assert evaluate(FOLDER / "tree.js", CROSSINGS, given) == []


def test_the_widget_holds_thirty_searches_in_little_room() -> None:
    results, tokenizer = recorded("beam_search/tree").results, annotated.load("classroom").tokenizer
    widget = beam_tree(results, tokenizer, sentence=3, beam=2)
    assert len(widget.sentences) == 30 and widget.sentence == 3 and widget.beam == 2
    assert len(widget.searches) < 150_000 and len(widget._esm) < 38_000
    records = unpack(results["searches"])
    assert len(zlib.decompress(widget.searches)) == sum(4 + len(r.to_bytes()) for r in records) + 4
    for record, about in zip(records, results["sentences"], strict=True):
        assert tokenizer.decode(record.reference[:-1]) == about["reference"]
        assert all(str(t) in widget.tokens for t in record.tree.tokens[1:] if t != 2)
    for options in ({"sentence": 30}, {"beam": 9}, {"alpha": 2.5}):
        with pytest.raises(ValueError, match="there are|recorded"):
            beam_tree(results, tokenizer, **options)


def test_the_search_in_the_page_is_the_search_of_the_library() -> None:
    results = recorded("beam_search/tree").results
    sources, extra = [s["source"] for s in results["sentences"]], results["extra_tokens"]
    trees = [record.tree for record in unpack(results["searches"])]
    model = Playback(list(zip(sources, trees, strict=True)), results["vocab_size"])
    jobs = [(n, *setting, len(source) + extra) for n, source in enumerate(sources) for setting in SETTINGS]
    given = {"data": results["searches"], "jobs": jobs, "folder": FOLDER.as_uri()}
    found = evaluate(FOLDER / "search.js", SEARCHES, given)
    assert len(found) == 30 * len(SETTINGS)
    for (number, k, alpha, places, _), own in zip(jobs, found, strict=True):
        source = torch.tensor(sources[number])
        tree = record_search(model, source, k, alpha, num_return=places, extra_tokens=extra)
        assert own["stopped"] == tree.stopped_by
        assert own["returned"] == [h.tokens + [2] * h.finished for h in tree.hypotheses]
        assert [node[:3] for node in own["nodes"]] == [[n.step, n.token, n.fate] for n in tree.nodes]
        for node, n in zip(own["nodes"], tree.nodes, strict=True):
            assert abs(node[3] - n.log_probability) < 1e-6 + 1e-7 * abs(node[3]) and abs(node[4] - n.score) < 2e-6


def test_the_tree_shows_the_winner_greedy_and_the_reference() -> None:
    """Its layout: a best child stands in its mother's row, no two nodes in one place, and everything in the picture."""
    results = recorded("beam_search/tree").results
    sources, extra = [s["source"] for s in results["sentences"]][:8], results["extra_tokens"]
    records = unpack(results["searches"])[:8]
    model = Playback(list(zip(sources, [r.tree for r in records], strict=True)), results["vocab_size"])
    plain = {"beam": 4, "alpha": 0.6, "all": True, "greedy": True, "reference": True, "force": -1, "bound": False}
    states = [{**plain, "graveyard": False}, {**plain, "graveyard": True, "bound": True, "force": 1, "beam": 2}]
    caps = [len(source) + extra for source in sources]
    given = {"data": results["searches"], "sentences": caps, "states": states, "folder": FOLDER.as_uri()}
    found = evaluate(FOLDER / "tree.js", TREES, given)
    for i, (source, record) in enumerate(zip(sources, records, strict=True)):
        (greedy,) = greedy_decode(model, torch.tensor([source]))
        for state, own in zip(states, found[2 * i : 2 * i + 2], strict=True):
            ((best, *_),) = beam_search(model, torch.tensor([source]), state["beam"], 0.6)
            assert own["best"] == [*best.tokens, 2] == own["winner"]
            assert own["greedy"] == [*greedy.tokens, 2] and own["reference"] == record.reference
            assert (own["forced"] is None) == (state["force"] < 0)
            assert own["forced"] is None or own["forced"][0] == record.tree.tokens[1]
            assert len({tuple(place) for place in own["places"]}) == len(own["places"]) and own["inside"]
            assert all(mother == child and leads for mother, child, leads in own["firsts"])
