/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * share_create.c - memory given to MPI_Win_create that becomes shared where it is (info key
 * mpirma_share_create, MPIRMA_SHARE_CREATE): what it is good for, what it must not change, where it
 * is refused.
 *
 * On paths that do not map memory (MPIRMA_PATH, processes alone on their nodes) nothing may become
 * shared. With the argument "open" windows stay open at MPI_Finalize.
 */
#define _GNU_SOURCE 1
#include "mtest.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATTERN(i) ((unsigned char)((i)*13 + 5))

static bool possible; /* memory can become shared here */
static char static_memory[20000];

/* Other threads of the process, the host's, have to be stopped for it. */
static bool tracing_allowed(void)
{
    int status = 1;
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    const pid_t parent = getpid(), child = fork();
    if (child == 0)
        _exit(ptrace(PTRACE_SEIZE, parent, NULL, NULL) != 0);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Bytes of shared mappings in a range of this process. */
static size_t shared_bytes(const void *at, size_t len)
{
    const unsigned long lo = (unsigned long)at, hi = lo + len;
    unsigned long start, end;
    char line[4608], perms[5];
    size_t sum = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "%lx-%lx %4s", &start, &end, perms) == 3 && start < hi && end > lo &&
            perms[3] == 's')
            sum += (end < hi ? end : hi) - (start > lo ? start : lo);
    if (f != NULL)
        fclose(f);
    return sum;
}

static bool is_filled(const unsigned char *p, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (p[i] != PATTERN(i))
            return false;
    return true;
}

static void fill(unsigned char *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        p[i] = PATTERN(i);
}

static unsigned char *filled(size_t len)
{
    unsigned char *p = malloc(len);
    fill(p, len);
    return p;
}

static const char *info_of(MPI_Win win, const char *key)
{
    static char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info info;
    int there = 0;
    MT_OK(MPI_Win_get_info(win, &info));
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there);
    MPI_Info_free(&info);
    return there ? value : "(none)";
}

/* key NULL: as the environment says. */
static MPI_Win make(void *base, size_t len, const char *key, MPI_Comm comm)
{
    MPI_Win win = MPI_WIN_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    if (key != NULL)
        MPI_Info_set(info, "mpirma_share_create", key);
    MT_OK(MPI_Win_create(base, (MPI_Aint)len, 1, info, comm, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Info_free(&info);
    return win;
}

static void check_shared(MPI_Win win, const void *base, size_t len, bool expected)
{
    const size_t shared = shared_bytes(base, len);
    expected = expected && possible;
    CHECK(shared == (expected ? len : 0), "%zu of %zu bytes are shared memory, expected %d", shared,
          len, expected);
    CHECK(strcmp(info_of(win, "mpirma_share_create"), expected ? "true" : "false") == 0,
          "mpirma_share_create is %s", info_of(win, "mpirma_share_create"));
    if (expected) /* on other nodes by packets */
        CHECK(strstr(info_of(win, "mpirma_path"), "mapped") &&
                  !strstr(info_of(win, "mpirma_path"), "cma"),
              "the path is %s", info_of(win, "mpirma_path"));
}

/* ---- operations, host's messages and children ---- */

/* Each rank works on the next one's memory: bytes 0 to 31, elements of 8. */
static void operate(MPI_Win win)
{
    const int next = (mt_rank + 1) % mt_size;
    int64_t value = 1000 + mt_rank, sum = 5, old = -1, got = -1, two = 2, zero = 0;
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win));
    MT_OK(MPI_Put(&value, 1, MPI_INT64_T, next, 0, 1, MPI_INT64_T, win));
    MT_OK(MPI_Put(&zero, 1, MPI_INT64_T, next, 8, 1, MPI_INT64_T, win));
    MT_OK(MPI_Win_flush(next, win));
    MT_OK(MPI_Accumulate(&sum, 1, MPI_INT64_T, next, 8, 1, MPI_INT64_T, MPI_SUM, win));
    MT_OK(MPI_Fetch_and_op(&two, &old, MPI_INT64_T, next, 8, MPI_SUM, win));
    MT_OK(MPI_Win_flush(next, win));
    MT_OK(MPI_Get(&got, 1, MPI_INT64_T, next, 0, 1, MPI_INT64_T, win));
    MT_OK(MPI_Win_unlock(next, win));
    CHECK(got == value && old == 5, "got %lld, fetched %lld", (long long)got, (long long)old);
}

