/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mtest.c - what every MPI test program here shares; see mtest.h.
 *
 * The watchdog handler runs on SIGALRM and uses only async-signal-safe calls:
 * the section's text is formatted when the section starts. It ends the process
 * with _exit, and the launcher then ends the job. MPI may be in use by threads:
 * failures are counted atomically and each line is written by one write(2).
 */
#include "mtest.h"

#include <signal.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define MAX_LINES 25 /* failures printed per rank */

int mt_rank;
int mt_size;
uint64_t mt_seed;

static atomic_int failures;
static unsigned timeout = 60;
static bool timeout_fixed;
static char program[64];
static char section[256] = "start";
static char alarm_text[512];
static struct mt_rng shared_rng;
static _Thread_local const char *failed_cond = "";

static void on_alarm(int sig)
{
    (void)sig;
    ssize_t n = write(2, alarm_text, strlen(alarm_text));
    (void)n;
    _exit(99);
}

static void start_watchdog(void)
{
    snprintf(alarm_text, sizeof alarm_text,
             "%s: rank %d: TIMEOUT after %u s in section \"%.200s\" (MTEST_SEED=%llu)\n", program,
             mt_rank, timeout, section, (unsigned long long)mt_seed);
    alarm(timeout);
}

void mt_section(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(section, sizeof section, fmt, ap);
    va_end(ap);
    if (getenv("MTEST_VERBOSE") != NULL) {
        fprintf(stderr, "%s: rank %d: %s\n", program, mt_rank, section);
    }
    start_watchdog();
}

