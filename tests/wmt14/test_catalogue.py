"""Catalogues: which archives, which files in them, and how their text is read."""

from __future__ import annotations

import json
import re
import urllib.parse

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
        assert part.archive.urls[:1] == tuple(theirs.data) and [part.archive.md5] == list(theirs.md5)
        assert [part.source_member, part.target_member] == list(theirs.langpairs[pair])


def test_all_archives_but_those_of_the_test_sets_are_at_two_hosts_byte_for_byte():
    """One size and one hash for the publishers' archive and the hub's copy: whichever comes, it is the same file."""
    for pair in ("en-de", "en-fr"):
        known = catalogue("wmt14", pair)
        for archive in known.archives():
            hosts = [urllib.parse.urlsplit(url).netloc for url in archive.urls]
            assert len(set(hosts)) == len(hosts)
            one = [archive.name] * len(hosts)
            assert [url.rpartition("/")[2] for url in archive.urls] == one
            only = archive in (known.test.archive, known.further_tests[0].archive)
            assert hosts[1:] == ([] if only else ["huggingface.co"])


def test_no_address_is_one_at_which_the_hub_now_has_other_data():
    """`wmt/wmt14` and `wmt/wmt19` are data sets of another form today; their archives were moved."""
    every = [
        url for pair in ("en-de", "en-fr") for file in catalogue("wmt14", pair).archives() for url in addresses(file)
    ]
    assert every and not [url for url in every if re.search("/datasets/wmt/wmt(14|19)/", url)]


def addresses(file):
    return [url for variant in file.variants for url in variant.urls]


@pytest.mark.parametrize(("pair", "both", "other"), [("en-de", "deen", "de"), ("en-fr", "fren", "fr")])
def test_the_3003_sentences_are_in_the_development_archive_too(pair, both, other):
    known = catalogue("wmt14", pair)
    instead = known.test.fallback
    assert instead is not None and instead.archive == known.valid.archive and instead.format == "sgm"
    stem = f"dev/newstest2014-{both}"
    assert (instead.source_member, instead.target_member) == (f"{stem}-src.en.sgm", f"{stem}-ref.{other}.sgm")
    assert instead.pairs == known.test.pairs == 3003
    everything = {file.name for file in known.archives()}
    assert known.test.found_in(everything) is known.test
    assert known.test.found_in(everything - {"test-full.tgz"}) is instead
    assert known.test.found_in(everything - {"test-full.tgz", "dev.tgz"}) is None
    assert [part.required for part in (*known.train, known.valid, known.test)] == [True] * (len(known.train) + 2)
    assert not known.further_tests[0].required and known.further_tests[0].found_in({"dev.tgz"}) is None


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
        (
            sound | {"test": sound["test"] | {"fallback": sound["test"] | {"archive": {"name": "other.tgz"}}}},
            "fallback of newstest2014 is in other.tgz, which no part names",
        ),
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
        (("13-zeit.de", "14-zeit.de"), "its document number 2 is '14-zeit.de' where .*src.sgm has '13-zeit.de'"),
        (('id="3"', 'id="4"'), "has segment 4 of document '12-bbc.com' where .*src.sgm has segment 3"),
        (
            ('<seg id="1">Again one.</seg>', ""),
            r"document '13-zeit.de', number 2, has 0 segments where .*src.sgm has 1",
        ),
        (('<doc docid="13-zeit.de"><seg id="1">Again one.</seg></doc>', ""), "has 1 documents where .*src.sgm has 2"),
        (("two lines.  </SEG>", "two lines."), "a segment of document '12-bbc.com' does not end"),
        (('<seg id="3">', "<seg>"), "a segment of document '12-bbc.com' has no id, the one after segment 2"),
        (('<seg id="1">Again', "<seg>Again"), "a segment of document '13-zeit.de' has no id, the first"),
        (("Again one.</seg></doc>\n</srcset>\n", "Again"), "ends within a segment of document '13-zeit.de'"),
    ]:
        wrong = written(tmp_path / "wrong.sgm", SOURCE.replace(*change))
        assert wrong.read_text(encoding="utf-8") != SOURCE
        with pytest.raises(CorpusError, match=message):
            list(read_parallel(source, wrong, "sgm"))
    with pytest.raises(CorpusError, match="holds no segments"):
        read_sgm(written(tmp_path / "plain.sgm", "Just text.\n"))


def test_documents_of_one_name_are_lines_like_all_others(tmp_path):
    """A test set is a list of lines: what its documents are called, and how often, changes nothing."""
    twice = SOURCE.replace("13-zeit.de", "12-bbc.com")
    target = written(tmp_path / "ref.sgm", twice.replace("Again one.", "Noch eines."))
    pairs = list(read_parallel(written(tmp_path / "src.sgm", twice), target, "sgm"))
    assert [segment.document for segment in read_sgm(tmp_path / "src.sgm")] == ["12-bbc.com"] * 4
    assert len(pairs) == 4 and pairs[-1] == ("Again one.", "Noch eines.")
    first, second = '<seg id="3"></seg>\n</p>\n</doc>', '<doc docid="12-bbc.com"><seg id="1">'
    moved = twice.replace(first, "</p>\n</doc>").replace(second, f'{second}More.</seg><seg id="3">')
    with pytest.raises(CorpusError, match="document '12-bbc.com', number 1, has 2 segments where .*src.sgm has 3"):
        list(read_parallel(tmp_path / "src.sgm", written(tmp_path / "moved.sgm", moved), "sgm"))


def test_a_document_need_not_have_a_name(tmp_path):
    plain = '<doc><seg id="1">One.</seg></doc><seg id="1">Two.</seg>'
    assert [segment.text for segment in read_sgm(written(tmp_path / "a.sgm", plain))] == ["One.", "Two."]


def test_lines_side_by_side_keep_their_empty_pairs(tmp_path):
    left, right = written(tmp_path / "l", "a\n\nc\u2028d\n"), written(tmp_path / "r", "A\nB\nC\n")
    assert list(read_parallel(left, right)) == [("a", "A"), ("", "B"), ("c\u2028d", "C")]
