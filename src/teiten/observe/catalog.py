"""All observers, in the order in which they start; they stop in the reverse order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teiten.observe.counters import CountersObserver
from teiten.observe.pgstat import PgstatObserver
from teiten.observe.procfs import ProcfsObserver
from teiten.observe.sysstat import SysstatObserver

if TYPE_CHECKING:
    from collections.abc import Collection

    from teiten.observe.base import Observer


def all_observers() -> tuple[Observer, ...]:
    """Return one of each observer.

    pgstat's own queries cost the server as much as several transactions, and take time: it begins
    before the others do, and ends after them.
    """
    return (PgstatObserver(), SysstatObserver(), ProcfsObserver(), CountersObserver())


def choose_observers(names: Collection[str]) -> tuple[tuple[Observer, ...], tuple[str, ...]]:
    """Return the observers of these names that work on this host, and a sentence for each lack.

    An observer that records a part of what it could is returned, and its lack is told as well.
    Names that stand for no observer of a window (`callgrind`) are not looked at.
    """
    observers = [o for o in all_observers() if o.name in names]
    usable = tuple(o for o in observers if o.unavailable() is None)
    lacks = [
        o.limitation() if isinstance(o, CountersObserver) else o.unavailable() for o in observers
    ]
    return usable, tuple(x for x in lacks if x is not None)
