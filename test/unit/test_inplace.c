/*
 * test_inplace.c - shm/inplace: contents stay, peers map the pages, users of touching and overlapping ranges,
 * what is refused, other threads' stores, children, memory that is gone at the end.
 */
#define _GNU_SOURCE 1
#include "shm_helper.h"
#include "threads_helper.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include "base/err.h"
#include "shm/inplace.h"
#include "shm/vma.h"

static size_t page;
static struct inplace *ip;
static struct log_pipe lp;
static char text[300];

static int setup(void **state)
{
    (void)state;
    page = (size_t)sysconf(_SC_PAGESIZE);
    log_to_pipe(&lp, LOG_LEVEL_WARN);
    return inplace_create("", &lp.log, &ip);
}

static int teardown(void **state)
{
    (void)state;
    inplace_destroy(ip);
    log_pipe_close(&lp);
    return 0;
}

static unsigned char byte_of(size_t i)
{
    return (unsigned char)(i * 31 + i / 4096);
}

static unsigned char *new_memory(size_t len)
{
    unsigned char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    for (size_t i = 0; i < len; i++)
        p[i] = byte_of(i);
    return p;
}

static bool intact(const unsigned char *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (p[i] != byte_of(i))
            return false;
    return true;
}

static bool count_private(void *arg, const struct vma *v)
{
    *(size_t *)arg += v->perms[3] == 'p' && !v->inode ? v->end - v->start : 0;
    return true;
}

static size_t private_bytes(const void *p, size_t len)
{
    size_t sum = 0;
    assert_int_equal(vma_each((uintptr_t)p, (uintptr_t)p + len, false, count_private, &sum), VMA_ALL);
    return sum;
}

static void take(const void *p, size_t len)
{
    const int err = inplace_take(ip, p, len, false, text, sizeof text);
    if (err)
        print_message("%s\n", text);
    assert_int_equal(err, MRMA_SUCCESS);
}

static void refused(const void *p, size_t len, const char *why)
{
    const size_t before = inplace_bytes(ip);
    assert_int_not_equal(inplace_take(ip, p, len, false, text, sizeof text), MRMA_SUCCESS);
    if (!strstr(text, why))
        print_message("%s, expected %s\n", text, why);
    assert_non_null(strstr(text, why));
    assert_int_equal(inplace_bytes(ip), before);
}

/* What a peer sees of it, which is the owner's memory. */
static void check_peer(unsigned char *p, size_t len)
{
    struct heap_loc loc;
    struct seg seg;
    assert_true(inplace_find(ip, p, len, &loc));
    const size_t skip = (uintptr_t)p % page;
    assert_int_equal(loc.offset % page, skip);
    assert_int_equal(seg_open_part(&loc.seg, (size_t)loc.offset - skip, (size_t)loc.map, &lp.log, &seg), MRMA_SUCCESS);
    unsigned char *at = (unsigned char *)seg.base + skip;
    assert_memory_equal(at, p, len);
    at[len / 2] ^= 0xff;
    assert_int_equal(at[len / 2], p[len / 2]);
    at[len / 2] ^= 0xff;
    seg_close(&seg);
}

static void there_and_back(void **state)
{
    static const size_t sizes[] = {1, 100, 5000, 300000, 5 << 20, (65 << 20) + 5};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const size_t len = (sizes[i] + 3 * page) / page * page;
        unsigned char *p = new_memory(len);
        for (int round = 0; round < 2; round++) {
            take(p + 100, sizes[i]);
            assert_true(intact(p, len));
            assert_true(private_bytes(p, len) < len);
            check_peer(p + 100, sizes[i]);
            inplace_drop(ip, p + 100, sizes[i]);
            assert_true(intact(p, len));
            assert_int_equal(private_bytes(p, len), len);
            assert_int_equal(inplace_bytes(ip), 0);
        }
        munmap(p, len);
    }
}

static void from_malloc(void **state)
{
    char *p[20];
    (void)state;
    for (int i = 0; i < 20; i++) {
        p[i] = malloc(1000);
        memset(p[i], i, 1000);
    }
    for (int i = 0; i < 20; i += 2)
        take(p[i], 1000);
    for (int i = 0; i < 20; i++) { /* malloc goes on with its data in the pages */
        if (i % 2)
            p[i] = realloc(p[i], 3000);
        assert_int_equal(p[i][999], i);
    }
    for (int i = 0; i < 20; i += 2) {
        check_peer((unsigned char *)p[i], 1000);
        inplace_drop(ip, p[i], 1000);
    }
    assert_int_equal(inplace_bytes(ip), 0);
    for (int i = 0; i < 20; i++) {
        p[i] = realloc(p[i], 5000);
        assert_int_equal(p[i][999], i);
        free(p[i]);
    }
}

