"""How processes that start together find one another, and none that is already gone.

`torchrun` starts all processes again when one of them dies, and they exchange addresses through a store that its agent
keeps. Since torch 2.5 that store lives as long as the agent, so it still holds the addresses of the processes before:
who reads before the owner has written anew calls a number that nobody answers, and the new start fails too
(https://github.com/pytorch/pytorch/issues/135712). So the processes first agree on a name that is new, and use the
store under that name only.

Paper: none; a training of 3.5 days (section 5.2) meets this
"""

from __future__ import annotations

import datetime
import time
import uuid

import torch.distributed as dist

_PAUSE = 0.02
_PLACE = "annotated"


def fresh_store(rank: int, world_size: int, timeout: float = 600.0) -> dist.Store:
    """The store of the processes that `torchrun` described in the environment, without what others left in it.

    Parameters
    ----------
    rank, world_size
        Of this process.
    timeout
        Seconds to wait for the others.

    Raises
    ------
    TimeoutError
        If not all processes came; the message names the missing.

    Paper: none
    """
    store, _, _ = next(iter(dist.rendezvous("env://", rank, world_size, timeout=datetime.timedelta(seconds=timeout))))
    return dist.PrefixStore(agree(store, rank, world_size, timeout), store)


def agree(store: dist.Store, rank: int, world_size: int, timeout: float = 600.0) -> str:
    """A name that exactly the processes of this start know, whatever the store holds from earlier ones.

    Each process but the first writes a random word under its rank. Rank 0 answers every word it finds there, an old one
    too, which harms nobody; the answer is the name, random as well. It stops when all have signed under that name: a
    signature can only come from one who was answered just now.

    Raises
    ------
    TimeoutError
        If not all processes came; the message names the missing.

    Paper: none
    """
    word, deadline = uuid.uuid4().hex, time.monotonic() + timeout
    if rank:
        store.set(f"{_PLACE}/{rank}", word)
        answer = f"{_PLACE}/answer/{word}"
        _wait(store, answer, deadline, "process 0")
        name = store.get(answer).decode()
        store.set(f"{_PLACE}/{name}/{rank}", "here")
        return name
    for other in range(1, world_size):
        signature = f"{_PLACE}/{word}/{other}"
        while not store.check([signature]):
            if store.check([f"{_PLACE}/{other}"]):
                store.set(f"{_PLACE}/answer/{store.get(f'{_PLACE}/{other}').decode()}", word)
            _pause(deadline, f"process {other}")
    return word


def _wait(store: dist.Store, key: str, deadline: float, who: str) -> None:
    while not store.check([key]):
        _pause(deadline, who)


def _pause(deadline: float, who: str) -> None:
    if time.monotonic() > deadline:
        raise TimeoutError(f"{who} of this training did not come; torchrun's output on its machine says why")
    time.sleep(_PAUSE)
