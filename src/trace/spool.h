/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spool.h - the files that a traced process leaves, one for each of its threads.
 *
 * With MPIRMA_TRACE=DIR every thread of a process that makes an event, the agent too, has a file
 * DIR/spool/RANK-THREAD: a header, then records of one size in the order of time. The file grows in
 * pieces that are all zeros and is mapped while it is written, so what a process has recorded stays
 * readable however the process ends: the records end at the first one whose kind is TRACE_END.
 * mpi-rma-trace makes an OTF2 archive of the files of all processes; both include this header and
 * spool_pack.h, and nothing else describes the format. Numbers are those of the machine; the magic
 * number tells a reader on another kind of machine that it cannot read them.
 *
 * Ranks in records are ranks in the window; TRACE_WIN_CREATE tells which rank the process itself
 * has there. Times are nanoseconds of the monotonic clock of the process's machine.
 */
#ifndef MRMA_TRACE_SPOOL_H
#define MRMA_TRACE_SPOOL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SPOOL_MAGIC UINT64_C(0x31304152544d5052)
enum { SPOOL_VERSION = 10, SPOOL_TEXT = 64 };

enum spool_thread { SPOOL_APPLICATION = 1, SPOOL_AGENT = 2 };

struct spool_head {
    uint64_t magic;
    uint32_t version;
    uint32_t record_size;      /* sizeof(struct trace_record) */
    uint32_t rank, nproc;      /* in MPI_COMM_WORLD */
    uint32_t thread;           /* number of the thread in the process, from 0 */
    uint32_t thread_kind;      /* enum spool_thread */
    uint64_t machine;          /* the same for processes that share a clock */
    uint64_t start;            /* clock when the file was made, ns */
    int64_t to_realtime;       /* nanoseconds to add to the clock for the time since 1970 */
    char hostname[SPOOL_TEXT]; /* ends with 0, like the next field */
    char host_mpi[SPOOL_TEXT]; /* version of the MPI library below */
    uint64_t pid;              /* id of the process on its machine; 0: not recorded */
    uint64_t closed;           /* 1: the thread's records are all there, to its end; 0: it may have
                                  gone on without recording, or was killed */
    uint64_t full;             /* errno with which no room could be made for a record, after which
                                  the thread records nothing; 0: there was always room */
    uint64_t threads;         /* in the file of thread 0: how many threads of the process have begun
                                 a file so far; 0: not recorded */
    uint32_t cpus, first_cpu; /* processors on which the process may run, and the lowest; 0, 0: not
                                 recorded */
    char program[24];         /* its name, cut to fit, ends with 0; "": not recorded */
};