static void users_are_counted_by_page(void **state)
{
    const size_t len = 10 * page;
    unsigned char *p = new_memory(len);
    struct heap_loc loc;
    bool some;
    (void)state;
    take(p + page, 2 * page);               /* pages 1, 2 */
    take(p + 4 * page, 2 * page);           /* 4, 5 */
    take(p + 2 * page + 5, 3 * page);       /* 2 to 5 */
    assert_int_equal(inplace_bytes(ip), 5 * page);
    check_peer(p + page, 5 * page);         /* one piece for peers */
    assert_false(inplace_find(ip, p, 2 * page, &loc));
    assert_false(inplace_find(ip, p + page, 5 * page + 1, &loc));
    inplace_drop(ip, p + 4 * page, 2 * page);
    inplace_drop(ip, p + page, 2 * page);
    assert_int_equal(inplace_bytes(ip), 4 * page);
    assert_int_equal(private_bytes(p, len), 6 * page);
    /* Who holds a range holds what is shared of it. */
    assert_int_equal(inplace_hold(ip, p, 4 * page, &some), MRMA_SUCCESS);
    assert_true(some);
    inplace_drop(ip, p + 2 * page + 5, 3 * page);
    assert_int_equal(inplace_bytes(ip), 2 * page); /* 2, 3 */
    /* And may take the rest, once for both. */
    assert_int_equal(inplace_take(ip, p, 4 * page, true, text, sizeof text), MRMA_SUCCESS);
    assert_int_equal(inplace_bytes(ip), 4 * page);
    check_peer(p, 4 * page);
    inplace_drop(ip, p, 4 * page);
    assert_int_equal(inplace_bytes(ip), 0);
    assert_int_equal(inplace_hold(ip, p, len, &some), MRMA_SUCCESS);
    assert_false(some);
    assert_true(intact(p, len));
    assert_int_equal(private_bytes(p, len), len);
    munmap(p, len);
}

/* Sanitizers' own mlock does nothing. */
static void lock_page(const void *at)
{
    assert_int_equal(syscall(SYS_mlock, at, page), 0);
}

static char static_data[100000] = {1};
static char static_bss[100000];

static void refused_kinds(void **state)
{
    const size_t len = 4 * page;
    char on_stack[100];
    unsigned char *p = new_memory(len);
    (void)state;
    refused(on_stack, sizeof on_stack, "stack");
    refused(static_data, sizeof static_data, "static memory");
    refused(static_bss, sizeof static_bss, "static memory");
    lock_page(p + page);
    refused(p, len, "locked");
    assert_int_equal(syscall(SYS_munlock, p, len), 0);
    assert_int_equal(mprotect(p + page, page, PROT_READ), 0);
    refused(p, len, "read and written");
    assert_int_equal(mprotect(p, len, PROT_READ | PROT_WRITE), 0);
    assert_int_equal(madvise(p + page, page, MADV_DONTFORK), 0);
    refused(p, len, "not given to children");
    assert_int_equal(madvise(p, len, MADV_DOFORK), 0);
    munmap(p + 3 * page, page);
    refused(p, len, "not mapped");
    refused(p, SIZE_MAX - (uintptr_t)p, "address space");
    assert_true(intact(p, 3 * page));
    take(p, 3 * page);
    inplace_drop(ip, p, 3 * page);
    munmap(p, len);
    p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    refused(p, len, "shared memory");
    munmap(p, len);
    const int fd = open("/proc/self/exe", O_RDONLY);
    p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    refused(p, page, "not anonymous");
    munmap(p, page);
    close(fd);
}

/* Neither the beginning nor the end stays when the middle is refused. */
static void all_or_nothing(void **state)
{
    const size_t len = 9 * page;
    unsigned char *p = new_memory(len);
    (void)state;
    take(p + 2 * page, page);
    lock_page(p + 6 * page);
    take(p + 4 * page, page);
    refused(p, len, "locked");
    assert_int_equal(inplace_bytes(ip), 2 * page);
    assert_int_equal(private_bytes(p, len), 7 * page);
    inplace_drop(ip, p + 2 * page, page);
    inplace_drop(ip, p + 4 * page, page);
    assert_true(intact(p, len));
    munmap(p, len);
}

