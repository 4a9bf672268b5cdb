/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * share_malloc.c - blocks of malloc that are shared (MPIRMA_SHARE_MALLOC): all functions of the
 * family, windows over such blocks, and what becomes of them in threads, in children of fork,
 * before MPI_Init and after MPI_Finalize.
 *
 * The program starts itself anew with libmpi-rma-malloc.so preloaded, as mpi-rma-run does.
 * Argument: "full", the system gives no file of more than 32 MiB. MPIRMA_SHARE_MALLOC=N: blocks of
 * N bytes and more are shared.
 */
#include "mtest.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define KIB ((size_t)1024)
#define MIB ((size_t)1 << 20)

enum { THREADS = 4, STEPS = 4000, PIECES = 20 };

static size_t threshold = 128 * KIB;
static bool full;

/* ---- what is asked of the system ---- */

/* Is the byte at ptr in a shared segment of the library? */
static bool is_shared(const void *ptr)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long from, to;
    char line[1024];
    bool found = false;

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        if (sscanf(line, "%lx-%lx", &from, &to) == 2 && (uintptr_t)ptr >= from &&
            (uintptr_t)ptr < to)
            found = strstr(line, "mpi-rma") != NULL && strstr(line, "rw-s") != NULL;
    if (maps != NULL)
        fclose(maps);
    return found;
}

/* KiB of shared memory that this process has pages of. */
static long shared_pages(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;

    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "RssShmem: %ld", &kib) == 1)
            break;
    if (status != NULL)
        fclose(status);
    return kib;
}

static bool all(const unsigned char *p, size_t from, size_t to, int value)
{
    for (size_t i = from; i < to; i++)
        if (p[i] != value)
            return false;
    return true;
}

/* ---- the functions ---- */

/* A new block: shared or not, aligned, as long as asked for, and errno is as it was. */
static void check_block(const char *what, void *block, size_t size, size_t align)
{
    if (!CHECK(block != NULL, "%s of %zu bytes", what, size))
        return;
    CHECK(errno == 77, "%s: errno became %d", what, errno);
    CHECK(is_shared(block) == (size >= threshold), "%s of %zu bytes: shared is %d", what, size,
          is_shared(block));
    CHECK((uintptr_t)block % align == 0, "%s at %p, aligned to %zu", what, block, align);
    CHECK(malloc_usable_size(block) >= size, "%s of %zu bytes has %zu", what, size,
          malloc_usable_size(block));
    memset(block, 0x5a, size);
    free(block);
    CHECK(errno == 77, "free after %s: errno became %d", what, errno);
}

static void each_function(size_t size)
{
    void *block = NULL;

    mt_section("functions, %zu bytes", size);
    errno = 77;
    check_block("malloc", malloc(size), size, 16);
    check_block("calloc", calloc(size / 8, 8), size, 16);
    check_block("realloc of nothing", realloc(NULL, size), size, 16);
    check_block("reallocarray of nothing", reallocarray(NULL, size / 8, 8), size, 16);
    check_block("memalign", memalign(512, size), size, 512);
    check_block("aligned_alloc", aligned_alloc(1 << 16, size), size, 1 << 16);
    check_block("valloc", valloc(size), size, 4096);
    check_block("pvalloc", pvalloc(size), size, 4096);
    CHECK(posix_memalign(&block, 1 << 21, size) == 0, "posix_memalign of %zu bytes", size);
    check_block("posix_memalign", block, size, 1 << 21);
    CHECK(posix_memalign(&block, 3, size) == EINVAL, "posix_memalign at 3");
    CHECK(posix_memalign(&block, 4, size) == EINVAL, "posix_memalign at 4");
}

