"""Games for ex09-2: a made-up model of which is known what every set of silenced heads costs."""


def game(heads, values):
    """`damage(*silenced)` for these heads; `values[n]` belongs to the set whose bits are set in n."""
    place = {tuple(head): i for i, head in enumerate(heads)}

    def damage(*silenced):
        return float(values[sum(1 << place[head] for head in {tuple(head) for head in silenced})])

    return damage
