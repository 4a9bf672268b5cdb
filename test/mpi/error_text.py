#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The mistakes of error_text.c through mpi4py: what its exceptions say is compared with error_text.txt.

Started by run-list.sh under mpi-rma-run, with two processes. Left out are mistakes that mpi4py itself refuses or cannot
make. With MPIRMA_STRICT=1 only those are made that strict mode alone finds. Rank 1 compares; the exit code is 1 if a text differs.
"""

import os
import re
import sys
from array import array

from mpi4py import MPI

ODD = 1 << 28  # no assert has this bit
WORLD, SELF = MPI.COMM_WORLD, MPI.COMM_SELF
INT, DOUBLE, SUM = MPI.INT, MPI.DOUBLE, MPI.SUM
rank = WORLD.Get_rank()
strict = os.environ.get("MPIRMA_STRICT") == "1"
later = os.environ.get("MPI_PATH", "").startswith("nodes")
x, y, z = (array("i", [0] * 64) for _ in range(3))
d = array("d", [0] * 8)
one, own = array("i", [0]), array("i", [0])

for comm in WORLD, SELF:
    comm.Set_errhandler(MPI.ERRORS_RETURN)
win = MPI.Win.Allocate(64, 4, comm=WORLD)
dynamic = MPI.Win.Create_dynamic(comm=WORLD)
alone = MPI.Win.Allocate(64, 4, comm=SELF)
for window in win, dynamic, alone:
    window.Set_errhandler(MPI.ERRORS_RETURN)
win.Set_name("halo")
dynamic.Attach(x)
everybody, self = WORLD.Get_group(), SELF.Get_group()
none = everybody.Incl([])
raw = INT.Create_contiguous(2)
pair = INT.Create_contiguous(2).Commit()
vector = INT.Create_vector(3, 1, 8).Commit()
mixed = MPI.Datatype.Create_struct([1, 1], [0, 8], [INT, DOUBLE]).Commit()
overlapping = INT.Create_indexed([2, 2], [0, 1]).Commit()
mine = MPI.Op.Create(lambda a, b, datatype: None, commute=True)
operations, others, found_strict = {}, {}, {}


def locked(name, call, window=win):
    """A call while target 0 is locked."""

    def make():
        window.Lock(0, MPI.LOCK_SHARED)
        try:
            call()
        finally:
            window.Unlock(0)

    operations[name] = make


def put(name, target=0, disp=0, count=1, kind=INT, origin=(x, 1, INT)):
    locked(name, lambda: win.Put(list(origin), target, (disp, count, kind)))


def get(name, target=0, disp=0, count=1, kind=INT, origin=(x, 1, INT)):
    locked(name, lambda: win.Get(list(origin), target, (disp, count, kind)))


def accumulate(name, target=0, disp=0, count=1, kind=INT, origin=(x, 1, INT), op=SUM):
    locked(name, lambda: win.Accumulate(list(origin), target, (disp, count, kind), op))


def get_accumulate(name, result=(y, 1, INT), count=1, origin=(x, 1, INT)):
    locked(name, lambda: win.Get_accumulate(list(origin), list(result), 0, (0, count, INT), SUM))


def fetch(name, target=0, disp=0, op=SUM, kind=INT):
    locked(name, lambda: win.Fetch_and_op([one, 1, kind], [own, 1, kind], target, disp, op))


def compare(name, target=0, disp=0, kind=INT):
    locked(name, lambda: win.Compare_and_swap([one, 1, kind], [own, 1, kind], [z, 1, kind], target, disp))


put("put_target_count", count=-7)
put("put_rank", target=2)
put("put_rank_negative", target=-99)
put("put_disp", disp=-3)
put("put_target_type_null", kind=MPI.DATATYPE_NULL)
put("put_type_uncommitted", kind=raw, origin=(x, 1, raw))
put("put_origin_type_uncommitted", count=2, origin=(x, 1, raw))
put("put_origin_null", count=2, origin=(MPI.BOTTOM, 2, INT))
put("put_sizes", kind=DOUBLE)
put("put_range", disp=16)
put("put_range_partly", disp=15, kind=DOUBLE, origin=(d, 1, DOUBLE))
put("put_range_vector", kind=vector, origin=(x, 3, INT))
put("put_range_far", disp=1 << 62)
get("get_rank", target=77)
get("get_origin_null", origin=(MPI.BOTTOM, 1, INT))
get("get_sizes", origin=(x, 3, INT))
get("get_range", count=17, origin=(x, 17, INT))
accumulate("accumulate_target_count", count=-1)
accumulate("accumulate_rank", target=2)
accumulate("accumulate_type_uncommitted", kind=raw, origin=(x, 2, INT))
accumulate("accumulate_type_mixed", kind=mixed, origin=(x, 1, mixed))
accumulate("accumulate_types_differ", count=2, origin=(d, 1, DOUBLE))
accumulate("accumulate_op_null", op=MPI.OP_NULL)
accumulate("accumulate_op_own", op=mine)
accumulate("accumulate_no_op", op=MPI.NO_OP)
accumulate("accumulate_band_double", kind=DOUBLE, origin=(d, 1, DOUBLE), op=MPI.BAND)
accumulate("accumulate_minloc_int", op=MPI.MINLOC)
accumulate("accumulate_origin_null", origin=(MPI.BOTTOM, 1, INT))
accumulate("accumulate_sizes", count=3, origin=(x, 2, INT))
accumulate("accumulate_range", disp=15, count=2, origin=(x, 2, INT))
get_accumulate("get_accumulate_types_differ", result=(d, 1, DOUBLE), count=2, origin=(x, 2, INT))
get_accumulate("get_accumulate_result_null", result=(MPI.BOTTOM, 1, INT))
get_accumulate("get_accumulate_sizes", count=2, origin=(x, 2, INT))
fetch("fetch_rank", target=2)
fetch("fetch_disp", disp=-1)
fetch("fetch_op_own", op=mine)
fetch("fetch_range", disp=16)
compare("compare_rank", target=2)
compare("compare_range", disp=16)
compare("compare_type_float", kind=MPI.FLOAT)
locked("rput_range", lambda: win.Rput([x, 1, INT], 0, (16, 1, INT)))
locked("unlock_another", lambda: win.Unlock(1))
locked("unlock_all_in_lock", lambda: win.Unlock_all())
locked("lock_twice", lambda: win.Lock(0, MPI.LOCK_SHARED))
locked("lock_all_in_lock", lambda: win.Lock_all())
locked("fence_in_lock", lambda: win.Fence())
locked("start_in_lock", lambda: win.Start(self))
locked("free_in_lock", lambda: win.Free())
locked("unlock_rank", lambda: win.Unlock(2))
locked("flush_rank", lambda: win.Flush(-33))
locked("put_not_attached", lambda: dynamic.Put([x, 1, INT], 0, (4096, 1, INT)), dynamic)
locked("rget_not_attached", lambda: dynamic.Rget([x, 2, INT], 0, (4096, 2, INT)).Wait(), dynamic)
locked(
    "rget_accumulate_not_attached",
    lambda: dynamic.Rget_accumulate([x, 1, INT], [y, 1, INT], 0, (4096, 1, INT), SUM).Wait(),
    dynamic,
)


def between(name, begin, call, end):
    """A call in an epoch of its own."""

    def make():
        begin()
        try:
            call()
        finally:
            end()

    others[name] = make


def put_one(target=0, window=win):
    window.Put([x, 1, INT], target, (0, 1, INT))


def fenced():
    win.Fence()
    win.Put([x, 1, INT], 0, (rank, 1, INT))


def started():
    win.Post(self)
    win.Start(self)


def ended():
    win.Complete()
    win.Wait()


def last_fence():
    win.Fence()
    win.Fence(MPI.MODE_NOSUCCEED)


def no_more():
    win.Fence(MPI.MODE_NOSUCCEED)


def nothing():
    pass


others["put_no_epoch"] = put_one
others["get_no_epoch"] = lambda: win.Get([x, 1, INT], 0, (0, 1, INT))
others["accumulate_no_epoch"] = lambda: win.Accumulate([x, 1, INT], 0, (0, 1, INT), SUM)
others["fetch_no_epoch"] = lambda: win.Fetch_and_op([one, 1, INT], [own, 1, INT], 0, 0, SUM)
others["rput_no_epoch"] = lambda: win.Rput([x, 1, INT], 0, (0, 1, INT))
between("put_not_locked", lambda: win.Lock(1, MPI.LOCK_SHARED), put_one, lambda: win.Unlock(1))
between("put_not_started", started, lambda: put_one(1 - rank), ended)
between("put_after_last_fence", last_fence, put_one, nothing)
others["unlock_not_locked"] = lambda: win.Unlock(0)
others["unlock_all_not_locked"] = win.Unlock_all
others["flush_not_locked"] = lambda: win.Flush(0)
others["flush_local_not_locked"] = lambda: win.Flush_local(0)
others["flush_all_not_locked"] = win.Flush_all
for name, call in ("lock", lambda: win.Lock(0, MPI.LOCK_SHARED)), ("unlock", lambda: win.Unlock(0)), ("fence", win.Fence):
    between(name + "_in_lock_all", win.Lock_all, call, win.Unlock_all)
for name, call in (
    ("lock", lambda: win.Lock(0, MPI.LOCK_SHARED)),
    ("lock_all", win.Lock_all),
    ("start", lambda: win.Start(self)),
    ("post", lambda: win.Post(self)),
):
    between(name + "_in_fence", fenced, call, no_more)
between("start_twice", lambda: win.Start(none), lambda: win.Start(none), win.Complete)
between("lock_in_start", lambda: win.Start(none), lambda: win.Lock(0, MPI.LOCK_SHARED), win.Complete)
others["complete_not_started"] = win.Complete
others["wait_not_posted"] = win.Wait
others["test_not_posted"] = win.Test
between("post_twice", lambda: win.Post(none), lambda: win.Post(none), win.Wait)
between("fence_exposed", lambda: win.Post(none), win.Fence, win.Wait)
others["lock_type"] = lambda: win.Lock(0, 99)
others["lock_rank"] = lambda: win.Lock(2, MPI.LOCK_SHARED)
others["lock_assert"] = lambda: win.Lock(0, MPI.LOCK_SHARED, ODD)
others["lock_all_assert"] = lambda: win.Lock_all(ODD)
others["fence_assert"] = lambda: win.Fence(ODD)
others["start_assert"] = lambda: win.Start(none, ODD)
others["post_assert"] = lambda: win.Post(none, ODD)
others["start_group_null"] = lambda: win.Start(MPI.GROUP_NULL)
others["post_group_null"] = lambda: win.Post(MPI.GROUP_NULL)
others["start_group_foreign"] = lambda: alone.Start(everybody)


others["create_unit"] = lambda: MPI.Win.Create(x, 0, comm=WORLD)
others["allocate_size"] = lambda: MPI.Win.Allocate(-8, 1, comm=WORLD)
others["allocate_shared_unit"] = lambda: MPI.Win.Allocate_shared(64, -4, comm=SELF)
others["allocate_size_of_another"] = lambda: MPI.Win.Allocate(-8 if rank == 0 else 64, 1, comm=WORLD)
others["attach_kind"] = lambda: win.Attach(y)
others["attach_twice"] = lambda: dynamic.Attach(memoryview(x)[8:9])
others["detach_kind"] = lambda: win.Detach(y)
others["detach_inside"] = lambda: dynamic.Detach(memoryview(x)[8:])
others["detach_nothing"] = lambda: dynamic.Detach(y)
others["query_kind"] = lambda: dynamic.Shared_query(0)
others["query_rank"] = lambda: win.Shared_query(2)
others["alloc_mem_size"] = lambda: MPI.Alloc_mem(-8)
others["free_mem_unknown"] = lambda: MPI.Free_mem(MPI.memory.fromaddress(MPI.Get_address(x), 8))


def conflicting():
    win.Lock(0, MPI.LOCK_SHARED)
    try:
        win.Put([x, 2, INT], 0, (4, 2, INT))
        win.Accumulate([x, 1, INT], 0, (5, 1, INT), SUM)
    finally:
        win.Unlock(0)


def bytes_twice():
    win.Lock(0, MPI.LOCK_SHARED)
    try:
        win.Put([x, 4, INT], 0, (0, 1, overlapping))
    finally:
        win.Unlock(0)


def preceded():
    alone.Fence()
    alone.Put([x, 1, INT], 0, (0, 1, INT))
    try:
        alone.Fence(MPI.MODE_NOPRECEDE)
    finally:
        alone.Fence(MPI.MODE_NOSUCCEED)


def locked_against_promise():
    info = MPI.Info.Create()
    info.Set("no_locks", "true")
    unlocked = MPI.Win.Allocate(4, 1, info, SELF)
    info.Free()
    unlocked.Set_errhandler(MPI.ERRORS_RETURN)
    try:
        unlocked.Lock(0, MPI.LOCK_SHARED)
    finally:
        unlocked.Free()


found_strict["strict_conflict"] = conflicting
found_strict["strict_twice"] = bytes_twice
found_strict["strict_noprecede"] = preceded
found_strict["strict_no_locks"] = locked_against_promise


def expected():
    """The library's texts, by name."""
    texts, name = {}, None
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "error_text.txt"), encoding="utf-8") as file:
        for line in file:
            if re.match("[a-z]", line):
                name = line.strip()
            elif line.startswith("  libmpi-rma: "):
                texts[name] = line[len("  libmpi-rma: ") :].rstrip("\n")
    return texts


