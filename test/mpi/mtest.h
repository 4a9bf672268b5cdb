/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mtest.h - what every MPI test program here shares.
 *
 * A program is MT_INIT, sections of checks, `return MT_FINISH();`. Each failed
 * check prints one line (file:line, rank, what was expected, what was seen);
 * MT_FINISH is collective and gives a non-zero exit on every rank if any rank
 * failed. MPI_COMM_WORLD, MPI_COMM_SELF and every window of mt_win_make have
 * MPI_ERRORS_RETURN set, so a failing call is reported and does not abort; a
 * window that a test creates by itself has the standard's fatal default.
 *
 * A watchdog ends a program that hangs (MTEST_TIMEOUT seconds, default 60) and
 * says in which section each rank was. Random numbers come from one seed, the
 * same on all ranks; it is printed, and MTEST_SEED replays it.
 *
 * Host collectives are slow where ranks outnumber cores: MT_INIT and MT_FINISH
 * use one each, mt_win_make one for allocated and dynamic windows, nothing else.
 */
#ifndef MRMA_TEST_MTEST_H
#define MRMA_TEST_MTEST_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int mt_rank; /* in MPI_COMM_WORLD */
extern int mt_size;

#define MT_INIT(argc, argv) mt_init(&(argc), &(argv), MPI_THREAD_SINGLE)
#define MT_INIT_THREAD(argc, argv, level) mt_init(&(argc), &(argv), level)
#define MT_FINISH() mt_finish()

/* Returns the thread level that the host gave. */
int mt_init(int *argc, char ***argv, int level);

/* The host's errors on comm, or on win, return from now on. On Intel MPI that takes a handler of
 * our own that does nothing: at MPI_ERRORS_RETURN release 2021.19 ends a program of the standard
 * ABI. (Not on others: MPICH 5.0 returns MPI_SUCCESS behind such a handler.) */
void mt_errors_return(MPI_Comm comm);
void mt_win_errors_return(MPI_Win win);

/* Collective: sums the failures, prints one closing line, MPI_Finalize. Returns the exit code. */
int mt_finish(void);

/* The same, with another function in place of MPI_Finalize. */
int mt_finish_by(int (*finalize)(void));

/* All that this process writes from now on goes to the file out.RANK in dir: a launcher that has
 * lost a rank may drop what the others write. */
void mt_write_to(const char *dir);

/* Name the section that runs now, for the watchdog and for failed checks; starts the timeout anew.
 */