static int no_room_child(void *arg)
{
    const struct rlimit lim = {1 << 20, 1 << 20};
    unsigned char *p = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct inplace *here;
    memset(p, 7, 8 * page);
    if (arg) {
        if (!tiny_tmpfs(arg, 4 * page))
            return CHILD_SKIP;
    } else {
        CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &lim) == 0);
    }
    CHILD_CHECK(inplace_create(arg ? arg : "", &lp.log, &here) == MRMA_SUCCESS);
    CHILD_CHECK(inplace_take(here, p, 8 * page, false, text, sizeof text) == MRMA_ERR_NO_MEM);
    CHILD_CHECK(strstr(text, arg ? "no room" : "ulimit -f") != NULL);
    CHILD_CHECK(inplace_bytes(here) == 0 && p[0] == 7 && p[8 * page - 1] == 7);
    if (arg) { /* what fits is had, and given back */
        for (int i = 0; i < 10; i++) {
            CHILD_CHECK(inplace_take(here, p, 3 * page, false, text, sizeof text) == MRMA_SUCCESS);
            inplace_drop(here, p, 3 * page);
        }
    }
    inplace_destroy(here);
    return 0;
}

static void no_room(void **state)
{
    (void)state;
    expect_child(run_child(no_room_child, NULL), "");
    expect_mounting_child(no_room_child);
}

/* Nothing that threads store in the pages, next to what is taken, is lost on either way. */
static void stores_of_other_threads(void **state)
{
    unsigned char *p = new_memory(3 * page);
    uint64_t *words = (uint64_t *)(void *)p;
    struct worker w[2];
    (void)state;
    need_tracing();
    words[0] = words[page / 4 + 10] = 0;
    worker_begin(&w[0], &words[0]);
    worker_begin(&w[1], &words[page / 4 + 10]);
    for (int round = 0; round < 100; round++) {
        take(p + 100, 2 * page);
        inplace_drop(ip, p + 100, 2 * page);
    }
    worker_end(&w[0]);
    worker_end(&w[1]);
    assert_int_equal(words[0], w[0].done);
    assert_int_equal(words[page / 4 + 10], w[1].done);
    munmap(p, 3 * page);
}

static void threads_that_cannot_be_stopped(void **state)
{
    static uint64_t word;
    unsigned char *p = new_memory(3 * page);
    struct worker w;
    int fd;
    (void)state;
    need_tracing();
    worker_begin(&w, &word);
    take(p, 100);
    const pid_t tracer = hold_by_tracer(atomic_load(&w.tid), &fd);
    refused(p + page, page, "cannot be stopped");
    inplace_drop(ip, p, 100); /* stays shared, told in a note */
    assert_non_null(strstr(log_text(&lp, text, sizeof text), "stay shared memory"));
    assert_int_equal(inplace_bytes(ip), page);
    refused(p, 100, "restored before");
    (void)log_text(&lp, text, sizeof text);
    close(fd);
    assert_int_equal(wait_child(tracer), 0);
    take(p, 100);
    inplace_drop(ip, p, 100);
    assert_int_equal(inplace_bytes(ip), 0);
    assert_true(intact(p, 3 * page));
    worker_end(&w);
    munmap(p, 3 * page);
}

/* ---- fork ---- */

static pid_t forked(void)
{
    inplace_fork_prepare(ip);
    const pid_t pid = fork();
    if (pid == 0)
        inplace_fork_child(ip);
    else
        inplace_fork_parent(ip);
    return pid;
}