/* Kinds of record, and what their fields mean, besides time. Fields that are not named are 0. */
enum trace_kind {
    TRACE_END = 0,    /* no record: here the file ends */
    TRACE_ENTER,      /* a call begins; what: enum trace_call, or TRACE_CALL_LAST and above: as a
                         TRACE_NAME of the process says, win: its window where it has one already,
                         peer: of lock, unlock and flush the target, -1: all, id: the address in the
                         program to which the call returns, 0: not known. Of a function of the host,
                         where accesses are recorded: bytes: the number of its communicator at this
                         process (TRACE_COMM), 0: it has none or that is not known, peer: rank there
                         to which a message goes, or from which it comes, -1: not known */
    TRACE_LEAVE,      /* and returns; what as there */
    TRACE_WIN_CREATE, /* inside the creating call. win, id: the same number at all its processes and
                         no other window's, peer: this process's rank in it, arg: how many ranks,
                         what: enum trace_flavor, bytes: of this process's memory */
    TRACE_WIN_FREE,   /* inside MPI_Win_free, when the window is gone. win */
    TRACE_OP,   /* an operation is issued, inside its call. win, peer: target, id: its number, by
                   which this process names it from now on and which only grows, bytes: at the
                   target, what: enum trace_op, arg: enum trace_path, TRACE_OP_REQUEST for a
                   request-based one, of an atomic one whose accesses are recorded the logarithm of
                   the bytes of an element, shifted by TRACE_OP_ELEMENT_SHIFT, and, shifted by
                   TRACE_OP_NOTIFY_SHIFT, 1 + the number of the notification that it raises. Without
                   bytes it is a notification alone */
    TRACE_DONE, /* the operation id is complete at the target. win, peer, id; time is when this
                   process knows it: at once where it has copied itself */
    TRACE_DONE_ALL,     /* an acknowledgement or a reply has come, so all to peer whose number is
                           not greater than id are complete there. win, peer, id. In the file of the
                           thread that received it, maybe the agent's */
    TRACE_REQUEST_DONE, /* a call of the Wait or Test family has completed the request of operation
                           id */
    TRACE_REQUEST_TEST, /* a call of the Test family has found that request not complete */
    TRACE_FENCE,        /* inside MPI_Win_fence. win, arg: asserts (enum trace_assert) */
    TRACE_START,        /* inside MPI_Win_start. win, arg: asserts, id: number of ranks; their list
                           follows in TRACE_RANKS records */
    TRACE_POST,         /* the same for MPI_Win_post */
    TRACE_RANKS,        /* at most TRACE_RANKS_MAX ranks of the record before: struct trace_ranks */
    TRACE_TEST,         /* inside MPI_Win_test. win, arg: its flag */
    TRACE_LOCK,         /* inside MPI_Win_lock or _lock_all. win, peer: target, -1 all, what: enum
                           trace_lock */
    TRACE_LOCKED,    /* the lock on peer (-1: all) is known to be granted; win, peer. In the file of
                        the thread that was told, maybe the agent's. None for a lock that was given
                        back before anything was asked of its target */
    TRACE_UNLOCK,    /* the lock on peer (-1: all) is given back; win, peer */
    TRACE_POST_WAIT, /* an access waits for the post, or the fence, of its target. win, peer */
    TRACE_POST_SEEN, /* and has it */
    TRACE_SERVE,  /* at a target: packets of an origin are served. win, peer: the origin. This and
                     what follows to TRACE_LOCK_GRANT may come before this process's own
                     TRACE_WIN_CREATE, and after TRACE_WIN_FREE */
    TRACE_SERVED, /* done; arg: operations, bytes: their data */
    TRACE_PARK, /* a packet waits for its epoch. win, peer: origin, arg: how many it has waiting */
    TRACE_UNPARK,     /* one that waited is served next. win, peer */
    TRACE_LOCK_QUEUE, /* at a target: a request by packet waits for the lock. win, peer: origin,
                         arg: how many wait */
    TRACE_LOCK_GRANT, /* and has it; win, peer, arg: how many still wait */
    TRACE_SLEEP,      /* this thread sleeps until somebody wakes it */
    TRACE_AWAKE,      /* it runs again */
    TRACE_WAKE_AGENT, /* this process wakes the agent of peer; win is 0: peer is a rank of
                         MPI_COMM_WORLD, -1: that whose pid is id, on this process's machine */
    TRACE_NO_CREDIT,  /* a packet to another node cannot leave before the receiver gives room; peer
                         as  there, id: of the connection */
    TRACE_CREDIT,     /* and can, in the same connection; any thread */
    TRACE_WRITE,      /* the trace itself needed time here, up to time; bytes: nanoseconds of it */
    TRACE_CLOCK,  /* bytes (as int64_t): nanoseconds to add to this machine's clock at time for that
                     of the machine of rank 0; id: half the round trip in which it was measured */
    TRACE_NAME,   /* a function of MPI that is not among TRACE_CALLS: struct trace_name */
    TRACE_TAKEN,  /* this process takes notifications that have come. win, peer: source, -1: any,
                     arg: their number, bytes: how many */
    TRACE_OBJECT, /* an object has been found in the process's memory: struct trace_object. Its path
                     follows in TRACE_TEXT records. It counts until another is found where it is */
    TRACE_WIN_NAME, /* MPI_Win_set_name has named the window. win, id: as in TRACE_WIN_CREATE. The
                       name follows in TRACE_TEXT records */
    TRACE_TEXT,     /* a piece of the text of the record before: struct trace_text */
    TRACE_REGION_NAME,  /* the program has begun a region of this name for the first time in this
                           process; id: its number there. The name follows in TRACE_TEXT records */
    TRACE_REGION_BEGIN, /* a region of the program begins; id: its number, arg: how many are open in
                           this thread then, at most TRACE_REGIONS_DEEP */
    TRACE_REGION_END,   /* and ends; arg as there */
    TRACE_RECORDING, /* the process records nothing from here on (arg 0), or does again (arg 1): all
                        threads. In between there are only windows, names, objects, clocks, and the
                        ends of calls and regions that have begun before */
    /* Messages, with mpi-rma-run --trace-all. Win is no window, but the number of a communicator at
       this process, and peer a rank in it. */
    TRACE_COMM, /* a communicator: win, id: the same number at all its processes and no other's,
                   peer: this process's rank in it, arg: how many ranks */
    TRACE_SEND, /* a message is sent, inside its call, before that does it. win, peer, arg: its tag,
                   bytes, id: of its request, not 0 and never used again, 0: it has none */
    TRACE_SENT, /* the request id of a message that was sent is complete */
    TRACE_RECEIVE,    /* a receive with request id begins, inside its call. win */
    TRACE_RECEIVED,   /* a message is received: win, peer, arg, bytes as above, id: 0, or of the
                         request, which is complete */
    TRACE_CANCELLED,  /* the request id is complete, because it was cancelled */
    TRACE_COLLECTIVE, /* what the call that has begun last does together with all of a communicator:
                         win, what: enum trace_collective, peer: root, -1: none, bytes: handed in,
                         id: bytes handed out at this process */
    TRACE_ACCESS,     /* memory of the record before, which is an operation, a message (TRACE_SEND,
                         TRACE_RECEIVE, or TRACE_RECEIVED without a request), or a window that has
                         been made: struct trace_access. Recorded only on request */
    /* What these two stand for, and the numbers that share a field of theirs: spool_pack.h. */
    TRACE_CALL,    /* a call begins, and returns with nothing between: TRACE_ENTER, but arg: how
                      long it takes */
    TRACE_CALL_OP, /* a call that issues an operation and completes it: time, win, id: those of its
                      TRACE_ENTER, peer: of its TRACE_OP, what: that of its TRACE_ENTER and of its
                      TRACE_OP, arg: of its TRACE_OP, and how much greater its number is than that
                      of the file's operation before it, bytes: in the lower half of its TRACE_OP,
                      in the upper half how long the call takes */
    TRACE_KINDS
};