void mt_write_to(const char *dir)
{
    char name[512];

    snprintf(name, sizeof name, "%s/out.%d", dir, mt_rank);
    if (freopen(name, "w", stdout) == NULL || dup2(1, 2) < 0) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

void mt_timeout(unsigned seconds)
{
    if (!timeout_fixed) {
        timeout = seconds;
    }
    start_watchdog();
}

static void first_settings(int argc, char **argv)
{
    const char *name = argc > 0 && argv != NULL ? argv[0] : "mtest";
    const char *slash = strrchr(name, '/');
    snprintf(program, sizeof program, "%s", slash != NULL ? slash + 1 : name);
    const char *t = getenv("MTEST_TIMEOUT");
    if (t != NULL && atoi(t) > 0) {
        timeout = (unsigned)atoi(t);
        timeout_fixed = true;
    }
    signal(SIGALRM, on_alarm);
    start_watchdog();
}

int mt_init(int *argc, char ***argv, int level)
{
    int provided = MPI_THREAD_SINGLE;

    first_settings(*argc, *argv);
    if (level == MPI_THREAD_SINGLE) {
        MPI_Init(argc, argv);
    } else {
        MPI_Init_thread(argc, argv, level, &provided);
    }
    mt_errors_return(MPI_COMM_WORLD);
    mt_errors_return(MPI_COMM_SELF);
    MPI_Comm_rank(MPI_COMM_WORLD, &mt_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mt_size);

    const char *seed = getenv("MTEST_SEED");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    mt_seed = seed != NULL ? strtoull(seed, NULL, 10)
                           : (uint64_t)now.tv_sec * 1000003u + (uint64_t)now.tv_nsec;
    MPI_Bcast(&mt_seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    shared_rng = mt_rng(0x5eed);
    mt_section("start");
    return provided;
}

int mt_finish(void)
{
    return mt_finish_by(MPI_Finalize);
}

int mt_finish_by(int (*finalize)(void))
{
    int mine = atomic_load(&failures), sum = 0;

    mt_section("finish");
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (mt_rank == 0) {
        printf("%s: %s: %d failed checks, %d ranks, path %s, MTEST_SEED=%llu\n", program,
               sum == 0 ? "passed" : "FAILED", sum, mt_size, mt_path(),
               (unsigned long long)mt_seed);
        fflush(stdout);
    }
    mt_section("MPI_Finalize");
    finalize();
    alarm(0);
    return sum == 0 ? 0 : 1;
}

void mt_skip(const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    printf("%s: rank %d: SKIP: %s\n", program, mt_rank, text);
    fflush(stdout);
}

void mt_fail_cond(const char *cond)
{
    failed_cond = cond;
}

void mt_fail(const char *file, int line, const char *fmt, ...)
{
    char text[1024], whole[1600];
    int nth = atomic_fetch_add(&failures, 1);
    const char *slash = strrchr(file, '/');

    if (nth > MAX_LINES) {
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (nth == MAX_LINES) {
        snprintf(text, sizeof text, "more failures are not printed");
    }
    int n = snprintf(whole, sizeof whole, "%s:%d: rank %d of %d: [%s] %.200s%s%s\n",
                     slash != NULL ? slash + 1 : file, line, mt_rank, mt_size, section, failed_cond,
                     failed_cond[0] != '\0' ? ": " : "", text);
    failed_cond = "";
    if (n > (int)sizeof whole - 1) {
        n = (int)sizeof whole - 1;
    }
    ssize_t done = write(2, whole, (size_t)n);
    (void)done;
}

MPI_Status *mt_statuses_ignore(void)
{
    return MPI_STATUSES_IGNORE;
}

int mt_failures(void)
{
    return atomic_load(&failures);
}

struct mt_rng mt_rng(uint64_t stream)
{
    struct mt_rng rng = {mt_seed ^ (stream * 0x9e3779b97f4a7c15u)};
    mt_rng_next(&rng);
    return rng;
}

/* A counter hashed by the finalizer of SplitMix64 (Steele, Lea and Flood, 2014). */
uint64_t mt_rng_next(struct mt_rng *rng)
{
    uint64_t z = rng->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t mt_rng_below(struct mt_rng *rng, uint64_t n)
{
    return mt_rng_next(rng) % n;
}

uint64_t mt_rand(uint64_t n)
{
    return mt_rng_below(&shared_rng, n);
}

const char *mt_path(void)
{
    const char *path = getenv("MPIRMA_PATH");
    return path != NULL && path[0] != '\0' ? path : "auto";
}

bool mt_path_is(const char *path)
{
    return strcmp(mt_path(), path) == 0;
}

const char *mt_kind_name(enum mt_kind kind)
{
    static const char *const names[MT_KINDS] = {
        [MT_CREATE_MALLOC] = "create/malloc", [MT_CREATE_ALLOC_MEM] = "create/alloc_mem",
        [MT_CREATE_ODD] = "create/odd",       [MT_ALLOCATE] = "allocate",
        [MT_ALLOCATE_SHARED] = "shared",      [MT_DYNAMIC] = "dynamic",
    };
    return names[kind];
}

static bool from_alloc_mem(enum mt_kind kind)
{
    return kind == MT_CREATE_ALLOC_MEM || (kind == MT_CREATE_ODD && mt_path_is("mapped"));
}

/* Memory for the kinds that bring their own. */
static bool get_memory(struct mt_win *w)
{
    size_t bytes = (size_t)w->bytes + 64;

    if (from_alloc_mem(w->kind)) {
        if (!MT_OK(MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &w->mem))) {
            return false;
        }
    } else if (!CHECK((w->mem = malloc(bytes)) != NULL, "malloc of %zu bytes", bytes)) {
        return false;
    }
    memset(w->mem, 0, bytes);
    w->base = (char *)w->mem + (w->kind == MT_CREATE_ODD ? 1 : 0);
    return true;
}

static void free_memory(struct mt_win *w)
{
    if (w->mem != NULL && from_alloc_mem(w->kind)) {
        MT_OK(MPI_Free_mem(w->mem));
    } else {
        free(w->mem);
    }
    w->mem = NULL;
}

static int make_dynamic(struct mt_win *w, MPI_Info info, MPI_Comm comm)
{
    MPI_Aint mine;
    int err = MPI_Win_create_dynamic(info, comm, &w->win);

    if (err != MPI_SUCCESS) {
        return err;
    }
    w->disp_unit = 1;
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    if (w->bytes > 0) {
        err = MPI_Win_attach(w->win, w->base, w->bytes);
    }
    w->addr = malloc((size_t)w->size * sizeof *w->addr);
    MPI_Get_address(w->base, &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, w->addr, 1, MPI_AINT, comm);
    if (err != MPI_SUCCESS) {
        MPI_Win_free(&w->win);
        free(w->addr);
        w->addr = NULL;
    }
    return err;
}

static int make_window(struct mt_win *w, MPI_Info info, MPI_Comm comm)
{
    switch (w->kind) {
    case MT_ALLOCATE:
        return MPI_Win_allocate(w->bytes, w->disp_unit, info, comm, &w->base, &w->win);
    case MT_ALLOCATE_SHARED:
        return MPI_Win_allocate_shared(w->bytes, w->disp_unit, info, comm, &w->base, &w->win);
    case MT_DYNAMIC:
        return make_dynamic(w, info, comm);
    default:
        return MPI_Win_create(w->base, w->bytes, w->disp_unit, info, comm, &w->win);
    }
}

bool mt_is_asked(int argc, char **argv, const char *word)
{
    bool is = false;
    for (int i = 1; i < argc; i++)
        is |= strcmp(argv[i], word) == 0;
    return is;
}

bool mt_several_nodes(MPI_Comm comm)
{
    const char *k = getenv("MPIRMA_RANKS_PER_NODE");
    MPI_Comm node;
    int here, size;

    MPI_Comm_size(comm, &size);
    if (k != NULL && atoi(k) > 0 && atoi(k) < size) {
        return true;
    }
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    return here < size;
}

/* A barrier that leaves the processor to others: MPICH's spins until its time is over. */
static void polite_barrier(MPI_Comm comm)
{
    MPI_Request request;
    int done = 0;

    MPI_Ibarrier(comm, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done) {
            sched_yield();
        }
    }
}

bool mt_win_make_info(struct mt_win *w, enum mt_kind kind, MPI_Aint bytes, int disp_unit,
                      MPI_Info info, MPI_Comm comm)
{
    bool own = kind != MT_ALLOCATE && kind != MT_ALLOCATE_SHARED;
    bool mapped = (kind == MT_CREATE_MALLOC || kind == MT_DYNAMIC) && mt_path_is("mapped");

    *w = (struct mt_win){.win = MPI_WIN_NULL, .kind = kind, .bytes = bytes, .disp_unit = disp_unit};
    MPI_Comm_rank(comm, &w->rank);
    MPI_Comm_size(comm, &w->size);
    if (kind == MT_ALLOCATE_SHARED && mt_several_nodes(comm)) {
        mt_skip("shared windows are not available over several nodes");
        return false;
    }
    if (own && !get_memory(w)) {
        return false;
    }
    MPI_Errhandler before;
    MPI_Comm_get_errhandler(comm, &before);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int err = make_window(w, info, comm);
    MPI_Comm_set_errhandler(comm, before);
    if (before != MPI_ERRORS_RETURN && before != MPI_ERRORS_ARE_FATAL) {
        MPI_Errhandler_free(&before);
    }
    if (err != MPI_SUCCESS) {
        if (mapped) {
            mt_skip("%s windows are not available on the mapped path", mt_kind_name(kind));
        } else {
            mt_check_class(__FILE__, __LINE__, mt_kind_name(kind), err, MPI_SUCCESS);
        }
        free_memory(w);
        return false;
    }
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    if (!own) {
        if (bytes > 0) {
            memset(w->base, 0, (size_t)bytes);
        }
        polite_barrier(comm); /* else a peer's first put may come before the memset */
    }
    return true;
}

bool mt_win_make(struct mt_win *w, enum mt_kind kind, MPI_Aint bytes, int disp_unit, MPI_Comm comm)
{
    return mt_win_make_info(w, kind, bytes, disp_unit, MPI_INFO_NULL, comm);
}

void mt_win_free(struct mt_win *w)
{
    /* Attached memory needs no detach: MPI_Win_free drops it, after all are done (MPI 4.1, 12.2.5).
     */
    MT_OK(MPI_Win_free(&w->win));
    free(w->addr);
    w->addr = NULL;
    free_memory(w);
}

MPI_Aint mt_disp(const struct mt_win *w, int target, MPI_Aint offset)
{
    return w->addr != NULL ? MPI_Aint_add(w->addr[target], offset) : offset / w->disp_unit;
}

bool mt_check_bytes(const char *file, int line, const void *buf, size_t n, int value)
{
    const unsigned char *p = buf;

    for (size_t i = 0; i < n; i++) {
        if (p[i] != (unsigned char)value) {
            mt_fail(file, line, "byte %zu of %zu: expected 0x%02x, saw 0x%02x", i, n,
                    (unsigned char)value, p[i]);
            return false;
        }
    }
    return true;
}

bool mt_put_works(const char *file, int line, MPI_Win win, int target, MPI_Aint disp, int value)
{
    int origin = value, back = ~value;
    int bad = 0;

    bad += !mt_check_class(file, line, "MPI_Win_lock",
                           MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win), 0);
    bad += !mt_check_class(file, line, "MPI_Put",
                           MPI_Put(&origin, 1, MPI_INT, target, disp, 1, MPI_INT, win), 0);
    bad += !mt_check_class(file, line, "MPI_Win_flush", MPI_Win_flush(target, win), 0);
    bad += !mt_check_class(file, line, "MPI_Get",
                           MPI_Get(&back, 1, MPI_INT, target, disp, 1, MPI_INT, win), 0);
    bad += !mt_check_class(file, line, "MPI_Win_unlock", MPI_Win_unlock(target, win), 0);
    if (bad == 0 && back != value) {
        mt_fail(file, line, "put to rank %d: expected %d, got back %d", target, value, back);
        return false;
    }
    return bad == 0;
}

bool mt_host_only(const char *what)
{
    if (getenv("MTEST_HOST_ONLY") == NULL) {
        return false;
    }
    mt_skip("%s: left out on the host's own RMA", what);
    return true;
}

void mt_compute(double seconds)
{
    struct timespec start, now;

    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) * 1e-9 <
             seconds);
}
