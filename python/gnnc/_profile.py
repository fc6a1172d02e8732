"""Profiles: where the time of a run's calls goes."""

from __future__ import annotations

import ctypes as C
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional

from . import _capi as capi
from ._capi import lib
from ._context import encode
from ._errors import UsageError

if TYPE_CHECKING:
    from ._run import Run

__all__ = ["Profile", "ProfileRow"]

#: What may have been timed, in the order in which `Profile` looks for it.
PROGRAMS = ("step", "infer", "forward", "backward")


class ProfileRow(NamedTuple):
    """What a layer, a line of the model or a kernel has of a call; means over those timed."""

    name: str        #: "convs.0", "(loss)"; "gcn.gnn:10"; "convs.0 backward weights"
    part: str        #: "forward", "backward" or "optimizer"
    bound_by: str    #: "memory", "gather", "flops", "functions" or "-"
    us: float        #: of a call
    wait_us: float   #: of that, threads had nothing to do
    bound_us: float  #: the least that this machine needs for it
    bytes: float     #: moved
    flops: float     #: done
    kernels: int     #: that it has a part of
    estimated: bool  #: some of them do the work of several layers, and are split by their bounds
    calls: int       #: that were timed


class Profile:
    """Times the calls of a run, kernel by kernel, from `Run.profile` on until it is closed.

        with run.profile() as profile:
            run.steps(20)
        print(profile)
        slowest = profile.layers()[0]

    Rows are there, slowest first, after the calls and after closing too.  Until the run computes
    again they are read anew by each question; closing reads all of them.  A run has one profile at
    a time.  Results are the same bits as without.
    """

    def __init__(self, run: "Run") -> None:
        self._run: Optional["Run"] = run
        self._read: Any = {}
        run._set_profile(self)

    def __enter__(self) -> "Profile":
        return self

    def __exit__(self, *what: Any) -> None:
        self.close()

    def close(self) -> None:
        """Ends it: calls are not timed any more.  What was timed is kept."""
        run = self._run
        if run is None:
            return
        for program in PROGRAMS:
            for by in ("layer", "line", "kernel"):
                try:
                    self._read[program, by] = run._profile_rows(program, by)
                except UsageError:  # no such call was timed
                    break
        self._run = None
        run._set_profile(None)

    def rows(self, by: str = "layer", program: Optional[str] = None) -> List[ProfileRow]:
        """Rows by "layer", "line" of the model or "kernel", slowest first.

        `program` is "step", "infer", "forward" or "backward"; without it the first of these that
        was timed.  The first question measures what the machine can, for some tenths of a second.
        """
        if by not in ("layer", "line", "kernel"):
            raise UsageError(f"by is {by!r}: layer, line or kernel")
        if program is not None and program not in PROGRAMS:
            raise UsageError(f"program is {program!r}: " + ", ".join(PROGRAMS))
        for one in PROGRAMS if program is None else (program,):
            if self._run is None:
                if (one, by) in self._read:
                    return list(self._read[one, by])
            else:
                try:
                    return self._run._profile_rows(one, by)
                except UsageError:
                    if program is not None:
                        raise
        raise UsageError("no call was timed" if program is None
                         else f"no call of {program!r} was timed")

    def layers(self, program: Optional[str] = None) -> List[ProfileRow]:
        """By layer of the model."""
        return self.rows("layer", program)

    def lines(self, program: Optional[str] = None) -> List[ProfileRow]:
        """By line of the model's text."""
        return self.rows("line", program)

    def kernels(self, program: Optional[str] = None) -> List[ProfileRow]:
        """By kernel."""
        return self.rows("kernel", program)

    def __str__(self) -> str:
        try:
            rows = self.rows()
        except UsageError as e:
            return str(e)
        wide = max(len(r.name) for r in rows)
        head = f"{'':{wide}}  {'':9}  {'us':>9}  {'least':>9}  bound by"
        return "\n".join([head, *(f"{r.name:{wide}}  {r.part:9}  {r.us:9.1f}  {r.bound_us:9.1f}  "
                                  f"{r.bound_by}" for r in rows)])


def read_rows(handle: Any, after: Any, program: str, by: str) -> List[ProfileRow]:
    """All rows of a program; UsageError: no call of it was timed."""
    rows: List[ProfileRow] = []
    row = capi.gnnc_profile_row()
    while True:
        status = lib.gnnc_run_profile_row(handle, encode(program), encode(by), len(rows),
                                          C.byref(row))
        if status and rows and lib.gnnc_status_code(status) == UsageError.code:
            lib.gnnc_status_free(status)  # there is no such row: that was the last
            return rows
        after(status)
        values = (getattr(row, name) for name in ProfileRow._fields)
        rows.append(ProfileRow(*(v.decode() if isinstance(v, bytes) else v for v in values)))
