import math

import altair as alt
import numpy as np
import pandas as pd


# %% right: numpy polyfit and a DataFrame
def fit_exponent(sizes, seconds):
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def crossing(d):
    return 2 * d


def exponents(d):
    def f(n):
        return 2 * n * n * d + 4 * n * d * d

    short = [d // 16, d // 8, d // 4, d // 2]
    long = [2 * d, 4 * d, 8 * d]
    return fit_exponent(short, [f(n) for n in short]), fit_exponent(long, [f(n) for n in long])


n = np.array([2**i for i in range(5, 13)])
table = pd.DataFrame({"n": n, "scores": 2 * n**2 * 512, "projections": 4 * n * 512**2})
table = table.melt("n", var_name="term", value_name="operations")
chart = (
    alt.Chart(table)
    .mark_line(point=True)
    .encode(
        x=alt.X("n:Q").scale(type="log"),
        y=alt.Y("operations:Q").scale(type="log"),
        color="term:N",
    )
)


# %% right: slopes by hand and inline rows
def fit_exponent(sizes, seconds):
    x, y = [math.log2(s) for s in sizes], [math.log2(s) for s in seconds]
    mx, my = math.fsum(x) / len(x), math.fsum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def crossing(d):
    return 2.0 * d


def exponents(d):
    kosten = lambda n: n * (n + 2 * d)
    kurz, lang = [d / 16, d / 8, d / 4, d / 2], [2 * d, 4 * d, 8 * d]
    return [fit_exponent(kurz, list(map(kosten, kurz))), fit_exponent(lang, list(map(kosten, lang)))]


rows = []
for k in range(5, 13):
    rows.append({"n": 2**k, "term": "scores", "operations": 2 * 4**k * 512})
    rows.append({"n": 2**k, "term": "projections", "operations": 4 * 2**k * 512 * 512})
chart = alt.Chart(alt.Data(values=rows)).mark_line().encode(
    alt.X("n", type="quantitative", scale=alt.Scale(type="log", base=2), title="length"),
    alt.Y("operations", type="quantitative", scale=alt.Scale(type="log")),
    alt.Color("term", type="nominal"),
)


# %% wrong: slope without logarithms | may be called: without_logarithms
def fit_exponent(sizes, seconds):
    return float(np.polyfit(sizes, seconds, 1)[0])


# %% wrong: first and last point only | may be called: two_ends_only
def fit_exponent(sizes, seconds):
    return math.log(seconds[-1] / seconds[0]) / math.log(sizes[-1] / sizes[0])


# %% wrong: slope through the origin | may be called: line_through_the_origin
def fit_exponent(sizes, seconds):
    x, y = np.log(sizes), np.log(seconds)
    return float((x * y).sum() / (x * x).sum())


# %% wrong: sizes on seconds | may be called: axes_exchanged_in_the_fit
def fit_exponent(sizes, seconds):
    return float(np.polyfit(np.log(seconds), np.log(sizes), 1)[0])


# %% wrong: they cross at d
def crossing(d):
    return d


# %% wrong: exponents from logic alone
def exponents(d):
    return 1.0, 2.0


# %% wrong: one exponent is of the scores alone
_right = exponents


def exponents(d):
    return _right(d)[0], fit_exponent([2 * d, 4 * d, 8 * d], [2 * n * n * d for n in (2 * d, 4 * d, 8 * d)])


# %% wrong: only one axis is logarithmic
chart = alt.Chart(table).mark_line().encode(x="n:Q", y=alt.Y("operations:Q").scale(type="log"), color="term:N")


# %% wrong: points instead of lines
chart = alt.Chart(table).mark_point().encode(
    x=alt.X("n:Q").scale(type="log"), y=alt.Y("operations:Q").scale(type="log"), color="term:N"
)


# %% wrong: the chart of another width
wide = table.assign(operations=table.operations * 2)
chart = alt.Chart(wide).mark_line().encode(
    x=alt.X("n:Q").scale(type="log"), y=alt.Y("operations:Q").scale(type="log"), color="term:N"
)