/* Collective operations, in OTF2's order. */
enum trace_collective {
    TRACE_BARRIER,
    TRACE_BCAST,
    TRACE_GATHER,
    TRACE_GATHERV,
    TRACE_SCATTER,
    TRACE_SCATTERV,
    TRACE_ALLGATHER,
    TRACE_ALLGATHERV,
    TRACE_ALLTOALL,
    TRACE_ALLTOALLV,
    TRACE_ALLTOALLW,
    TRACE_ALLREDUCE,
    TRACE_REDUCE,
    TRACE_REDUCE_SCATTER,
    TRACE_SCAN,
    TRACE_EXSCAN,
    TRACE_REDUCE_SCATTER_BLOCK,
    TRACE_COLLECTIVES
};

enum {                               /* limits of regions */
       TRACE_REGIONS_DEEP = 64,      /* so many are open at a time in one thread */
       TRACE_REGION_NAMES = 1 << 16, /* in one process */
       TRACE_REGION_NAME_MAX = 128   /* bytes, the final null character included */
};

enum trace_flavor { TRACE_CREATE = 1, TRACE_ALLOCATE, TRACE_SHARED, TRACE_DYNAMIC };
enum trace_op {
    TRACE_PUT = 1,
    TRACE_GET,
    TRACE_ACCUMULATE,
    TRACE_GET_ACCUMULATE,
    TRACE_FETCH_AND_OP,
    TRACE_COMPARE_AND_SWAP
};
enum trace_path { TRACE_MAPPED = 1, TRACE_ASSISTED, TRACE_PACKETS, TRACE_NETWORK };
enum {
    TRACE_OP_PATH = 15,
    TRACE_OP_REQUEST = 16,
    TRACE_OP_ELEMENT_SHIFT = 5,
    TRACE_OP_ELEMENT = 7, /* bits */
    TRACE_OP_NOTIFY_SHIFT = 8
};
enum trace_lock {
    TRACE_LOCK_SHARED = 1,
    TRACE_LOCK_EXCLUSIVE,
    TRACE_LOCK_ALL,
    TRACE_LOCK_NOCHECK = 16
};
enum trace_assert { /* the bits of rma.h, not those of the host */
                    TRACE_NOCHECK = 1,
                    TRACE_NOSTORE = 2,
                    TRACE_NOPUT = 4,
                    TRACE_NOPRECEDE = 8,
                    TRACE_NOSUCCEED = 16
};

