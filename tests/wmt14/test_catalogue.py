"""Catalogues: which archives, which files in them, and how their text is read."""

from __future__ import annotations

import json
import re

import pytest
from sacrebleu.dataset import DATASETS
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from annotated.data.corpora import CorpusError
from annotated.wmt14.catalogue import Catalogue, CatalogueError, catalogue
from annotated.wmt14.sgm import Segment, read_parallel, read_sgm

ALL = [("wmt14", "en-de"), ("wmt14", "en-fr"), ("multi30k", "en-de")]


@pytest.mark.parametrize(("name", "pair"), ALL)
def test_every_archive_has_a_hash_and_an_address_and_a_name_of_its_own(name, pair):
    archives = catalogue(name, pair).archives()
    every = [variant for archive in archives for variant in archive.variants]
    assert all(variant.is_pinned and variant.urls for variant in every)
    assert all(re.fullmatch("[0-9a-f]{64}", variant.sha256) for variant in every if variant.sha256)
    assert all(variant.urls[0].endswith(f"/{variant.name}") for variant in every)
    assert len({variant.name for variant in every}) == len(every)
    assert len({variant.sha256 or variant.md5 for variant in every}) == len(every)


def test_the_downloads_of_wmt14_add_up_to_what_is_published():
    sizes = {pair: sum(file.size or 0 for file in catalogue("wmt14", pair).archives()) for pair in ("en-de", "en-fr")}
    # The Hugging Face library gives 1.70 and 6.66 GB, without the two archives of the test sets (of unknown size).
    assert round(sizes["en-de"] / 1e9, 2) == 1.70 and round(sizes["en-fr"] / 1e9, 2) == 6.66


@pytest.mark.parametrize("pair", ["en-de", "en-fr"])
def test_the_test_sets_are_those_of_sacrebleu(pair):
    known = catalogue("wmt14", pair)
    assert [part.sacrebleu for part in (known.test, *known.further_tests)] == ["wmt14/full", "wmt14"]
    for part in (known.test, *known.further_tests):
        theirs = DATASETS[part.sacrebleu]
        assert part.archive.urls == tuple(theirs.data) and [part.archive.md5] == list(theirs.md5)
        assert [part.source_member, part.target_member] == list(theirs.langpairs[pair])


def test_the_source_is_english_everywhere_and_all_parts_are_there():
    german, french = catalogue("wmt14", "en-de"), catalogue("wmt14", "en-fr")
    assert [part.name for part in german.train] == ["europarl-v7", "commoncrawl", "news-commentary-v9"]
    assert [part.name for part in french.train[3:]] == ["undoc-2000", "giga-fren"]
    for known, other in ((german, "de"), (french, "fr")):
        for part in known.parts():
            assert re.search(r"\.en(\.sgm|\.gz)?$", part.source_member)
            assert re.search(rf"\.{other}(\.sgm|\.gz)?$", part.target_member)
    assert (german.vocab_size, french.vocab_size) == (37_000, 32_000)
    assert german.members(german.train[0].archive) == ("training/europarl-v7.de-en.en", "training/europarl-v7.de-en.de")


@pytest.mark.parametrize(("name", "pair"), ALL)
def test_a_catalogue_survives_json(tmp_path, name, pair):
    known = catalogue(name, pair)
    assert Catalogue.from_dict(json.loads(json.dumps(known.to_dict()))) == known
    known.write(tmp_path / "c.json")
    assert Catalogue.read(tmp_path / "c.json") == known


