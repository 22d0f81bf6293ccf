"""Steps from archives, or from text of your own, to a prepared folder, in their order.

    download   archives, from mirrors or their publishers, checked
    extract    the files that are wanted
    clean      one way to write a text; rules with names            clean/train.tsv
    deduplicate   which pairs stood in the text before              deduplicate/keep.npy
    split      validation and test sets, and training text without them    valid.tsv test.tsv train.tsv
    tokenizer  byte-pair encoding, shared, from training text only  tokenizer.json
    encode     token ids, mapped into memory by the training        train/

Text of your own starts with `clean`. `runner.py` runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from annotated import storage
from annotated.data.store_files import StoreInfo
from annotated.data.tokenizer import Tokenizer
from annotated.text.formats import PLAIN
from annotated.text.normal_form import normalise
from annotated.wmt14 import encode
from annotated.wmt14.clean import NOT_UTF8, RULES, SCRIPTS, Cleaned, CleaningLimits, clean_block
from annotated.wmt14.options import PreparationError, PreparationOptions
from annotated.wmt14.overlap import Seen, first_of_each, hash_lines, split_block
from annotated.wmt14.runner import Stage, StageWork
from annotated.wmt14.sources import Block, Sources, Text, blocks, evaluation_pairs, line_blocks
from annotated.wmt14.workers import give_memory_back, in_order

CLEAN, KEEP, TRAIN, TOKENIZER, STORE = (
    "clean/train.tsv",
    "deduplicate/keep.npy",
    "train.tsv",
    "tokenizer.json",
    "train",
)
VALID, TEST = "valid.tsv", "test.tsv"


def build_stages(sources: Sources, options: PreparationOptions) -> list[Stage]:
    """All stages of a preparation, in order."""
    evaluation = [VALID, TEST, *(further_name(text) for text in sources.further)]
    texts = (sources.valid, sources.test, *sources.further)
    vocab_size = options.vocab_size or sources.vocab_size
    stages = [
        Stage(
            name="clean",
            version=2,
            inputs=tuple(name for text in sources.train for name in text.files),
            outputs=(CLEAN,),
            run=partial(_clean, sources, options),
            options=_cleaning_options(sources, options),
            weight=1.05,
            temporary=True,
        ),
        Stage(
            "deduplicate",
            1,
            (CLEAN,),
            (KEEP,),
            partial(_deduplicate, options),
            options.some("deduplicate"),
            weight=0.02,
            temporary=True,
        ),
        Stage(
            name="split",
            version=1,
            inputs=(CLEAN, KEEP, *(name for text in texts for name in text.files)),
            outputs=(TRAIN, *evaluation),
            run=partial(_split, sources, options),
            options={**options.some("remove_overlap", "overlap_words"), "corpus": sources.describe()}
            | _formats(sources, texts),
            lasting=tuple(evaluation),
            weight=1.0,
        ),
        Stage(
            name="tokenizer",
            version=1,
            inputs=(TRAIN,),
            outputs=(TOKENIZER,),
            run=partial(_tokenizer, options, vocab_size),
            options={**options.some("tokenizer_pairs"), "vocab_size": vocab_size},
            lasting=(TOKENIZER,),
            weight=0.02,
        ),
        Stage(
            name="encode",
            version=1,
            inputs=(TRAIN, TOKENIZER),
            outputs=(f"{STORE}/store.json",),
            run=partial(_encode, options),
            options=options.some("max_length"),
            lasting=(f"{STORE}/",),
            weight=1.1,
            resumes=True,
        ),
    ]
    here = sources.elsewhere
    stages = [replace(one, elsewhere={name: here[name] for name in one.inputs if name in here}) for one in stages]
    return [*sources.stages, *stages]


def _cleaning_options(sources: Sources, options: PreparationOptions) -> dict[str, Any]:
    """All that decides what cleaning keeps, the rules that run by name, in their order."""
    return {
        **options.some("without", "max_words", "max_ratio", "max_word_length"),
        "rules": [rule.name for rule in RULES if rule.name not in options.without],
        "scripts": [SCRIPTS.get(language, "") for language in sources.languages],
        **_formats(sources, sources.train),
    }


def _formats(sources: Sources, texts: Iterable[Text]) -> dict[str, Any]:
    """How texts are read that are not plain TSV, for the options of a stage; nothing if all are."""
    found = {text.source: sources.formats[text.source].key for text in texts if text.source in sources.formats}
    return {"formats": found} if found else {}


def further_name(text: Text) -> str:
    """The file of a further test set."""
    return f"test-{text.name}.tsv"


@dataclass(frozen=True)
class _CleanBlock:
    """`clean_block` for a block that says which part it is of."""

    limits: CleaningLimits
    without: tuple[str, ...]

    def __call__(self, item: tuple[str, Block]) -> tuple[str, int, Cleaned]:
        part, block = item
        return part, len(block[0]) + len(block[1]), clean_block(block, self.limits, self.without)


def _clean(sources: Sources, options: PreparationOptions, work: StageWork) -> dict[str, Any]:
    """Every part in its order, normalised and filtered, into one file."""
    source, target = (SCRIPTS.get(language, "") for language in sources.languages)
    limits = CleaningLimits(options.max_words, options.max_ratio, options.max_word_length, (source, target))
    paths = {text.name: [_path(sources, work.folder, name) for name in text.files] for text in sources.train}
    formats = {text.name: sources.formats.get(text.source, PLAIN) for text in sources.train}
    packed = any(path.suffix in (".gz", ".zst") for each in paths.values() for path in each)
    total = None if packed else sum(path.stat().st_size for each in paths.values() for path in each)

    def items() -> Iterator[tuple[str, Block]]:
        for name, each in paths.items():
            yield from ((name, block) for block in blocks(each[0], each[1] if len(each) == 2 else None, formats[name]))

    names = [*(rule.name for rule in RULES), NOT_UTF8]
    parts: dict[str, dict[str, Any]] = {
        name: {"read": 0, "kept": 0, "changed": 0, "dropped": dict.fromkeys(names, 0)} for name in paths
    }
    done = 0
    with work.path(CLEAN).open("wb") as file:
        for name, count, cleaned in in_order(_CleanBlock(limits, options.without), items(), work.jobs):
            file.write(cleaned.text)
            for key in ("read", "kept", "changed"):
                parts[name][key] += getattr(cleaned, key)
            for rule, dropped in cleaned.dropped.items():
                parts[name]["dropped"][rule] += dropped
            done += count + 2 * cleaned.read
            work.advance(done, total)
    counts: dict[str, Any] = {key: sum(part[key] for part in parts.values()) for key in ("read", "kept", "changed")}
    counts["dropped"] = {name: sum(part["dropped"][name] for part in parts.values()) for name in names}
    return {**counts, "parts": parts}


def _deduplicate(options: PreparationOptions, work: StageWork) -> dict[str, Any]:
    """One hash a line, sorted; which lines to keep, as an array of booleans."""
    path, done, hashes = work.folder / CLEAN, 0, []
    total = path.stat().st_size
    for lines in line_blocks(path):
        hashes.append(hash_lines(lines))
        done += sum(map(len, lines)) + len(lines)
        work.advance(done, total)
    keep = first_of_each(np.concatenate(hashes or [np.zeros(0, dtype=np.uint64)]))
    duplicates = len(keep) - int(keep.sum())
    if not options.deduplicate:
        keep[:] = True
    np.save(work.path(KEEP), keep)
    return {"pairs": len(keep), "duplicates": duplicates, "kept": int(keep.sum())}


def _split(sources: Sources, options: PreparationOptions, work: StageWork) -> dict[str, Any]:
    """The evaluation sets, and the training text without duplicates and without them."""
    texts = {VALID: sources.valid, TEST: sources.test} | {further_name(text): text for text in sources.further}
    absent = [name for name, text in texts.items() if not work.inputs.issuperset(text.files)]
    seen, counts = [], {}
    for name, text in texts.items():
        if name in absent:
            continue
        paths = [_path(sources, work.folder, one) for one in text.files]
        read = evaluation_pairs(
            paths[0], paths[1] if len(paths) == 2 else None, sources.formats.get(text.source, PLAIN)
        )
        if text.pairs not in (None, len(read)):
            raise PreparationError(
                f"{paths[0]}: holds {len(read):,} sentence pairs, and {text.name} has {text.pairs:,}: this is another "
                "text, or not all of it. Take it out of the archives again (--again extract)"
            )
        # The source is what the model reads, so it is written like the training text; the reference stays as it
        # is, but for the white space that a TSV file cannot hold.
        pairs = [(normalise(source), " ".join(target.split())) for source, target in read]
        pairs = [pair for pair in pairs if all(pair)]
        lines = "".join(f"{source}\t{target}\n" for source, target in pairs)
        work.path(name).write_text(lines, encoding="utf-8", newline="\n")
        seen.append(Seen.of(name.removesuffix(".tsv"), pairs, options.overlap_words))
        counts[name.removesuffix(".tsv")] = {"set": text.name, "pairs": len(pairs), "empty": len(read) - len(pairs)}
    overlap = {f"{one.name} {how}": 0 for one in seen for how in ("pair", "source", "target")}
    keep, position, kept, done = np.load(work.folder / KEEP), 0, 0, 0
    total = (work.folder / CLEAN).stat().st_size

    def items() -> Iterator[tuple[bytes, Any]]:
        nonlocal position
        for lines in line_blocks(work.folder / CLEAN):
            yield b"\n".join([*lines, b""]), keep[position : position + len(lines)]
            position += len(lines)

    check: Callable[[tuple[bytes, Any]], Any] = partial(split_block, seen=tuple(seen), remove=options.remove_overlap)
    with work.path(TRAIN).open("wb") as file:
        for block in in_order(check, items(), work.jobs):
            file.write(block.text)
            kept += block.kept
            done += block.size
            for how, count in block.overlap.items():
                overlap[how] += count
            work.advance(done, total)
    found = sum(overlap.values())
    return {
        "train_pairs": kept,
        "duplicates": len(keep) - int(keep.sum()),
        "overlap_found": found,
        "overlap": overlap,
        "absent": absent,
        **counts,
    }


def _tokenizer(options: PreparationOptions, vocab_size: int, work: StageWork) -> dict[str, Any]:
    """Byte-pair encoding of both sides together; where there are too many pairs, of some, spread evenly."""
    path = work.folder / TRAIN
    pairs = sum(len(lines) for lines in line_blocks(path))
    taken = min(pairs, options.tokenizer_pairs)

    def texts() -> Iterator[str]:
        number = 0
        for lines in line_blocks(path):
            for line in lines:
                if (number + 1) * taken // pairs > number * taken // pairs:
                    yield from line.decode().split("\t")
                number += 1
            work.advance(number, pairs)

    tokenizer = Tokenizer.train(texts(), vocab_size, normal_form=True)
    tokenizer.save(work.path(TOKENIZER))
    give_memory_back()  # of the words that it counted
    return {"pairs": taken, "of_pairs": pairs, "vocab_size": tokenizer.vocab_size, "fingerprint": tokenizer.fingerprint}


def _encode(options: PreparationOptions, work: StageWork) -> dict[str, Any]:
    """Shards, encoded in parallel and kept when this process is killed, and then one store."""
    tokenizer = Tokenizer.load(work.folder / TOKENIZER)
    empty = StoreInfo(
        vocab_size=tokenizer.vocab_size,
        max_length=options.max_length,
        tokenizer=tokenizer.fingerprint,
        corpus=storage.sha256(work.folder / TRAIN)[:16],
    )
    cut = encode.ranges(work.folder / TRAIN, encode.SHARD_PAIRS)
    shards = work.out / "shards"
    storage.sweep(shards)
    writer = encode.ShardWriter(work.folder / TRAIN, shards, tokenizer, empty)
    infos: list[StoreInfo] = []
    for _, info in in_order(writer, cut, work.jobs):
        infos.append(info)
        work.advance(cut[len(infos) - 1].end, cut[-1].end)
    total = encode.join(shards, infos or [empty], work.out / STORE)
    counts = {name: getattr(total, name) for name in ("pairs", "empty", "too_long", "source_tokens", "target_tokens")}
    files = [f"{STORE}/{path.name}" for path in sorted((work.out / STORE).iterdir()) if path.name != "store.json"]
    return {**counts, "shards": len(infos), "files": files}


def _path(sources: Sources, folder: Path, name: str) -> Path:
    return sources.elsewhere.get(name, folder / name)
