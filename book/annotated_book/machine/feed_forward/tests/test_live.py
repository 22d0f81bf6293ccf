"""The live panel of feed-forward networks: its sentences, and that a switched-off network adds nothing."""

from __future__ import annotations

from annotated_book.pages import page_folder
from book.tests.javascript import evaluate

LIVE = page_folder("feed_forward") / "live.js"


def test_the_networks_are_those_of_the_model() -> None:
    names = evaluate(LIVE, "({ NETWORKS }) => NETWORKS.flatMap(([, networks]) => networks.map(([name]) => name))")
    assert names == [f"{stack}.layers.{layer}.feed_forward" for stack in ("encoder", "decoder") for layer in range(3)]


def test_the_verdict_says_what_changed() -> None:
    said = evaluate(
        LIVE,
        """({ networksVerdict }) => {
          const whole = { text: "Der Hund." }, same = { text: "Der Hund.", ended: true, steps: [] };
          const other = { text: "die die", ended: false, steps: Array(30) };
          const loss = { before: -1, after: -4, change: -3 };
          return [[same, 0], [same, 3], [other, 1]].map(([found, off]) => 
            networksVerdict(whole, found, loss, { off: new Set(Array(off).keys()) }));
        }""",
    )
    assert said[0] == "All networks are on. Log-probability of the translation: −1.00 nats."
    assert said[1].startswith("3 of 6 networks off. The words stay the same. ") and "20 times less probable" in said[1]
    assert "The words change. The changed model did not stop by itself: cut off after 30 tokens." in said[2]
