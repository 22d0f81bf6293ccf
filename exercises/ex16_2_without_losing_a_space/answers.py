# %% right: longest first
def encode(text, vocabulary):
    order = sorted(range(len(vocabulary)), key=lambda k: -len(vocabulary[k]))
    ids, i = [], 0
    while i < len(text):
        for k in order:
            if vocabulary[k] and text.startswith(vocabulary[k], i):
                ids.append(256 + k)
                i += len(vocabulary[k])
                break
        else:
            ids.extend(text[i].encode("utf-8"))
            i += 1
    return ids


def decode(ids, vocabulary):
    return b"".join(bytes([i]) if i < 256 else vocabulary[i - 256].encode() for i in ids).decode("utf-8", "replace")


# %% right: recursion on the rest and a dictionary
def encode(text, vocabulary):
    nummer = {eintrag: 256 + k for k, eintrag in reversed(list(enumerate(vocabulary)))}
    längste = max(map(len, vocabulary), default=0)
    ids = []
    while text:
        for n in range(min(längste, len(text)), 0, -1):
            if text[:n] in nummer:
                ids.append(nummer[text[:n]])
                text = text[n:]
                break
        else:
            ids += list(bytes(text[0], "utf8"))
            text = text[1:]
    return ids


def decode(ids, vocabulary):
    puffer = bytearray()
    for i in ids:
        puffer += vocabulary[i - 256].encode("utf-8") if i >= 256 else i.to_bytes(1, "big")
    return str(puffer, encoding="utf-8", errors="replace")


# %% wrong: the first entry that fits | may be called: first_entry_that_fits
def encode(text, vocabulary):
    ids = []
    while text:
        k = next((k for k, e in enumerate(vocabulary) if e and text.startswith(e)), None)
        ids += [256 + k] if k is not None else list(text[0].encode())
        text = text[len(vocabulary[k]) if k is not None else 1 :]
    return ids


# %% wrong: code points for bytes
_right_encode = encode


def encode(text, vocabulary):
    ids, i = [], 0
    while i < len(text):
        fits = [k for k, e in enumerate(vocabulary) if e and text.startswith(e, i)]
        if fits:
            k = max(fits, key=lambda k: len(vocabulary[k]))
            ids.append(256 + k)
            i += len(vocabulary[k])
        else:
            ids.append(ord(text[i]))
            i += 1
    return ids


# %% wrong: splits at spaces | may be called: split_at_spaces
_right_encode = encode


def encode(text, vocabulary):
    return _right_encode(" ".join(text.split()), vocabulary)


# %% wrong: each byte alone becomes text | may be called: decoded_piece_by_piece
def decode(ids, vocabulary):
    return "".join(vocabulary[i - 256] if i > 255 else bytes([i]).decode("utf-8", "replace") for i in ids)


# %% wrong: drops what is broken
def decode(ids, vocabulary):
    return b"".join(bytes([i]) if i < 256 else vocabulary[i - 256].encode() for i in ids).decode("utf-8", "ignore")


# %% wrong: raises at what is broken
def decode(ids, vocabulary):
    return b"".join(bytes([i]) if i < 256 else vocabulary[i - 256].encode() for i in ids).decode()


# %% wrong: bytes as Latin letters
def decode(ids, vocabulary):
    return "".join(vocabulary[i - 256] if i > 255 else chr(i) for i in ids)


# %% wrong: entries from 255
def encode(text, vocabulary):
    return [i - 1 if i > 255 else i for i in _right_encode0(text, vocabulary)]


_right_encode0 = _e = None


def _right_encode0(text, vocabulary):
    ids = []
    while text:
        fits = [k for k, e in enumerate(vocabulary) if e and text.startswith(e)]
        k = max(fits, key=lambda k: len(vocabulary[k]), default=None)
        ids += [256 + k] if fits else list(text[0].encode())
        text = text[len(vocabulary[k]) if fits else 1 :]
    return ids
