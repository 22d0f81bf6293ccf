"""The page's server in JavaScript refuses and accepts what the page's server in Python does, in the same words."""

from __future__ import annotations

import io
import json
import re
import types
from pathlib import Path
from typing import Any

import pytest
import tokenizers

import annotated
from annotated_book.pages import page_file, page_folder
from book.tests.javascript import PACKAGE, evaluate

REQUEST, LIVE = page_folder("serving") / "request.js", page_folder("serving") / "live.js"
CLASSROOM = Path(annotated.__file__).parent / "assets" / "classroom" / "tokenizer.json"
TOKENIZER = PACKAGE / "viz" / "engine" / "tokenizer.js"
CHECK = """async ({ check, bytesOfText, dumps }, { cases, tokenizer, file }) => {
  const { Tokenizer } = await import(file), made = new Tokenizer(tokenizer);
  return cases.map(([header, body]) => {
    const bytes = typeof body === "string" ? bytesOfText(body) : new Uint8Array(body);
    const found = check(header, bytes, text => made.encode(text).length);
    return found.waits ? "waits" : found.error ?? found.texts;
  });
}"""
BODIES: list[Any] = [
    '{"texts": ["The small dog sees the cat.", "", "  padded\\u2003 "]}',
    '{"texts": []}',
    '{"text": ["a"]}',
    '{"texts": "a"}',
    '{"texts": ["a", 1]}',
    '{"texts": null}',
    '{"texts": {"0": "a"}}',
    '["texts"]',
    '"texts"',
    "null",
    "",
    "   ",
    "{'texts': ['a']}",
    '{"texts": ["a"],}',
    '{"texts": ["a"], "rate": NaN, "most": -Infinity}',
    '{"texts": ["a", NaN]}',
    '{"texts": ["a"], "rate": 1NaN}',
    '{"texts": ["NaN Infinity 12"]}',
    '{"texts": ["\\ud83d"]}',
    '{"texts": ["\\ud83d\\ude00"]}',
    '{"texts": ["1", "\\udc00 " ], "texts": ["the last of two"]}',
    '{"__proto__": {"texts": ["a"]}}',
    '{"texts": ["a\tb"]}',
    '{"texts": ["a\\tb"], "n": 1e999}',
    '\ufeff{"texts": ["a"]}',
    '{"texts": ["' + "cat " * 1000 + '"]}',
    '{"texts": ["yes", "' + "cat " * 900 + '", "' + "cat " * 2000 + '"]}',
    '{"texts": ["a"], "n": ' + "1" * 4300 + "}",
    '{"texts": ["a"], "n": ' + "1" * 4301 + "}",
    '{"texts": ["a"], "n": ' + "1" * 4301 + ".5}",
    '{"texts": ["äöü 🍎 \\u0085x\\u0085 \\ufeff"]}',
    [0x7B, 0xFF, 0x7D],
    [*b'{"texts": ["', 0xC3, *b'"]}'],
]
HEADERS = ["", "0", "20", "-1", "+5", "1e3", "１２", "000000031", "0000000031", "1000001", "1 2", "0x10"]