static void check_operated(const void *base)
{
    int64_t word[2];
    memcpy(word, base, sizeof word);
    CHECK(word[0] == 1000 + (mt_rank + mt_size - 1) % mt_size && word[1] == 7,
          "memory has %lld, %lld", (long long)word[0], (long long)word[1]);
}

/* The host sends from and receives into the memory. */
static void host_messages(unsigned char *p, size_t len)
{
    const int next = (mt_rank + 1) % mt_size, prev = (mt_rank + mt_size - 1) % mt_size;
    unsigned char *other = malloc(len);
    MPI_Request request;
    MT_OK(MPI_Irecv(other, (int)len, MPI_BYTE, prev, 1, MPI_COMM_WORLD, &request));
    MT_OK(MPI_Send(p, (int)len, MPI_BYTE, next, 1, MPI_COMM_WORLD));
    MT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(is_filled(other, 32, len), "what the host sent from the memory is not what was there");
    for (size_t i = 32; i < len; i++)
        other[i] ^= 0xff;
    MT_OK(MPI_Irecv(p + 32, (int)len - 32, MPI_BYTE, prev, 2, MPI_COMM_WORLD, &request));
    MT_OK(MPI_Send(other + 32, (int)len - 32, MPI_BYTE, next, 2, MPI_COMM_WORLD));
    MT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (size_t i = 32; i < len; i++)
        p[i] ^= 0xff;
    CHECK(is_filled(p, 32, len), "what the host received into the memory is not what was sent");
    free(other);
}

/* A child has a copy, with malloc's data in it, too. */
static void child(unsigned char *p, size_t len)
{
    int go[2], status = -1;
    char byte;
    if (!CHECK(pipe(go) == 0, "no pipe"))
        return;
    const pid_t pid = fork();
    if (pid == 0) {
        close(go[1]);
        const bool told = read(go[0], &byte, 1) == 0; /* the parent has stored */
        const bool same = is_filled(p, 32, len) && shared_bytes(p, len) == 0;
        memset(p, 1, len);
        p = realloc(p, 2 * len + 100);
        free(p);
        free(malloc(len));
        _exit(!told ? 2 : !same);
    }
    p[len - 1] ^= 0xff;
    close(go[1]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    close(go[0]);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with status %#x",
          (unsigned)status);
    p[len - 1] ^= 0xff;
    CHECK(is_filled(p, 32, len), "the child has changed the parent's memory");
}

static void life(size_t len)
{
    unsigned char *p = filled(len);
    mt_section("%zu bytes", len);
    MPI_Win win = make(p, len, "true", MPI_COMM_WORLD);
    check_shared(win, p, len, true);
    CHECK(is_filled(p, 0, len), "creation has changed the memory");
    MT_OK(MPI_Win_fence(0, win)); /* all have looked */
    operate(win);
    MT_OK(MPI_Win_fence(0, win));
    check_operated(p);
    host_messages(p, len);
    child(p, len);
    MT_OK(MPI_Win_fence(0, win));
    operate(win);
    MT_OK(MPI_Win_free(&win));
    check_operated(p);
    CHECK(is_filled(p, 32, len), "the memory has changed");
    CHECK(shared_bytes(p, len) == 0, "the memory is still shared");
    p = realloc(p, 3 * len + 5000);
    check_operated(p);
    CHECK(is_filled(p, 32, len), "realloc has changed the memory");
    free(p);
}