/* Every function that is recorded by ENTER and LEAVE: those of MPI, then those of mpi-rma.h, whose
 * names begin with MPIRMA_. */
/* clang-format off */
#define TRACE_CALLS(X) \
    X(Win_create) X(Win_allocate) X(Win_allocate_shared) X(Win_create_dynamic) X(Win_attach) \
    X(Win_detach) X(Win_free) X(Win_shared_query) X(Put) X(Get) X(Accumulate) \
    X(Get_accumulate) X(Fetch_and_op) X(Compare_and_swap) X(Rput) X(Rget) X(Raccumulate) \
    X(Rget_accumulate) X(Win_fence) X(Win_start) X(Win_complete) X(Win_post) X(Win_wait) \
    X(Win_test) X(Win_lock) X(Win_unlock) X(Win_lock_all) X(Win_unlock_all) X(Win_flush) \
    X(Win_flush_all) X(Win_flush_local) X(Win_flush_local_all) X(Win_sync) X(Wait) X(Waitany) \
    X(Waitall) X(Waitsome) X(Test) X(Testany) X(Testall) X(Testsome) X(Request_get_status)
#define TRACE_EXTENSION_CALLS(X) \
    X(Put_notify) X(Get_notify) X(Accumulate_notify) X(Notify_read) X(Notify_wait) X(Notify_reset) \
    X(Notify_test) X(Notify_testany) X(Notify_waitany)
/* clang-format on */

enum trace_call {
    TRACE_CALL_NONE,
#define TRACE_CALL_NUMBER(name) TRACE_CALL_##name,
    TRACE_CALLS(TRACE_CALL_NUMBER) TRACE_EXTENSION_CALLS(TRACE_CALL_NUMBER)
#undef TRACE_CALL_NUMBER
        TRACE_CALL_LAST
};

struct trace_record {
    uint64_t time;
    uint16_t kind; /* enum trace_kind; written last */
    uint16_t what;
    uint32_t win; /* number of the window at this process, not 0; used again after its end */
    int32_t peer;
    uint32_t arg;
    uint64_t id, bytes;
};

enum { TRACE_RANKS_MAX = 7 };
struct trace_ranks {
    uint64_t time;
    uint16_t kind, n;
    int32_t rank[TRACE_RANKS_MAX];
};

enum { TRACE_NAMES_MAX = 1024 }; /* the field what is less than TRACE_CALL_LAST plus this */
struct trace_name {
    uint64_t time;
    uint16_t kind, what;
    char text[28]; /* without MPI_; ends with 0 unless it is full */
};

