# SPDX-License-Identifier: BSD-3-Clause
"""What makes cases slow, as far as that is known."""
import enum
import re


class Cause(enum.Enum):
    """A cause, as the heading above its cases says it; they are listed in this order."""
    CREATE = "Creation: the window that carries attributes, name and error handler is the host's and costs what it costs there"
    COPIES = ("Copies: the call that puts or gets makes the copy itself, so that nothing overlaps, and it shares the memory's "
              "bandwidth with a target that computes; bare calls: plain copies of the same bytes")
    TARGETS = ("One origin, many targets: the origin copies for all of them, one after the other, where of messages each "
               "receiver copies its own")
    LINE = "One cache line: both processes change the same word, and between two operations stand two calls"
    ACCUMULATE = ("Accumulates on memory given to MPI_Win_create: what the target's processor would add is read and written by "
                  "the kernel, piece by piece; bare calls: read, add and write")
    ATOMICS = ("Atomic operations on memory given to MPI_Win_create: on MPICH a read and a write by the kernel, which need no "
               "target, where the host's are a message and an answer of a target that is inside MPI; on Open MPI both are "
               "that, and the target looks into the library's rings in turns with the host's; bare calls: a read and a write "
               "by the kernel")
    KERNEL = ("Memory given to MPI_Win_create: a system call for each operation, or a round trip through the ring, and one "
              "processor that copies; bare calls: process_vm_writev or process_vm_readv of the same bytes, in the halo "
              "exchange one for each strip and one for each flag")
    BARRIERS = ("Fences without asserts: all processes meet twice in a step, where messages meet once; bare calls: two "
                "barriers on a counter in shared memory, with copies between")
    SYNC = ("MPI_Win_sync: besides the fence in memory, which is all that MPICH does, the call makes progress where the "
            "process may get packets, so that who waits in a loop of it waits for no other thread")
    CROWD = ("More processes than processors: each barrier, grant or reply takes a change of processes, and a message has one "
             "less")
    SEGMENT = ("Memory that others map: the kernel makes the pages of shared memory one by one, and gives huge ones, where it "
               "does, to private memory only")
    FIRST = "The first call of a process: the library makes what it needs later, which the host has made in MPI_Init"
    ROUND_TRIP = ("Network, lock and flush: each takes a round trip, and the notice behind it goes one way more, where a "
                  "message goes one way; bare calls: the host's messages that this needs, a strip and an answer for each "
                  "neighbour in turn or for all at once, and a notice")
    MEETING = ("Network, fence without asserts: all processes meet before the data leaves, and messages need not; bare calls: "
               "a barrier and the messages, by the host")
    POST = ("Network, post and start: a post is on its way before the data leaves, and a message has none; bare calls: an "
            "empty message each way and the messages, by the host")
    MARKERS = ("Network, other fences: each process hears from all others how much they have put, those too that no strip "
               "goes to; why large strips take longer is not known")
    UNKNOWN = "Not known"


KERNEL_MEMORY = "malloc|dynamic"  # memory of others that only the kernel reaches
# The first entry whose patterns fit case and memory says the cause.
RULES = (
    (r"over tcp, lock", "", Cause.ROUND_TRIP),
    (r"over tcp, fence$", "", Cause.MEETING),
    (r"over tcp, pscw", "", Cause.POST),
    (r"over tcp, fence_", "", Cause.MARKERS),
    (r"^create", "", Cause.CREATE),
    (r"^memory, first", "", Cause.FIRST),
    (r"^memory", "", Cause.SEGMENT),
    (r"^calls, sync", "", Cause.SYNC),
    (r"^skew|^overlap", "", Cause.COPIES),
    (r"^many, targets", "", Cause.TARGETS),
    (r"^atomic|fetch_and_op", KERNEL_MEMORY, Cause.ATOMICS),
    (r"_both", "", Cause.LINE),
    (r"^halo exchange, fence$", "", Cause.BARRIERS),
    (r"^acc", KERNEL_MEMORY, Cause.ACCUMULATE),
    (r"", KERNEL_MEMORY, Cause.KERNEL),
)


def cause_of(case: str, memory: str, ranks: int, processors: int) -> Cause:
    """Returns the cause for a case with so many ranks on so many processors."""
    for in_case, in_memory, cause in RULES:
        if re.search(in_case, case) and (not in_memory or re.fullmatch(in_memory, memory)):
            return cause
    return Cause.CROWD if ranks > processors else Cause.UNKNOWN