def said(make):
    """What the exception of a mistake says, as error_text.sh writes it."""
    try:
        make()
    except MPI.Exception as error:
        text = str(error).replace("\n", " | ")
        text = re.sub("0x[0-9a-f]{9,}", "ADDRESS", text)
        text = re.sub("(MPI_Win_[a-z_]*)_c:", r"\1:", text)  # mpi4py 4 calls these
        text = re.sub(r"(MPI_LOCK_[A-Z]*) \([0-9]+\)", r"\1 (N)", text)
        cut = len(str(error)) >= MPI.MAX_ERROR_STRING - 1
        if error.Get_error_class() != MPI.Get_error_class(error.Get_error_class()):
            text += " (and its class is none)"
        return text, cut
    return "no error", False


texts = expected()
failed = 0
mistakes = found_strict if strict else {**operations, **others}
for name, make in mistakes.items():
    WORLD.Barrier()
    text, cut = said(make)
    want = texts[name + "_later" if later and name + "_later" in texts else name]
    if rank == 1 and (not want.startswith(text[:-20]) if cut else text != want):
        failed += 1
        print(f"error_text.py: {name}:\n  expected: {want}\n  seen:     {text}")
WORLD.Barrier()
dynamic.Detach(x)
for window in win, dynamic, alone:
    window.Free()
if rank == 1:
    print(f"error_text.py: {len(mistakes)} mistakes, {failed} texts differ")
sys.exit(1 if failed else 0)
