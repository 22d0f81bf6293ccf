"""README of a prepared folder: what it says about itself to people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotated.storage import format_bytes
from annotated.wmt14.clean import NOT_UTF8, RULES
from annotated.wmt14.corpus import PreparedCorpus

TERMS = {
    "wmt14": "The Workshop on Statistical Machine Translation gathered these texts for research: "
    "<https://www.statmt.org/wmt14/translation-task.html>. Europarl: <https://www.statmt.org/europarl/>. News "
    "Commentary and the test sets belong to their publishers, Common Crawl's texts to their authors "
    "(<https://commoncrawl.org/terms-of-use>). Read their terms before you pass texts, or a model, on.",
    "multi30k": "Multi30k's translations: <https://github.com/multi30k/dataset>. The English captions are Flickr30k's: "
    "<https://shannon.cs.illinois.edu/DenotationGraph/>, for research and teaching. Read their terms before you pass "
    "texts, or a model, on.",
    "iwslt14": "Transcripts and translations of TED talks, gathered for the evaluation of IWSLT 2014. They belong to "
    "TED, the speakers and the translators. Read TED's terms before you pass texts, or a model, on.",
}
"""Whose the texts are, by the name of the catalogue."""

_FILES = {
    "tokenizer.json": "the shared vocabulary: byte-level byte-pair encoding, also for Hugging Face's `tokenizers`",
    "valid.tsv": "validation set: source, tab, target",
    "test.tsv": "test set",
    "train/store.json": "the training pairs as token ids; the four files beside it belong to it",
}


def text(prepared: PreparedCorpus) -> str:
    """The README.md of a prepared folder, in Markdown: made of the manifests, so the same for the same data."""
    return "\n".join([*_head(prepared), *_files(prepared), *_counts(prepared.manifest["stages"]), *_sources(prepared)])


def _head(prepared: PreparedCorpus) -> Iterator[str]:
    corpus = prepared.manifest["corpus"]
    yield f"# {corpus['name']}, {corpus['pair']}, prepared"
    yield ""
    if corpus["note"]:
        yield from (corpus["note"], "")
    yield f"{prepared.manifest['pairs']:,} training pairs. Identity `{prepared.identity}`: same identity, same data."
    yield from ("", "FOLDER is where this file lies. Train on it, or check every hash:", "")
    yield "    annotated train RUN --preset PRESET --data.prepared FOLDER  # PRESET: wmt14-base, multi30k, ..."
    yield "    python -c 'import annotated.wmt14 as w; w.PreparedCorpus.open(\"FOLDER\").verify()'"
    yield ""
    for name, found in prepared.manifest["fallbacks"].items():
        yield (
            f"{name} was taken from `{found['archive']}` ({' and '.join(found['members'])}), because "
            f"`{found['instead_of']}` could not be had. The number of sentences and the order of their documents were "
            "checked; nobody has published a hash of the sentences themselves."
        )
        yield ""
    left_out = [name for name in corpus["further"] if name not in prepared.further_tests]
    if left_out:
        yield f"Without {', '.join(left_out)}: not to be had were {', '.join(prepared.manifest['missing'])}."
        yield ""


def _files(prepared: PreparedCorpus) -> Iterator[str]:
    corpus = prepared.manifest["corpus"]
    names = {"valid.tsv": corpus["valid"], "test.tsv": corpus["test"]}
    names |= {f"test-{name}.tsv": name for name in corpus["further"]}
    yield from ("## Files", "", "| file | what it is | size | SHA-256 |", "|---|---|---:|---|")
    for name, record in sorted(prepared.manifest["files"].items()):
        what = _FILES.get(name, "further test set" if name.startswith("test-") else "part of the store")
        what += f" ({names[name]})" if name in names else ""
        yield f"| `{name}` | {what} | {format_bytes(record['bytes'])} | `{record['sha256'][:16]}...` |"
    yield ""
    yield "`manifest/` has the whole hashes, and what each stage was given, told and made. `train.tsv` is the training"
    yield "text; `download/`, if it is there, the archives. Both may be deleted: a training needs neither."
    yield ""


def _counts(stages: Mapping[str, Any]) -> Iterator[str]:
    clean, split, encode = (stages[name]["counts"] for name in ("clean", "split", "encode"))
    left_off = stages["clean"]["options"]["without"]
    yield from ("## From the archives to the training pairs", "", "| step | pairs | why |", "|---|---:|---|")
    parts = ", ".join(f"{name} {part['read']:,}" for name, part in clean["parts"].items())
    yield f"| read | {clean['read']:,} | {parts} |"
    for rule in RULES:
        dropped = _less(clean["dropped"][rule.name]) if rule.name not in left_off else "left off"
        yield f"| rule {rule.name} | {dropped} | {rule.why} |"
    yield f"| {NOT_UTF8} | {_less(clean['dropped'][NOT_UTF8])} | a line that is no text |"
    yield f"| duplicates | {_less(split['duplicates'])} | the pair stood in the text before |"
    removed = clean["kept"] - split["duplicates"] - split["train_pairs"]
    found = ", ".join(f"{how} {count:,}" for how, count in split["overlap"].items() if count) or "none"
    yield f"| overlap | {_less(removed)} | in an evaluation set too: {found} |"
    most = stages["encode"]["options"]["max_length"]
    yield f"| too long | {_less(encode['too_long'])} | a side has more than {most} tokens, its end mark included |"
    yield f"| no tokens | {_less(encode['empty'])} | a side is empty |"
    yield f"| training pairs | {encode['pairs']:,} | {encode['source_tokens']:,} + {encode['target_tokens']:,} tokens |"
    yield ""
    yield f"Of the pairs that the rules kept, {clean['changed']:,} were written differently (white space, invisible"
    yield "characters, Unicode's NFC)."
    yield "A language other than the pair's in the same script is not looked for."
    yield ""


def _less(count: int) -> str:
    return f"-{count:,}" if count else "0"


def _sources(prepared: PreparedCorpus) -> Iterator[str]:
    yield from ("## Whose text this is", "")
    yield TERMS.get(prepared.manifest["corpus"]["name"], "Text of your own.")
    if prepared.manifest["archives"]:
        yield from ("", "| archive | bytes | SHA-256 | compared with a known hash |", "|---|---:|---|---|")
    for name, archive in prepared.manifest["archives"].items():
        yield f"| `{name}` | {archive['bytes']:,} | `{archive['sha256']}` | {'yes' if archive['pinned'] else 'no'} |"
    yield ""