/* ---- several windows ---- */

static void neighbours(void)
{
    enum { N = 8, LEN = 1500 };
    unsigned char *p[N];
    MPI_Win win[N], over;
    mt_section("windows on neighbouring and on the same memory");
    for (int i = 0; i < N; i++)
        p[i] = filled(LEN);
    for (int i = 0; i < N; i++)
        win[i] = make(p[i], LEN, "true", MPI_COMM_WORLD);
    over = make(p[3] + 8, LEN - 8, "false", MPI_COMM_WORLD); /* holds what is shared */
    for (int i = 0; i < N; i++) {
        check_shared(win[i], p[i], LEN, true);
        MT_OK(MPI_Win_fence(0, win[i]));
        operate(win[i]);
        MT_OK(MPI_Win_fence(0, win[i]));
        check_operated(p[i]);
    }
    for (int i = 0; i < N; i += 2)
        MT_OK(MPI_Win_free(&win[i]));
    for (int i = 1; i < N; i += 2) {
        check_shared(win[i], p[i], LEN, true);
        MT_OK(MPI_Win_fence(0, win[i]));
        operate(win[i]);
        MT_OK(MPI_Win_free(&win[i]));
        check_operated(p[i]);
    }
    check_shared(over, p[3] + 8, LEN - 8, true);
    MT_OK(MPI_Win_free(&over));
    for (int i = 0; i < N; i++) {
        CHECK(is_filled(p[i], 32, LEN), "memory %d has changed", i);
        CHECK(shared_bytes(p[i], LEN) == 0, "memory %d is still shared", i);
        free(p[i]);
    }
}

/* Others may be storing into a window's memory at any time, so its pages are not replaced. */
static void refused_for_others(bool dynamic)
{
    enum { LEN = 3000 };
    void *pages = NULL; /* both begin in the first one */
    if (!CHECK(posix_memalign(&pages, (size_t)sysconf(_SC_PAGESIZE), LEN + 64) == 0, "no memory"))
        return;
    unsigned char *p = (unsigned char *)pages + 64;
    fill(p, LEN);
    MPI_Win first, win;
    mt_section("pages of another window, dynamic %d", dynamic);
    if (dynamic) {
        MT_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &first));
        MT_OK(MPI_Win_attach(first, p, 100));
    } else {
        first = make(p, 100, "false", MPI_COMM_WORLD);
    }
    win = make(p + 100, LEN - 100, "true", MPI_COMM_WORLD);
    check_shared(win, p + 100, LEN - 100, false);
    MT_OK(MPI_Win_fence(0, win));
    operate(win);
    MT_OK(MPI_Win_free(&win));
    check_operated(p + 100);
    if (dynamic)
        MT_OK(MPI_Win_detach(first, p));
    else
        MT_OK(MPI_Win_free(&first));
    win = make(p + 100, LEN - 100, "true", MPI_COMM_WORLD);
    check_shared(win, p + 100, LEN - 100, true);
    if (dynamic) { /* the other way round: they stay until it is detached */
        MT_OK(MPI_Win_attach(first, p, LEN));
        MT_OK(MPI_Win_free(&win));
        CHECK(shared_bytes(p, LEN) == (possible ? LEN : 0), "attached memory was restored");
        MT_OK(MPI_Win_detach(first, p));
        CHECK(shared_bytes(p, LEN) == 0, "detached memory is still shared");
        MT_OK(MPI_Win_attach(first, p, LEN)); /* the window's end is as good */
        win = make(p + 100, LEN - 100, "true", MPI_COMM_WORLD);
        check_shared(win, p + 100, LEN - 100, false);
        MT_OK(MPI_Win_free(&first));
    }
    MT_OK(MPI_Win_free(&win));
    CHECK(shared_bytes(p, LEN) == 0, "the memory is still shared");
    free(pages);
}

