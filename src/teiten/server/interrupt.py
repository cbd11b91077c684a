"""Ctrl-C, SIGTERM and SIGHUP end teiten through its `finally` blocks, and only once."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class InterruptedBySignalError(BaseException):
    """A signal asked teiten to end; `exit_code` is the shell's 128 + number."""

    def __init__(self, number: int) -> None:
        """Name the signal that arrived."""
        super().__init__(signal.Signals(number).name)
        self.number = number
        self.exit_code = 128 + number


class _State:
    """Whether a signal may raise now; signals reach the main thread only."""

    shields = 0
    pending: int | None = None
    raised = False


def _handle(number: int, _frame: FrameType | None) -> None:
    if _State.raised:
        return  # cleaning up already: a second Ctrl-C must not leave things half done
    if _State.shields:
        _State.pending = number
        return
    _State.raised = True
    raise InterruptedBySignalError(number)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Within this block the first SIGINT, SIGTERM or SIGHUP raises `InterruptedBySignalError`.

    Later ones are ignored, because the clean-up has begun by then (kill -9 still works, and the
    next start sweeps). Outside the main thread this does nothing: signals do not arrive there.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {number: signal.signal(number, _handle) for number in _SIGNALS}
    _State.raised, _State.pending = False, None
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def shielded() -> Iterator[None]:
    """Delay signals until this block ends; for clean-up and for steps that must be whole."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _State.shields += 1
    try:
        yield
    finally:
        _State.shields -= 1
        if not _State.shields and (number := _State.pending) is not None:
            _State.pending = None
            _handle(number, None)