def test_unknown_corpora_and_files_that_describe_none_are_refused(tmp_path):
    with pytest.raises(CatalogueError, match="no catalogue of 'wmt14' for 'de-en'; there are: wmt14 en-de"):
        catalogue("wmt14", "de-en")
    with pytest.raises(CatalogueError, match="nowhere.json: No such file"):
        Catalogue.read(tmp_path / "nowhere.json")
    sound = catalogue("wmt14").to_dict()
    for wrong, message in [
        ([], "c.json"),
        ({}, "valid|train|missing"),
        (sound | {"train": []}, "something to train on"),
        (sound | {"pair": "german"}, "two languages"),
        (sound | {"colour": "red"}, "colour"),
        (sound | {"valid": sound["valid"] | {"format": "pdf"}}, "format 'pdf' is none of plain, sgm, gzip"),
        (sound | {"valid": sound["valid"] | {"archive": {"name": "../dev.tgz"}}}, "'../dev.tgz' is not a plain file"),
    ]:
        (tmp_path / "c.json").write_text(json.dumps(wrong))
        with pytest.raises(CatalogueError, match=message):
            Catalogue.read(tmp_path / "c.json")


# -- text of the files --

SOURCE = """<srcset setid="newstest2014" srclang="any">
<doc sysid="ref" docid="12-bbc.com" genre="news" origlang="en">
<hl>
<seg id="1">Smith &amp; Sons: 1 &lt; 2 &#39;so&#x27; they said &amp;amp; AT&T &copy; &copy</seg>
</hl>
<p>
<SEG  id='2' > Over
two lines.  </SEG><seg id="3"></seg>
</p>
</doc>
<doc docid="13-zeit.de"><seg id="1">Again one.</seg></doc>
</srcset>
"""


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_segments_come_in_the_order_of_the_file_and_mean_what_they_say(tmp_path):
    assert read_sgm(written(tmp_path / "src.sgm", SOURCE)) == [
        Segment("12-bbc.com", "1", "Smith & Sons: 1 < 2 'so' they said &amp; AT&T &copy; &copy"),
        Segment("12-bbc.com", "2", "Over two lines."),
        Segment("12-bbc.com", "3", ""),
        Segment("13-zeit.de", "1", "Again one."),
    ]


def test_bleu_does_not_see_whether_entities_were_decoded(tmp_path):
    raw = "Smith &amp; Sons &lt;1&gt; say &quot;no&quot;."
    decoded = read_sgm(written(tmp_path / "a.sgm", f'<seg id="1">{raw}</seg>'))[0].text
    assert decoded == 'Smith & Sons <1> say "no".'
    assert Tokenizer13a()(raw) == Tokenizer13a()(decoded)


def test_sides_of_a_test_set_that_do_not_belong_together_are_refused(tmp_path):
    source = written(tmp_path / "src.sgm", SOURCE)
    reference = SOURCE.replace("Again one.", "Noch eines.")
    pairs = list(read_parallel(source, written(tmp_path / "ref.sgm", reference), "sgm"))
    assert len(pairs) == 4 and pairs[-1] == ("Again one.", "Noch eines.")
    for change, message in [
        (
            ("13-zeit.de", "14-zeit.de"),
            "has segment 1 of document '14-zeit.de' where .*src.sgm has segment 1 of document '13",
        ),
        (('id="3"', 'id="4"'), "has segment 4 of document '12-bbc.com' where"),
        (('<seg id="1">Again one.</seg>', ""), r"has 3 segments where .*src.sgm has 4"),
        (('id="3"', 'id="1"'), "holds segment 1 of document '12-bbc.com' twice"),
    ]:
        wrong = written(tmp_path / "wrong.sgm", SOURCE.replace(*change))
        with pytest.raises(CorpusError, match=message):
            list(read_parallel(source, wrong, "sgm"))
    with pytest.raises(CorpusError, match="holds no segments"):
        read_sgm(written(tmp_path / "plain.sgm", "Just text.\n"))


def test_lines_side_by_side_keep_their_empty_pairs(tmp_path):
    left, right = written(tmp_path / "l", "a\n\nc\u2028d\n"), written(tmp_path / "r", "A\nB\nC\n")
    assert list(read_parallel(left, right)) == [("a", "A"), ("", "B"), ("c\u2028d", "C")]