static void what_cannot_be(void)
{
    volatile size_t huge = SIZE_MAX / 2 + 2;
    void *volatile block;

    mt_section("what cannot be");
    errno = 0;
    block = malloc(huge);
    CHECK(block == NULL && errno == ENOMEM, "malloc of %zu bytes: errno %d", huge, errno);
    block = calloc(huge, 4);
    CHECK(block == NULL, "calloc of %zu times 4 bytes", huge);
    errno = 0;
    block = reallocarray(NULL, huge, 4);
    CHECK(block == NULL && errno == ENOMEM, "reallocarray: errno %d", errno);
    unsigned char *volatile kept = malloc(2 * threshold);
    memset(kept, 3, 2 * threshold);
    block = realloc(kept, huge);
    CHECK(block == NULL && all(kept, 0, 2 * threshold, 3), "realloc to %zu bytes", huge);
    free(kept);
    free(NULL);
    CHECK(malloc_usable_size(NULL) == 0, "the size of nothing");
}

/* Used pages of a freed block must not shine through calloc. */
static void calloc_is_zero(void)
{
    mt_section("calloc");
    for (size_t size = threshold; size < 100 * MIB; size = size * 3 + 4096) {
        unsigned char *block = malloc(size);
        memset(block, 0xff, size);
        free(block);
        block = calloc(1, size);
        CHECK(block && all(block, 0, size, 0), "calloc of %zu bytes is not zero", size);
        free(block);
    }
}

/* realloc from and to all kinds of sizes. */
static void realloc_keeps(void)
{
    const size_t sizes[] = {8,         1000,           threshold - 1, threshold,
                            8 * MIB,   threshold * 2,  20 * MIB,      100,
                            threshold, threshold * 10, threshold * 3, threshold - 1};
    enum { N = sizeof sizes / sizeof *sizes };

    mt_section("realloc");
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const size_t less = sizes[i] < sizes[j] ? sizes[i] : sizes[j];
            unsigned char *p = malloc(sizes[i]);

            memset(p, i + 1, sizes[i]);
            p = realloc(p, sizes[j]);
            CHECK(p && all(p, 0, less, i + 1), "from %zu to %zu bytes", sizes[i], sizes[j]);
            CHECK(full || is_shared(p) == (sizes[j] >= threshold),
                  "from %zu to %zu bytes: shared is %d", sizes[i], sizes[j], is_shared(p));
            memset(p, 77, sizes[j]);
            free(p);
        }
    void *p = malloc(threshold);
    p = realloc(p, 0);
    CHECK(p == NULL, "realloc to 0 bytes");
}

static void memory_goes_back(void)
{
    unsigned char *p[20];

    mt_section("freed memory");
    for (int i = 0; i < 20; i++)
        memset(p[i] = malloc(10 * MIB), 1, 10 * MIB);
    const long most = shared_pages();
    for (int i = 0; i < 20; i++)
        free(p[i]);
    CHECK(shared_pages() < most - 100 * 1024, "%ld KiB of shared memory, %ld after free", most,
          shared_pages());
}

/* ---- threads ---- */

struct piece {
    unsigned char *at;
    size_t size;
    unsigned char value;
};

static bool one_step(struct piece *p, uint64_t r)
{
    const size_t size = 1 + (r >> 16) % ((r & 3) == 0 ? 20 * threshold : 2 * threshold);
    const unsigned char value = (unsigned char)(r >> 8);

    if (p->at != NULL && (p->at[0] != p->value || p->at[p->size - 1] != p->value))
        return false;
    if ((r & 12) == 0) {
        unsigned char *at = realloc(p->at, size);
        if (at == NULL || (p->at != NULL && at[0] != p->value))
            return false;
        p->at = at;
    } else {
        free(p->at);
        p->at = (r & 4) != 0 ? malloc(size) : calloc(1, size);
        if (p->at == NULL || ((r & 4) == 0 && (p->at[0] != 0 || p->at[size - 1] != 0)))
            return false;
    }
    p->size = size;
    p->value = p->at[0] = p->at[size - 1] = value;
    return true;
}

static struct piece exchanged[THREADS][PIECES];
static pthread_barrier_t meet;

/* Blocks of one thread are freed by the next. */
static void *stress(void *arg)
{
    const int me = (int)(intptr_t)arg;
    struct mt_rng rng = mt_rng((uint64_t)(mt_rank * THREADS + me));

    for (int i = 0; i < STEPS; i++)
        if (!one_step(&exchanged[me][mt_rng_below(&rng, PIECES)], mt_rng_next(&rng)))
            return "a block does not hold what was stored";
    pthread_barrier_wait(&meet);
    for (int i = 0; i < PIECES; i++)
        free(exchanged[(me + 1) % THREADS][i].at);
    return NULL;
}

