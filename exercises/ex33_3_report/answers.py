# %% right: partition and comprehensions
def fields(signature):
    return {k: v for k, _, v in (part.partition(":") for part in signature.split("|"))}


def missing(report):
    out = [n for n in NEEDED if report.get(n) is None or report[n] == ""]
    if "signature" not in out and not {"tok", "version"} <= fields(report["signature"]).keys():
        out.append("signature")
    return sorted(out)


def comparable(a, b):
    same = all(a[k] == b[k] for k in ("test", "pair", "sentences", "text"))
    x, y = (fields(r["signature"]) for r in (a, b))
    x.pop("version", None), y.pop("version", None)
    return same and x == y


def line(report):
    return (
        f"{report['score']:.2f} BLEU, {report['test']} {report['pair']} ({report['sentences']}), average of "
        f"{report['averaged']}, beam {report['beam']}, alpha {report['alpha']}, {report['text']}, {report['signature']}"
    )


# %% right: a format string and sets
_ZEILE = "{score:.2f} BLEU, {test} {pair} ({sentences}), average of {averaged}, beam {beam}, alpha {alpha}, {text}, {signature}"


def fields(signature):
    return dict(teil.split(":", 1) for teil in signature.split("|") if ":" in teil)


def missing(report):
    fehlt = set()
    for name in NEEDED:
        wert = report.get(name)
        if wert is None or (isinstance(wert, str) and not wert):
            fehlt.add(name)
    if report.get("signature"):
        da = fields(report["signature"])
        if "tok" not in da or "version" not in da:
            fehlt.add("signature")
    return sorted(fehlt)


def comparable(a, b):
    kern = lambda r: (
        r["test"], r["pair"], r["sentences"], r["text"],
        frozenset(p for p in fields(r["signature"]).items() if p[0] != "version"),
    )
    return kern(a) == kern(b)


def line(report):
    return _ZEILE.format(**report)


# %% wrong: nought is missing | may be called: zero_is_missing
def missing(report):
    return sorted(n for n in NEEDED if not report.get(n))


# %% wrong: not sorted
_right = missing


def missing(report):
    return _right(report)[::-1]


# %% wrong: a signature without tok is fine
def missing(report):
    return sorted(n for n in NEEDED if report.get(n) is None or report[n] == "")


# %% wrong: signatures as text
def comparable(a, b):
    return all(a[k] == b[k] for k in ("test", "pair", "sentences", "text", "signature"))


# %% wrong: the search must be the same
_right = comparable


def comparable(a, b):
    return _right(a, b) and all(a[k] == b[k] for k in ("averaged", "beam", "alpha"))


# %% wrong: the treatment of the text is left out
def comparable(a, b):
    f = lambda r: {k: v for k, v in fields(r["signature"]).items() if k != "version"}
    return all(a[k] == b[k] for k in ("test", "pair", "sentences")) and f(a) == f(b)


# %% wrong: one decimal
_right = line


def line(report):
    return _right(report | {"score": round(report["score"], 1)})


# %% wrong: pairs in place of a dictionary
def fields(signature):
    return [tuple(p.split(":")) for p in signature.split("|")]


# %% wrong: the line of the example
def line(report):
    return LINE