void mt_section(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Seconds for each section from now on (MTEST_TIMEOUT wins when set). */
void mt_timeout(unsigned seconds);

/* AddressSanitizer keeps freed memory for a while, so a process seems to grow. */
#ifdef __SANITIZE_ADDRESS__
enum { MT_FREED_IS_KEPT = 1 };
#else
enum { MT_FREED_IS_KEPT = 0 };
#endif

/* One line on stdout from the calling rank: something that cannot run here, and why. */
void mt_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Count a failure on this rank and print its line. Use the macros. */
void mt_fail(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void mt_fail_cond(const char *cond); /* the condition's text, for the next mt_fail of this thread */
int mt_failures(void);               /* on this rank so far */

/* CHECK(cond, "expected %d, saw %d", a, b): true if the condition holds. */
#define CHECK(cond, ...) \
    ((cond) ? true : (mt_fail_cond(#cond), mt_fail(__FILE__, __LINE__, __VA_ARGS__), false))

/* MPI_STATUSES_IGNORE. A compiler that sees its value in a call warns that it is no array. */
MPI_Status *mt_statuses_ignore(void);

/* The call must return MPI_SUCCESS. */
#define MT_OK(call) mt_check_class(__FILE__, __LINE__, #call, (call), MPI_SUCCESS)

/* The call must return an error of this class. */
#define CHECK_ERR(call, errclass) mt_check_class(__FILE__, __LINE__, #call, (call), (errclass))
bool mt_check_class(const char *file, int line, const char *call, int code, int expected);
const char *mt_class_name(int errclass); /* "MPI_ERR_RMA_SYNC" */

/* Random numbers: mt_rand draws from a sequence that is the same on all ranks as
 * long as all of them draw alike; mt_rng gives an own sequence. */
struct mt_rng {
    uint64_t state;
};
extern uint64_t mt_seed;
struct mt_rng mt_rng(uint64_t stream);                 /* e.g. mt_rng(mt_rank) */
uint64_t mt_rng_next(struct mt_rng *rng);              /* 64 random bits */
uint64_t mt_rng_below(struct mt_rng *rng, uint64_t n); /* 0 .. n-1 */
uint64_t mt_rand(uint64_t n);                          /* shared sequence, 0 .. n-1 */

/* What MPIRMA_PATH forces: "auto" when unset. */
const char *mt_path(void);
bool mt_path_is(const char *path);

/* Is the word among the program's arguments? */
bool mt_is_asked(int argc, char **argv, const char *word);

/* Are the processes on several nodes, real ones or those of MPIRMA_RANKS_PER_NODE? Collective. */
bool mt_several_nodes(MPI_Comm comm);

/* Windows of every kind. */
enum mt_kind {
    MT_CREATE_MALLOC,
    MT_CREATE_ALLOC_MEM,
    MT_CREATE_ODD, /* at an odd address: of malloc, or of MPI_Alloc_mem where the mapped path is
                      forced */
    MT_ALLOCATE,
    MT_ALLOCATE_SHARED, /* all ranks must be on one node */
    MT_DYNAMIC,         /* one attached region of malloc memory */
    MT_KINDS
};
#define MT_FOR_KINDS(kind) for (enum mt_kind kind = 0; kind < MT_KINDS; kind++)
const char *mt_kind_name(enum mt_kind kind);

struct mt_win {
    MPI_Win win;
    enum mt_kind kind;
    int rank, size; /* in the window's communicator */
    MPI_Aint bytes; /* of this rank's part */
    int disp_unit;  /* this rank's; 1 for dynamic windows whatever was asked */
    char *base;     /* this rank's memory, zeroed; NULL may be seen for 0 bytes */
    MPI_Aint *addr; /* dynamic: address of each rank's memory */
    void *mem;      /* what mt_win_free frees */
};

/* Collective over comm. bytes may differ between ranks. The window returns errors. False, with a
 * printed line, if this kind is not available on the forced path (mapped: no malloc memory) or
 * over nodes (shared). Any other failure is a failed check, and false too. */
bool mt_win_make(struct mt_win *w, enum mt_kind kind, MPI_Aint bytes, int disp_unit, MPI_Comm comm);
bool mt_win_make_info(struct mt_win *w, enum mt_kind kind, MPI_Aint bytes, int disp_unit,
                      MPI_Info info, MPI_Comm comm);
void mt_win_free(struct mt_win *w); /* collective; frees the memory too */

/* Displacement for byte `offset` of the target's part, where all ranks passed the same disp_unit
 * (offset must be a multiple of it). */
MPI_Aint mt_disp(const struct mt_win *w, int target, MPI_Aint offset);

/* All of buf[0..n) is value; else a failed check naming the first difference. */
bool mt_check_bytes(const char *file, int line, const void *buf, size_t n, int value);
#define CHECK_BYTES(buf, n, value) mt_check_bytes(__FILE__, __LINE__, buf, n, value)

/* Does the window work: in one exclusive lock, put an int at the target, flush, get it back. No
 * other process is involved, so any rank may call it alone (others that store there must lock too).
 */
bool mt_put_works(const char *file, int line, MPI_Win win, int target, MPI_Aint disp, int value);
#define CHECK_PUT_WORKS(win, target, disp, value) \
    mt_put_works(__FILE__, __LINE__, win, target, disp, value)

/* MTEST_HOST_ONLY=1: the program runs on the host's own RMA; sections that are known to hang or
 * crash there are then left out with a printed line. Never set by the test driver. */
bool mt_host_only(const char *what);

/* Burn processor time without any MPI call. */
void mt_compute(double seconds);

#endif
