# %% right: the longest
def best_possible(log_probability, cap, alpha):
    return log_probability / ((5 + cap) / 6) ** alpha


def may_stop(finished, alive, cap, alpha, keep=1):
    if not alive:
        return True
    if len(finished) < keep:
        return False
    bar = sorted(finished)[-keep]
    return all(best_possible(p, cap, alpha) <= bar for p in alive)


# %% right: counting who could still come in
def best_possible(log_probability, cap, alpha):
    return max(log_probability / ((5 + n) / 6) ** alpha for n in range(1, cap + 1))


def may_stop(finished, alive, cap, alpha, keep=1):
    hoffnung = max((best_possible(p, cap, alpha) for p in alive), default=None)
    return hoffnung is None or sum(1 for s in finished if s >= hoffnung) >= keep


# %% wrong: as it stands now | may be called: compares_log_probabilities
def best_possible(log_probability, cap, alpha):
    return log_probability


# %% wrong: the length is the cap plus one
def best_possible(log_probability, cap, alpha):
    return log_probability / ((6 + cap) / 6) ** alpha


# %% wrong: the average of those alive
def may_stop(finished, alive, cap, alpha, keep=1):
    if not alive:
        return True
    return len(finished) >= keep and best_possible(sum(alive) / len(alive), cap, alpha) <= sorted(finished)[-keep]


# %% wrong: the best of the finished
def may_stop(finished, alive, cap, alpha, keep=1):
    if not alive:
        return True
    return len(finished) >= keep and best_possible(max(alive), cap, alpha) <= max(finished)


# %% wrong: at a tie it goes on
def may_stop(finished, alive, cap, alpha, keep=1):
    if not alive:
        return True
    return len(finished) >= keep and best_possible(max(alive), cap, alpha) < sorted(finished)[-keep]


# %% wrong: nothing alive and too few finished
def may_stop(finished, alive, cap, alpha, keep=1):
    return len(finished) >= keep and all(best_possible(p, cap, alpha) <= sorted(finished)[-keep] for p in alive)


# %% wrong: takes the lists as sorted
def may_stop(finished, alive, cap, alpha, keep=1):
    if not alive:
        return True
    return len(finished) >= keep and best_possible(alive[0], cap, alpha) <= finished[keep - 1]


# %% wrong: enough have finished
def may_stop(finished, alive, cap, alpha, keep=1):
    return not alive or len(finished) >= keep