/* ---- where nothing becomes shared ---- */

static void not_shared(const char *what, void *base, size_t len, const char *key, MPI_Comm comm)
{
    mt_section("%s", what);
    MPI_Win win = make(base, len, key, comm);
    check_shared(win, base, len, false);
    MT_OK(MPI_Win_fence(0, win));
    if (comm == MPI_COMM_WORLD)
        operate(win);
    MT_OK(MPI_Win_free(&win));
}

static void not_all_ask(void)
{
    enum { LEN = 40000 };
    unsigned char *p = filled(LEN);
    mt_section("only rank 0 asks");
    MPI_Win win = make(p, LEN, mt_rank ? "false" : "true", MPI_COMM_WORLD);
    if (mt_rank == 0) {
        CHECK(shared_bytes(p, LEN) == (possible ? LEN : 0), "rank 0's memory is not shared");
        CHECK(strcmp(info_of(win, "mpirma_share_create"), possible ? "true" : "false") == 0,
              "not reported");
    } else {
        CHECK(shared_bytes(p, LEN) == 0, "memory is shared, and nobody asked");
    }
    MT_OK(MPI_Win_fence(0, win));
    operate(win);
    MT_OK(MPI_Win_free(&win));
    check_operated(p);
    free(p);
}

static void bad_value(void)
{
    char memory[64];
    MPI_Win win;
    MPI_Info info;
    mt_section("a value that is not understood");
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpirma_share_create", "perhaps");
    if (MT_OK(MPI_Win_create(memory, 64, 1, info, MPI_COMM_WORLD, &win))) /* it is ignored */
        MT_OK(MPI_Win_free(&win));
    MPI_Info_free(&info);
}

static void by_environment(void)
{
    const char *text = getenv("MPIRMA_SHARE_CREATE");
    unsigned char *p = filled(9000);
    mt_section("as the environment says");
    MPI_Win win = make(p, 9000, NULL, MPI_COMM_WORLD);
    check_shared(win, p, 9000, text != NULL && strcmp(text, "1") == 0);
    MT_OK(MPI_Win_free(&win));
    free(p);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {40, 1000, 100000, (3 << 20) + 77};
    MT_INIT(argc, argv);
    char *on_stack = __builtin_alloca(1000);
    const char *k = getenv("MPIRMA_RANKS_PER_NODE");
    void *mem; /* of the library: permission to trace */
    MT_OK(MPI_Alloc_mem(8, MPI_INFO_NULL, &mem));
    possible = mt_path_is("auto") && mt_size > 1 && (k == NULL || atoi(k) != 1);
    const char *built = getenv("SHARE_CREATE");
    if (possible && built != NULL && strcmp(built, "no") == 0) {
        mt_skip(
            "this build was configured with --disable-share-create, so no memory becomes shared");
        possible = false;
    } else if (possible && !tracing_allowed()) {
        mt_skip("a process may not trace its own threads here, so no memory becomes shared");
        possible = false;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        life(sizes[i]);
    neighbours();
    refused_for_others(false);
    refused_for_others(true);
    not_shared("static memory", static_memory, sizeof static_memory, "true", MPI_COMM_WORLD);
    not_shared("memory on the stack", on_stack, 1000, "true", MPI_COMM_WORLD);
    unsigned char *p = filled(5000);
    not_shared("a process alone", p, 5000, "true", MPI_COMM_SELF);
    not_shared("not asked for", p, 5000, "false", MPI_COMM_WORLD);
    not_all_ask();
    bad_value();
    by_environment();
    MPI_Free_mem(mem);
    if (argc > 1 && strcmp(argv[1], "open") == 0) {
        (void)make(p, 5000, "true", MPI_COMM_WORLD);
        (void)make(filled(100), 100, "true", MPI_COMM_WORLD);
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    } else {
        free(p);
    }
    return MT_FINISH();
}
