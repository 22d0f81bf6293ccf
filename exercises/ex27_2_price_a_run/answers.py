# %% right: short
def seconds_per_update(stamps, skip):
    return (stamps[-1] - stamps[skip]) / (len(stamps) - 1 - skip)


def reached(flops_per_update, seconds, gpus, peak):
    return flops_per_update / (seconds * gpus * peak)


def bill(flops, peak, utilisation, gpus, price, watts, overhead):
    gpu_hours = flops / (peak * utilisation) / 3600
    return gpu_hours / gpus, gpu_hours * price, gpu_hours * watts / 1000 * overhead


# %% right: differences and statistics
from itertools import pairwise
from statistics import fmean


def seconds_per_update(stamps, skip):
    return fmean([b - a for a, b in pairwise(stamps)][skip:])


def reached(flops_per_update, seconds, gpus, peak):
    pro_gpu = flops_per_update / gpus
    return pro_gpu / seconds / peak


def bill(flops, peak, utilisation, gpus, price, watts, overhead):
    stunden = flops / (gpus * peak * utilisation * 60 * 60)
    geld = sum(stunden * price for _ in range(gpus))
    kwh = gpus * watts * overhead * stunden * 1e-3
    return [stunden, geld, kwh]


# %% wrong: divides by the number of readings | may be called: stamps_for_updates
def seconds_per_update(stamps, skip):
    return (stamps[-1] - stamps[skip]) / (len(stamps) - skip)


# %% wrong: skips nothing | may be called: start_included
def seconds_per_update(stamps, skip):
    return (stamps[-1] - stamps[0]) / (len(stamps) - 1)


# %% wrong: one GPU | may be called: one_gpu_s_peak
def reached(flops_per_update, seconds, gpus, peak):
    return flops_per_update / seconds / peak


# %% wrong: GPU hours on the clock | may be called: hours_of_one
def bill(flops, peak, utilisation, gpus, price, watts, overhead):
    h = flops / (peak * utilisation) / 3600
    return h, h * price, h * watts / 1000 * overhead


# %% wrong: pays for the clock | may be called: money_of_the_clock
_right = bill


def bill(flops, peak, utilisation, gpus, price, watts, overhead):
    h, m, k = _right(flops, peak, utilisation, gpus, price, watts, overhead)
    return h, h * price, k


# %% wrong: watt hours | may be called: watt_hours
_right = bill


def bill(flops, peak, utilisation, gpus, price, watts, overhead):
    h, m, k = _right(flops, peak, utilisation, gpus, price, watts, overhead)
    return h, m, k * 1000


# %% wrong: utilisation is left out | may be called: peak_as_sustained
_right = bill


def bill(flops, peak, utilisation, gpus, price, watts, overhead):
    return _right(flops, peak, 1.0, gpus, price, watts, overhead)