enum { TRACE_OBJECT_PAGE = 4096, TRACE_TEXT_MAX = 28 };
struct trace_object {
    uint64_t time;
    uint16_t kind, unused;
    uint32_t pages; /* of TRACE_OBJECT_PAGE bytes, from begin on */
    uint64_t begin; /* address of its first byte */
    uint64_t base;  /* to subtract from an address for the one in the file */
    uint64_t build; /* spool_build_id */
};

struct trace_text {
    uint64_t time;
    uint16_t kind, length; /* bytes of text that count */
    char text[TRACE_TEXT_MAX];
};

/* A struct trace_access is n blocks of length bytes, stride apart, of which the first begins at its
 * address. An operation or a message has as many of these as are needed, at its target and in the
 * memory of its own process. */
enum trace_side {
    TRACE_AT_TARGET = 1, /* in the memory of the target's process */
    TRACE_LOADED,        /* read here */
    TRACE_STORED,        /* written here */
    TRACE_OF_WINDOW      /* this process's memory of the window; with TRACE_SAME_OP as its hint */
};
enum {
    TRACE_SIDE = 7,          /* bits of the side */
    TRACE_INEXACT = 8,       /* one block from the first byte to the last, which may have gaps */
    TRACE_SAME_OP = 16,      /* for a window: accumulate_ops is same_op */
    TRACE_ACC_OP_SHIFT = 4,  /* at the target of an atomic operation: enum trace_acc_op, 5 bits, */
    TRACE_ACC_TYPE_SHIFT = 9 /* and a number of the elements' type */
};
/* Operations of accumulates; 0: MPI_Compare_and_swap. */
/* clang-format off */
#define TRACE_ACC_OPS(X) \
    X(SUM) X(PROD) X(MIN) X(MAX) X(LAND) X(LOR) X(LXOR) X(BAND) X(BOR) X(BXOR) X(MINLOC) \
    X(MAXLOC) X(REPLACE) X(NO_OP)
/* clang-format on */
enum trace_acc_op {
    TRACE_ACC_COMPARE_AND_SWAP,
#define TRACE_ACC_NUMBER(name) TRACE_ACC_##name,
    TRACE_ACC_OPS(TRACE_ACC_NUMBER)
#undef TRACE_ACC_NUMBER
        TRACE_ACC_LAST
};
struct trace_access {
    uint64_t time;
    uint16_t kind, what; /* what: enum trace_side, and the bits above it */
    uint32_t n;
    uint64_t begin, length;
    int64_t stride;
};

_Static_assert(sizeof(struct trace_access) == 40, "records of one size");
_Static_assert(sizeof(struct trace_record) == 40 && sizeof(struct trace_name) == 40 &&
                   sizeof(struct trace_ranks) == 40 && sizeof(struct trace_object) == 40 &&
                   sizeof(struct trace_text) == 40,
               "records of one size");

/* spool_build_id returns the first bytes of the build id in an object's segment of notes, which is
 * aligned as ELF has it by 4; 0: there is none. */
static inline uint64_t spool_build_id(const char *notes, size_t size)
{
    enum { BUILD_ID = 3 };
    struct {
        uint32_t name, content, type;
    } head;

    while (size > sizeof head) {
        uint64_t build = 0;

        memcpy(&head, notes, sizeof head);
        const size_t name = ((size_t)head.name + 3) & ~(size_t)3;
        const size_t all = sizeof head + name + (((size_t)head.content + 3) & ~(size_t)3);
        if (all > size)
            return 0;
        if (head.type == BUILD_ID && head.name == sizeof "GNU" && head.content >= sizeof build &&
            memcmp(notes + sizeof head, "GNU", sizeof "GNU") == 0) {
            memcpy(&build, notes + sizeof head + name, sizeof build);
            return build;
        }
        notes += all;
        size -= all;
    }
    return 0;
}

#endif
