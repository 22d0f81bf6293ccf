"""`annotated evaluate`."""

from __future__ import annotations

import itertools
import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import tyro

from annotated.config import DataConfig, DecodingConfig, EngineConfig, TrainingConfig
from annotated.ownership import require_our_file
from annotated.storage import atomic_write

_NAMES = {"paper": "the paper's way", "moses": "so with Moses"}


@dataclass
class Evaluate:
    """Score a model on a test corpus: BLEU in each setting, chrF, their signatures, exact matches, perplexity."""

    model: tyro.conf.Positional[str] = "classroom"
    """A model inside the package by name, a model folder, a checkpoint, or the folder of a training run."""
    corpus: str | None = None
    """'classroom', a file of pairs (.tsv, .csv, .jsonl, .tmx ...; .gz, .zst), or two text files as 'SOURCE,TARGET'. If
    not given, the test text that the model's training run names."""
    format: str = DataConfig.format
    """Of that file: auto, tsv, csv, jsonl, bars, tmx, xliff, as --data.format of annotated train."""
    split: Literal["train", "valid", "test", "constructions"] = "test"
    """Which part of the classroom corpus, or which text of the training run; files that are named are read whole."""
    limit: int | None = None
    """Only the first pairs."""
    decoding: Annotated[DecodingConfig, tyro.conf.arg(name="")] = field(default_factory=DecodingConfig)
    engine: Annotated[EngineConfig, tyro.conf.arg(name="")] = field(default_factory=EngineConfig)
    overlong: Literal["error", "truncate"] = "error"
    """What to do with a source of more tokens than the model takes."""
    moses: Literal["auto", "yes", "no"] = "auto"
    """BLEU with Moses' own tokeniser, too, which needs the package sacremoses: 'auto' where it is installed."""
    language: str | None = None
    """Of the translations, two letters: BLEU's tokeniser follows it, as sacreBLEU's does, and Moses'. If not given, the
    target language of the prepared data that the model was trained on, else the script of the references decides, and
    Moses' tokeniser takes the rules of 'de'."""
    tokenize: str | None = None
    """sacreBLEU's tokeniser, such as 13a, zh, char or intl, in the place of the language's own."""
    output: Path | None = None
    """Write the translations here, one a line; a file that holds something already is never replaced."""
    json: bool = False
    """Print one JSON object instead of text."""
    device: str = TrainingConfig.device
    """'auto' takes a GPU if there is one; else a torch device name."""

    def run(self) -> int:
        """Evaluate, and print."""
        from annotated.cli.scored_text import format_of_text, language_of, text_to_score
        from annotated.data import open_corpus
        from annotated.evaluation import evaluate, has_moses, paper_style_bleu
        from annotated.evaluation.paper_bleu import LANGUAGE, MOSES, moses_language, tokenizer
        from annotated.evaluation.prepared_text import looks_prepared
        from annotated.evaluation.tokenisers import divides_words, tokeniser_of
        from annotated.loading import load

        if self.limit is not None and self.limit < 1:
            raise ValueError(f"--limit must be at least 1, not {self.limit}")
        if self.output is not None:
            require_our_file(self.output)
        language = self.language or language_of(self.model)
        rules = moses_language(language or LANGUAGE)
        styles: dict[str, str] = {}
        if self.moses == "yes" or (self.moses == "auto" and has_moses()):
            styles[MOSES] = MOSES
            tokenizer(MOSES, rules)  # before the translation, not after
        data = DataConfig(format=format_of_text(self.model, self.corpus, self.format))
        corpus = open_corpus(text_to_score(self.model, self.corpus, self.split), self.split, data)
        translator = load(self.model, self.device, self.decoding, **self.engine.to_dict())
        pairs = list(itertools.islice(corpus.every_pair(), self.limit))
        references = [reference for _, reference in pairs]
        tokenize = self.tokenize or tokeniser_of(references, language)
        tokenizer(tokenize)
        if said := looks_prepared(references):
            print(said, file=sys.stderr)
        styles = {"paper": tokenize, **(styles if divides_words(tokenize) or self.moses == "yes" else {})}
        result = evaluate(translator, pairs, overlong=self.overlong, tokenize=tokenize)
        if self.output is not None:
            lines = (" ".join(text.splitlines()) for text in result.translations)
            with atomic_write(self.output) as file:
                file.writelines(f"{line}\n" for line in lines)
        numbers = result.to_dict()
        settings = {
            name: paper_style_bleu(result.translations, references, style, language=rules)
            for name, style in styles.items()
        }
        if self.json:
            about = {"model": self.model, "corpus": corpus.spec, "decoding": asdict(self.decoding)}
            further: dict[str, float | str | None] = {f"{name}_bleu": one.bleu for name, one in settings.items()}
            further |= {"moses_language": rules} if MOSES in settings else {}
            print(json.dumps({**about, **asdict(self.engine), **numbers, **further}, ensure_ascii=False))
            return 0
        print(f"{corpus.spec}: {numbers['sentences']} sentences, beam {self.decoding.beam_size}")
        print(f"BLEU              {numbers['bleu']:.2f}   {numbers['signature']}")
        for name, one in settings.items():
            print(f"{_NAMES[name]:<17} {one.bleu:.2f}   {one.signature}")
        print(f"chrF              {numbers['chrf']:.2f}   {numbers['chrf_signature']}")
        print(f"exact match       {numbers['exact_match']:.1f} %")
        print(f"token perplexity  {numbers['token_perplexity']:.3f}   over {numbers['tokens']} tokens, eos included")
        if divides_words(tokenize):
            print(f"word perplexity   {numbers['word_perplexity']:.3f}   over {numbers['words']} words, ends included")
        return 0