@pytest.fixture(scope="module")
def texts_of(repository: Path) -> Any:
    """`checked.py` as the page writes it."""
    page = page_file("reference/serving").read_text(encoding="utf-8")
    code = re.search(r"%%writefile \{folder\}/checked\.py\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert code
    module = types.ModuleType("checked")
    exec(compile(code[1], "checked.py", "exec"), module.__dict__)
    return module


@pytest.fixture(scope="module")
def page_tokenizer(data: dict[str, Any]) -> dict[str, Any]:
    return data["tokenizer"]


def in_page(cases: list[Any], tokenizer: dict[str, Any]) -> list[Any]:
    return evaluate(REQUEST, CHECK, {"cases": cases, "tokenizer": tokenizer, "file": TOKENIZER.as_uri()})


def in_python(checked: Any, header: str, body: bytes, tokenizer: Any) -> Any:
    try:
        return checked.texts_of({"Content-Length": header}, io.BytesIO(body), tokenizer)
    except ValueError as error:
        return str(error)


def as_bytes(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else bytes(body)


def test_every_content_is_judged_as_in_python(texts_of: Any, page_tokenizer: Any) -> None:
    tokenizer = tokenizers.Tokenizer.from_file(str(CLASSROOM))
    cases = [[str(len(as_bytes(body))), body] for body in BODIES]
    expected = [in_python(texts_of, header, as_bytes(body), tokenizer) for header, body in cases]
    found = in_page(cases, page_tokenizer)
    for (_, body), wanted, got in zip(cases, expected, found, strict=True):
        assert got == wanted, str(body)[:80]
    refused = {str(one)[:20] for one in expected if isinstance(one, str)}
    assert len(refused) >= 4 and sum(isinstance(one, list) for one in expected) >= 8, "all ways out are among the cases"


def test_every_header_is_judged_as_in_python(texts_of: Any, page_tokenizer: Any) -> None:
    """Where Python's stream of bytes would end, a socket waits: that the page says by itself."""
    tokenizer = tokenizers.Tokenizer.from_file(str(CLASSROOM))
    body = '{"texts": ["The cat sleeps."]}  '
    cases = [[header, body] for header in HEADERS]
    found = in_page(cases, page_tokenizer)
    for header, got in zip(HEADERS, found, strict=True):
        assert got == in_python(texts_of, header, body.encode(), tokenizer), header
    assert in_page([[str(len(body)), body], [str(len(body) + 1), body]], page_tokenizer) == [
        ["The cat sleeps."],
        "waits",
    ]


def test_limits_are_those_of_the_page(texts_of: Any) -> None:
    found = evaluate(REQUEST, "({ LONGEST_BODY, MOST_TOKENS }) => [LONGEST_BODY, MOST_TOKENS]")
    assert found == [texts_of.LONGEST_BODY, texts_of.MOST_TOKENS]


def test_the_reply_is_written_as_python_writes_json() -> None:
    answers = [
        {"translations": ['Der "Hund"\n\\ sieht ', "", "Äpfel 🍎\x7f\x1f"]},
        {"translations": []},
        {"error": 'no {"texts": [...]}'},
    ]
    assert evaluate(REQUEST, "({ dumps }, all) => all.map(dumps)", answers) == [
        json.dumps(answer, ensure_ascii=False) for answer in answers
    ]
    reply = evaluate(REQUEST, "({ replyText }) => replyText({ translations: ['Äpfel'] })")
    head, _, content = reply.partition("\n\n")
    assert head.splitlines() == [
        "HTTP/1.0 200 OK",
        "Content-Type: application/json",
        f"Content-Length: {len(content.encode())}",
    ]


def test_white_space_is_pythons() -> None:
    text = "".join(
        map(chr, [*range(33), 0x7F, 0x85, 0xA0, 0x1680, *range(0x2000, 0x2010), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000])
    )
    cases = [f"{one}a{one}b{one}" for one in [*text, "\ufeff", "\u200b"]]
    assert evaluate(REQUEST, "({ strip }, all) => all.map(strip)", cases) == [case.strip() for case in cases]


def test_each_request_of_the_menu_ends_as_its_name_says(page_tokenizer: Any) -> None:
    examples = evaluate(LIVE, "({ EXAMPLES }) => EXAMPLES")
    cases = [[one[2] if len(one) > 2 else str(len(one[1].encode())), one[1]] for one in examples]
    ends = dict(zip([one[0] for one in examples], in_page(cases, page_tokenizer), strict=True))
    assert ends.pop("two sentences and an empty text") == [
        "The small dog sees the cat.",
        "",
        "The grandmother sells apples.",
    ]
    assert ends.pop("a length that is too large") == "waits"
    assert (
        "half of a surrogate" in ends["half of a surrogate pair"]
        and "more than 900" in ends["a sentence that is too long"]
    )
    assert "not JSON" in ends["a length that is too small"] and "whole number" in ends["two megabytes announced"]
    assert all(isinstance(end, str) for end in ends.values()), "every other one is refused"


def test_the_list_of_checks_says_where_a_request_fails() -> None:
    say = "({ stateOf }, found) => stateOf(found, '30', 30).map(([state]) => state)"
    assert evaluate(LIVE, say, {"step": 2, "error": "x"}) == ["passed", "passed", "failed", "open", "open"]
    assert evaluate(LIVE, say, {"step": 1, "waits": 7}) == ["passed", "waits", "open", "open", "open"]
    assert evaluate(LIVE, say, {"texts": ["a"], "lengths": [1]}) == ["passed"] * 5
