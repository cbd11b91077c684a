"""Which folders a user can enter, by their mode bits; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_OWNER_EXECUTE, _GROUP_EXECUTE, _OTHER_EXECUTE = 0o100, 0o010, 0o001


def first_untraversable(
    folders: Iterable[tuple[str, int, int, int]], uid: int, gid: int
) -> str | None:
    """Return the outermost of `folders` (path, mode, owner, group) that a user cannot enter.

    `folders` are ordered from the innermost outwards. The kernel takes the first class that
    matches (owner, group, others), even when a later one would allow more.
    """
    closed = None
    for path, mode, owner, group in folders:
        if uid == owner:
            enterable = mode & _OWNER_EXECUTE
        elif gid == group:
            enterable = mode & _GROUP_EXECUTE
        else:
            enterable = mode & _OTHER_EXECUTE
        if not enterable:
            closed = path
    return closed