static void a_child_has_copies(void **state)
{
    const size_t len = 600 * page;
    unsigned char *p = new_memory(len);
    char *q = malloc(100);
    int go[2];
    char byte;
    (void)state;
    strcpy(q, "before");
    assert_int_equal(pipe(go), 0);
    take(p + 10, len - 20);
    take(q, 100);
    const pid_t pid = forked();
    if (pid == 0) {
        close(go[1]);
        if (read(go[0], &byte, 1) != 0) /* the parent has stored */
            _exit(1);
        if (!intact(p, len) || strcmp(q, "before") != 0 || private_bytes(p, len) != len || inplace_bytes(ip) != 0)
            _exit(2);
        memset(p, 1, len);
        strcpy(q, "child");
        free(q);
        q = malloc(100);
        if (fork() == 0) /* a grandchild is like any */
            _exit(p[5] == 1 ? 0 : 3);
        int status;
        wait(&status);
        _exit(WEXITSTATUS(status));
    }
    p[50] ^= 1;
    strcpy(q, "parent");
    close(go[1]);
    assert_int_equal(wait_child(pid), 0);
    p[50] ^= 1;
    assert_true(intact(p, len));
    assert_string_equal(q, "parent");
    check_peer(p + 10, len - 20); /* still shared with them */
    inplace_drop(ip, p + 10, len - 20);
    inplace_drop(ip, q, 100);
    munmap(p, len);
    free(q);
    close(go[0]);
}

/* Without memory for copies the child at least changes nothing in the parent. */
static int no_copies_child(void *arg)
{
    const size_t len = 256 * page;
    unsigned char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct rlimit lim = {0, RLIM_INFINITY};
    (void)arg;
    memset(p, 7, len);
    CHILD_CHECK(inplace_take(ip, p, len, false, text, sizeof text) == MRMA_SUCCESS);
    unsigned long pages;
    FILE *f = fopen("/proc/self/statm", "r");
    CHILD_CHECK(f != NULL && fscanf(f, "%lu", &pages) == 1);
    fclose(f);
    lim.rlim_cur = (pages + 64) * page;
    CHILD_CHECK(setrlimit(RLIMIT_AS, &lim) == 0);
    const pid_t pid = forked();
    if (pid == 0) {
        const bool same = p[0] == 7 && p[len - 1] == 7;
        memset(p, 1, len);
        _exit(!same);
    }
    CHILD_CHECK(wait_child(pid) == 0);
    CHILD_CHECK(p[0] == 7 && p[len - 1] == 7);
    return 0;
}

static void no_memory_for_copies(void **state)
{
    (void)state;
    expect_child(run_child(no_copies_child, NULL), "");
}

/* ---- what the program does with it ---- */

static void unmapped_meanwhile(void **state)
{
    unsigned char *p = new_memory(6 * page);
    (void)state;
    take(p, 6 * page);
    munmap(p + page, page);
    assert_true(mmap(p + 2 * page, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
                MAP_FAILED);
    p[2 * page] = 77;
    mprotect(p + 4 * page, page, PROT_READ);
    const pid_t pid = forked(); /* copies what is there */
    if (pid == 0)
        _exit(p[2 * page] != 77 || p[0] != byte_of(0));
    assert_int_equal(wait_child(pid), 0);
    inplace_drop(ip, p, 6 * page);
    assert_int_equal(inplace_bytes(ip), 0);
    assert_int_equal(p[2 * page], 77);
    assert_int_equal(private_bytes(p, 6 * page), 5 * page);
    for (size_t i = 0; i < 6 * page; i++)
        if (i / page != 1 && i / page != 2)
            assert_int_equal(p[i], byte_of(i));
    mprotect(p + 4 * page, page, PROT_READ | PROT_WRITE);
    munmap(p, 6 * page);
}

static void the_end_restores(void **state)
{
    unsigned char *p = new_memory(6 * page);
    struct inplace *other;
    (void)state;
    assert_int_equal(inplace_create("", &lp.log, &other), MRMA_SUCCESS);
    assert_int_equal(inplace_take(other, p, 3 * page, false, text, sizeof text), MRMA_SUCCESS);
    assert_int_equal(inplace_take(other, p + 2 * page, 4 * page, false, text, sizeof text), MRMA_SUCCESS);
    inplace_destroy(other);
    assert_true(intact(p, 6 * page));
    assert_int_equal(private_bytes(p, 6 * page), 6 * page);
    munmap(p, 6 * page);
}

static int all_tests(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(there_and_back), TEST(from_malloc), TEST(users_are_counted_by_page), TEST(refused_kinds),
        TEST(all_or_nothing), TEST(no_room), TEST(stores_of_other_threads), TEST(threads_that_cannot_be_stopped),
        TEST(a_child_has_copies), TEST(no_memory_for_copies), TEST(unmapped_meanwhile), TEST(the_end_restores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    return under_tsan() ? 0 : run_with_skips(all_tests);
}
