"""The pipeline of 2022 with torchtext, next to ours. Runs where torchtext runs:

    .venv-torchtext/bin/python book/annotated_book/appendix/torchtext/torchtext_pipeline.py

and writes what each part prints into recorded/ beside it, where the appendix reads it. The tests of
`make torchtext-test` run it again and compare.
"""

import contextlib
import io
import json
import platform
from pathlib import Path

RECORDED = Path(__file__).resolve().parent / "recorded"

TRAIN = [
    ("A man is reading.", "Ein Mann liest."),
    ("A man crosses the street with two dogs.", "Ein Mann überquert mit zwei Hunden die Straße."),
    ("A dog sleeps.", "Ein Hund schläft."),
    ("The girl and the man run across a field.", "Das Mädchen und der Mann laufen über ein Feld."),
    ("Two dogs run.", "Zwei Hunde laufen."),
    ("A girl reads a book on the street.", "Ein Mädchen liest auf der Straße ein Buch."),
]
NEW = "A Bookseller crosses the field!"


def build_words():
    """2022: words by a rule, a vocabulary for each language, everything unseen is <unk>."""
    from torchtext.data.utils import get_tokenizer
    from torchtext.vocab import build_vocab_from_iterator

    cut = get_tokenizer("basic_english")
    vocab = build_vocab_from_iterator(
        (cut(english) for english, _ in TRAIN), specials=["<unk>", "<pad>", "<bos>", "<eos>"]
    )
    vocab.set_default_index(vocab["<unk>"])
    return cut, vocab


def words():
    cut, vocab = build_words()
    ids = vocab(cut(NEW))
    print(len(vocab), "entries")
    print(cut(NEW))
    print(ids)
    print(" ".join(vocab.lookup_tokens(ids)))


def build_pieces():
    """Ours: one vocabulary of byte pairs for both languages, nothing is unseen."""
    from annotated.data import Tokenizer

    return Tokenizer.train((text for pair in TRAIN for text in pair), vocab_size=320)


def pieces():
    tokenizer = build_pieces()
    ids = tokenizer.encode(NEW)
    print(tokenizer.vocab_size, "entries")
    print(tokenizer.tokens(ids))
    print(ids)
    print(tokenizer.decode(ids))


def batch_of_2022():
    """2022: sentences as they come, padded to the longest, time first."""
    from torch import tensor
    from torch.nn.utils.rnn import pad_sequence
    from torch.utils.data import DataLoader

    cut, vocab = build_words()

    def collate(pairs):
        rows = [[vocab["<bos>"], *vocab(cut(english)), vocab["<eos>"]] for english, _ in pairs]
        return pad_sequence([tensor(row) for row in rows], padding_value=vocab["<pad>"])

    for batch in DataLoader(TRAIN, batch_size=2, collate_fn=collate):
        padding = (batch == vocab["<pad>"]).sum().item()
        print(f"[time, sentence] {tuple(batch.shape)}: {padding} of {batch.numel()} are padding")


def batch_of_ours():
    """Ours: sentences of similar length together, as many as the budget of tokens allows, batch first."""
    from annotated.data import TokenBatches, TokenStore

    tokenizer = build_pieces()
    store = TokenStore.from_ids([tuple(tokenizer.encode_batch(pair)) for pair in TRAIN])
    batches = TokenBatches(store, batch_tokens=45, seed=0, pool_pairs=len(TRAIN))
    seen = 0
    while seen < len(TRAIN):
        batch = next(batches)
        seen += len(batch)
        padding = batch.source.numel() - batch.source_tokens
        print(f"[sentence, time] {tuple(batch.source.shape)}: {padding} of {batch.source.numel()} are padding")


def bridge():
    """From one world to the other: our vocabulary as a Vocab, and a Vocab of words in our numbering."""
    from annotated.interop.torchtext import from_torchtext_vocab, to_torchtext_vocab

    ours = to_torchtext_vocab(build_pieces())
    print(ours.lookup_tokens([0, 1, 2, 3]), "default:", ours.get_default_index())

    cut, vocab = build_words()
    special = ["<pad>", "<bos>", "<eos>", "<unk>"]
    table = from_torchtext_vocab(vocab, special)
    print(vocab(special), "become", table.encode(special))
    print(table.encode(cut(NEW)))


PARTS = (words, pieces, batch_of_2022, batch_of_ours, bridge)


def run() -> dict[str, str]:
    """What each part prints."""
    printed = {}
    for part in PARTS:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            part()
        printed[part.__name__] = output.getvalue()
    return printed


def main() -> None:
    """Record it."""
    import torch
    import torchtext

    RECORDED.mkdir(parents=True, exist_ok=True)
    for name, text in run().items():
        (RECORDED / f"{name}.txt").write_text(text, encoding="utf-8")
    facts = {
        "command": ".venv-torchtext/bin/python book/annotated_book/appendix/torchtext/torchtext_pipeline.py",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "torchtext": torchtext.__version__,
    }
    (RECORDED / "run.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