static void many_threads(void)
{
    pthread_t threads[THREADS];

    mt_section("threads");
    pthread_barrier_init(&meet, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, stress, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++) {
        void *why;
        pthread_join(threads[i], &why);
        CHECK(why == NULL, "thread %d: %s", i, (char *)why);
    }
}

/* ---- windows ---- */

/* All that goes over a window with a block of each process, for one kind of epoch each. */
static void use_window(MPI_Win win, long *mem, int words)
{
    const int right = (mt_rank + 1) % mt_size, left = (mt_rank + mt_size - 1) % mt_size;
    long one = 1, mine = mt_rank, got = -1;

    for (int i = 0; i < words; i++)
        mem[i] = 100 * mt_rank;
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Put(&mine, 1, MPI_LONG, right, 1, 1, MPI_LONG, win));
    MT_OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, 2, 1, MPI_LONG, MPI_SUM, win));
    MT_OK(MPI_Get(&got, 1, MPI_LONG, left, words - 1, 1, MPI_LONG, win));
    MT_OK(MPI_Win_fence(0, win));
    CHECK(mem[1] == left, "from %d came %ld", left, mem[1]);
    CHECK(got == 100 * left, "got %ld of %d", got, left);
    CHECK(mt_rank != 0 || mem[2] == mt_size, "a sum of %ld for %d processes", mem[2], mt_size);
    MT_OK(MPI_Win_lock_all(0, win));
    MT_OK(MPI_Fetch_and_op(&one, &got, MPI_LONG, right, 3, MPI_SUM, win));
    MT_OK(MPI_Win_flush(right, win));
    CHECK(got == 100 * right, "fetched %ld of %d", got, right);
    MT_OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(mem[3] == 100 * mt_rank + 1, "%ld", mem[3]);
}

static void one_window(const char *what, char *mem, size_t size, bool mapped)
{
    char path[MPI_MAX_INFO_VAL + 1] = "";
    int there = 0;
    MPI_Info info;
    MPI_Win win;

    mt_section("window over %s", what);
    MT_OK(MPI_Win_create(mem, (MPI_Aint)size, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MT_OK(MPI_Win_get_info(win, &info));
    MPI_Info_get(info, "mpirma_path", MPI_MAX_INFO_VAL, path, &there);
    MPI_Info_free(&info);
    const bool is_mapped = strcmp(path, "mapped") == 0;
    if (strcmp(mt_path(), "auto") == 0 && getenv("MPIRMA_RANKS_PER_NODE") == NULL &&
        getenv("MPIRMA_XPMEM") == NULL && mt_size > 1)
        CHECK(is_mapped == mapped, "%s of %zu bytes: path %s", what, size, path);
    use_window(win, (long *)(void *)mem, (int)(size / sizeof(long)));
    MT_OK(MPI_Win_free(&win));
}

static void windows(char *early)
{
    char *mem = malloc(2 * MIB), *small = malloc(1000), *cleared = calloc(3, MIB);

    one_window("malloc", mem, 2 * MIB, true);
    one_window("a part", mem + 4096 * 5 + 64, 4096 * 3, true);
    one_window("calloc", cleared, 3 * MIB, true);
    one_window("small", small, 1000, 1000 >= threshold);
    one_window("memory from before MPI_Init", early, 2 * MIB, true);
    mem = realloc(mem, 9 * MIB);
    one_window("realloc", mem, 9 * MIB, true);
    free(mem);
    free(small);
    free(cleared);
    /* Once more at addresses that were others' before. */
    for (int i = 0; i < 5; i++) {
        mem = malloc((size_t)(i + 1) * MIB);
        one_window("new memory", mem, (size_t)(i + 1) * MIB, true);
        free(mem);
    }
}

/* ---- fork ---- */

static int child(unsigned char *p, size_t size, int told)
{
    char byte;

    if (read(told, &byte, 1) != 0)
        return 1;
    if (!all(p, 0, size, 1))
        return 2;
    memset(p, 2, size);
    unsigned char *own = calloc(1, size);
    if (own == NULL || !all(own, 0, size, 0))
        return 3;
    memset(own, 3, size);
    free(p);
    free(own);
    return 0;
}

static void forks(void)
{
    const size_t size = 5 * MIB + 12;
    unsigned char *p = malloc(size);
    int told[2], status = -1;

    mt_section("fork");
    memset(p, 1, size);
    CHECK(pipe(told) == 0, "pipe");
    const pid_t pid = fork();
    if (pid == 0) {
        close(told[1]);
        _exit(child(p, size, told[0]));
    }
    memset(p, 4, size);
    unsigned char *later = malloc(size);
    memset(later, 5, size);
    close(told[1]);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0, "the child ended with %d", status);
    CHECK(all(p, 0, size, 4) && all(later, 0, size, 5),
          "the child has changed the parent's memory");
    close(told[0]);
    free(p);
    free(later);
    CHECK(system("exit 7") == 7 << 8, "system");
}

/* ---- no room ---- */

/* A block that is too large comes from the C library, and is said to; windows over it work. */
static void without_room(void)
{
    char *large = malloc(48 * MIB);

    mt_section("no room");
    CHECK(large != NULL && !is_shared(large), "48 MiB at %p", (void *)large);
    memset(large, 0, 48 * MIB);
    one_window("what is not shared", large, 48 * MIB, false);
    large = realloc(large, 50 * MIB);
    CHECK(large != NULL && !is_shared(large), "50 MiB at %p", (void *)large);
    free(large);
    char *small = malloc(MIB);
    CHECK(is_shared(small), "a MiB at %p", (void *)small);
    free(small);
}

/* ---- start and end ---- */

/* The same program with the library preloaded, and with the limit if there is to be one. Returns if
 * that is so. */
static void start_anew(char **argv)
{
    const char *library = getenv("MPI_RMA_LIB");
    const struct rlimit limit = {32 * MIB, 32 * MIB};
    struct rlimit now;
    char name[4096];

    getrlimit(RLIMIT_FSIZE, &now);
    if (dlsym(RTLD_DEFAULT, "mpirma_malloc_calls") != NULL &&
        (!full || now.rlim_cur == limit.rlim_cur))
        return;
    if (library == NULL || strrchr(library, '/') == NULL) {
        printf("SKIP: MPI_RMA_LIB does not say where the library is\n");
        exit(77);
    }
    snprintf(name, sizeof name, "%.*s/libmpi-rma-malloc.so", (int)(strrchr(library, '/') - library),
             library);
    setenv("LD_PRELOAD", name, 1);
    setenv("MPIRMA_SHARE_MALLOC", "1", 0);
    if (full)
        setrlimit(RLIMIT_FSIZE, &limit);
    execv("/proc/self/exe", argv);
    perror("exec");
    exit(1);
}

static void all_sections(char *early)
{
    if (full) {
        without_room();
    } else {
        each_function(threshold);
        each_function(threshold - 8);
        each_function(3 * MIB);
        calloc_is_zero();
        memory_goes_back();
    }
    what_cannot_be();
    realloc_keeps();
    many_threads();
    windows(early);
    forks();
}

int main(int argc, char **argv)
{
    const char *set = getenv("MPIRMA_SHARE_MALLOC");
    full = argc > 1 && strcmp(argv[1], "full") == 0;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    printf("SKIP: a sanitizer has a malloc of its own\n");
    return 77;
#endif
    start_anew(argv);
    if (set != NULL && atoi(set) > 1)
        threshold = (size_t)atoi(set);
    char *early = malloc(2 * MIB), *late = malloc(2 * MIB);
    memset(late, 8, 2 * MIB);
    MT_INIT(argc, argv);
    all_sections(early);
    const int code = MT_FINISH();
    free(early);
    const bool good = all((unsigned char *)late, 0, 2 * MIB, 8);
    late = realloc(late, 4 * MIB);
    free(late);
    early = malloc(2 * MIB);
    memset(early, 1, 2 * MIB);
    free(early);
    return good ? code : 1;
}
