/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_segment.c - shm/segment: creation, commitment, peers.
 *
 * Whatever changes limits, mounts or dies runs in a child process. Memory use
 * stays below 128 MiB.
 */
#define _GNU_SOURCE 1
#include "test/support/segment_pages.h"

#include <sys/mman.h>
#include <time.h>

#include "shm/mem_avail.h"

static bool all_bytes(const void *mem, int value, size_t len)
{
    const unsigned char *p = mem;
    for (size_t i = 0; i < len; i++)
        if (p[i] != (unsigned char)value)
            return false;
    return true;
}

static void sizes_are_rounded_and_contents_start_at_zero(void **state)
{
    const size_t sizes[] = {0, 1, 4096, 100000, 3 * MIB + 1};
    struct seg seg;
    (void)state;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(seg_create("", sizes[i], &quiet, &seg), MRMA_SUCCESS);
        assert_true(seg.fd >= 0 && seg.size >= sizes[i] && seg.size > 0 &&
                    seg.size < sizes[i] + page + 1);
        assert_int_equal(seg.size % page, 0);
        assert_int_equal((uintptr_t)seg.base % (seg.size >= 2 * MIB ? 2 * MIB : page), 0);
        assert_int_equal(fcntl(seg.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        assert_int_equal(seg_commit(&seg, 0, seg.size, &quiet), MRMA_SUCCESS);
        assert_true(all_bytes(seg.base, 0, seg.size));
        memset(seg.base, 0x3c, seg.size);
        struct seg_name name = seg_name_of(&seg);
        assert_true(name.pid == getpid() && name.fd == seg.fd && name.size == seg.size);
        seg_close(&seg);
        assert_int_equal(seg.fd, -1);
        assert_null(seg.base);
        seg_close(&seg);
    }
}

static int committed_child(void *arg)
{
    const char *dir = arg;
    struct seg seg;

    if (!tiny_tmpfs(dir, 64 * MIB))
        return CHILD_SKIP;
    CHILD_CHECK(seg_create(dir, 64 * MIB, &quiet, &seg) == MRMA_SUCCESS);
    CHILD_CHECK(!seg.first_touch && pages_in_use(&seg) == 0);
    CHILD_CHECK(seg_commit(&seg, 10 * page + 5, page, &quiet) == MRMA_SUCCESS);
    CHILD_CHECK(pages_in_use(&seg) == 2);
    CHILD_CHECK(seg_commit(&seg, 10 * page, 8 * page, &quiet) == MRMA_SUCCESS);
    CHILD_CHECK(pages_in_use(&seg) == 8);
    CHILD_CHECK(seg_commit(&seg, 0, 0, &quiet) == MRMA_SUCCESS);
    CHILD_CHECK(pages_in_use(&seg) == 8 && seg_pages(&seg) == 8 * page);
    seg_close(&seg);
    return 0;
}

/* Where a file system has a limit, a touch could fail. */
static void in_a_limited_directory_committing_allocates(void **state)
{
    (void)state;
    expect_mounting_child(committed_child);
}

static bool strict_overcommit(void)
{
    FILE *f = fopen("/proc/sys/vm/overcommit_memory", "r");
    const int mode = f ? fgetc(f) : '2';

    if (f)
        fclose(f);
    return mode == '2';
}

static void in_memory_pages_come_by_first_touch(void **state)
{
    struct seg seg;
    (void)state;

    assert_int_equal(seg_create("", 64 * MIB, &quiet, &seg), MRMA_SUCCESS);
    assert_int_equal(seg.first_touch, !strict_overcommit());
    assert_int_equal(seg_commit(&seg, 0, seg.size, &quiet), MRMA_SUCCESS);
    if (seg.first_touch)
        assert_int_equal(pages_in_use(&seg), 0);
    char *base = seg.base;
    base[20 * page] = 1;
    if (seg.first_touch) /* or a huge page, where the system has those for shared memory */
        assert_true(pages_in_use(&seg) == 1 || pages_in_use(&seg) == (2 * MIB) / page);
    memset(base + 10 * page, 1, 8 * page);
    const size_t before = pages_in_use(&seg);
    seg_decommit(&seg, 11 * page + 1, 3 * page); /* whole pages inside: 12 and 13 */
    assert_int_equal(pages_in_use(&seg), before - 2);
    assert_true(all_bytes(base + 12 * page, 0, 2 * page));
    assert_true(all_bytes(base + 11 * page, 1, page) && all_bytes(base + 14 * page, 1, page));
    seg_decommit(&seg, 10 * page + 1, page); /* no whole page */
    assert_true(all_bytes(base + 10 * page, 1, 2 * page));

    assert_int_equal(seg_commit(&seg, seg.size, 1, &quiet), MRMA_ERR_INTERN);
    assert_int_equal(seg_commit(&seg, page, SIZE_MAX, &quiet), MRMA_ERR_INTERN);
    seg_decommit(&seg, page, SIZE_MAX);
    seg_close(&seg);
}

/* A segment that is left: contents and address stay, stores are the process's own. */
static void left_memory_is_private(void **state)
{
    struct seg seg, peer;
    (void)state;

    assert_int_equal(seg_create("", 8 * page, &quiet, &seg), MRMA_SUCCESS);
    const struct seg_name name = seg_name_of(&seg);
    assert_int_equal(seg_open(&name, &quiet, &peer), MRMA_SUCCESS);
    char *base = seg.base;
    memset(base, 3, 4 * page);
    seg_leave(&seg);
    assert_null(seg.base);
    assert_int_equal(seg.fd, -1);
    assert_true(all_bytes(base, 3, 4 * page) && all_bytes(base + 4 * page, 0, 4 * page));
    memset(base + page, 4, 6 * page);
    assert_true(all_bytes(peer.base, 3, 4 * page));
    assert_true(all_bytes((char *)peer.base + 4 * page, 0, 4 * page));
    assert_true(all_bytes(base, 3, page) && all_bytes(base + page, 4, 6 * page));
    munmap(base, 8 * page);
    seg_close(&peer);
}

static void a_segment_keeps_its_length(void **state)
{
    struct seg seg;
    (void)state;

    assert_int_equal(seg_create("", 4 * page, &quiet, &seg), MRMA_SUCCESS);
    assert_int_equal(ftruncate(seg.fd, 0), -1);
    assert_int_equal(errno, EPERM);
    assert_int_equal(ftruncate(seg.fd, (off_t)(8 * page)), -1);
    seg_close(&seg);
}

static double seconds_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void too_much_memory_is_refused_at_once(void **state)
{
    struct mem_avail avail;
    struct log_pipe lp;
    struct seg seg;
    char text[1024];
    (void)state;

    log_to_pipe(&lp, LOG_LEVEL_ERROR);
    assert_int_equal(seg_create("", SIZE_MAX, &lp.log, &seg), MRMA_ERR_NO_MEM);
    assert_non_null(strstr(log_text(&lp, text, sizeof text), "NO_MEM"));
    assert_int_equal(seg_create("", SIZE_MAX / 2, &lp.log, &seg), MRMA_ERR_NO_MEM);
    assert_non_null(strstr(log_text(&lp, text, sizeof text), "NO_MEM"));

    mem_avail_read("", &avail);
    assert_true(avail.bytes != UINT64_MAX);
    assert_int_equal(seg_create("", avail.bytes + 256 * MIB, &lp.log, &seg), MRMA_SUCCESS);
    double start = seconds_now();
    assert_int_equal(seg_commit(&seg, 0, seg.size, &lp.log), MRMA_ERR_NO_MEM);
    assert_true(seconds_now() - start < 1.0);
    assert_non_null(strstr(log_text(&lp, text, sizeof text), avail.limited_by));
    assert_int_equal(pages_in_use(&seg), 0);
    assert_int_equal(seg_commit(&seg, 0, MIB, &lp.log), MRMA_SUCCESS);
    seg_close(&seg);
    log_pipe_close(&lp);
}

/* ---- peers ---- */

static int peer_child(void *arg)
{
    struct seg *mine = arg, seg;
    struct seg_name name = seg_name_of(mine);

    name.pid = (int32_t)getppid();
    seg_close(mine); /* what was inherited: from here on only the name leads to it */
    CHILD_CHECK(seg_open(&name, NULL, &seg) == MRMA_SUCCESS);
    CHILD_CHECK(seg.size == name.size && seg.inode == name.inode && seg.device == name.device);
    CHILD_CHECK(fcntl(seg.fd, F_GETFD) & FD_CLOEXEC);
    seg_only_mapped(&seg);
    CHILD_CHECK(strcmp((char *)seg.base + 5, "from the owner") == 0);
    strcpy((char *)seg.base + seg.size - 100, "from the peer");
    seg_close(&seg);
    return 0;
}

static void share_with_peer(const char *dir, size_t size)
{
    struct seg seg;

    assert_int_equal(seg_create(dir, size, &quiet, &seg), MRMA_SUCCESS);
    assert_int_equal(seg_commit(&seg, 0, seg.size, &quiet), MRMA_SUCCESS);
    strcpy((char *)seg.base + 5, "from the owner");
    expect_child(run_child(peer_child, &seg), "");
    assert_string_equal((char *)seg.base + seg.size - 100, "from the peer");
    seg_close(&seg);
}

static void a_peer_opens_by_name_and_shares(void **state)
{
    char dir[256];
    (void)state;

    share_with_peer("", page);
    share_with_peer("", 5 * MIB);
    if (!scratch_dir(dir, sizeof dir))
        expect_child(CHILD_SKIP, "no writable directory with unnamed files (O_TMPFILE)");
    share_with_peer(dir, page);
    share_with_peer(dir, 3 * MIB);
    assert_int_equal(count_entries(dir), 0);
    assert_int_equal(rmdir(dir), 0);
}

static int exit_at_once(void *arg)
{
    (void)arg;
    return 0;
}

/* The opened segment must be the announced one in every respect. */
static void another_identity_is_refused(void **state)
{
    struct log_pipe lp;
    struct seg seg, other = {.fd = -7};
    char text[1024], pid_text[32];
    (void)state;

    log_to_pipe(&lp, LOG_LEVEL_ERROR);
    assert_int_equal(seg_create("", 4 * page, &quiet, &seg), MRMA_SUCCESS);
    const struct seg_name good = seg_name_of(&seg);
    struct seg_name bad[7] = {good, good, good, good, good, good, good};
    bad[0].inode++;
    bad[1].device++;
    bad[2].size += page;
    bad[3].size = 4 * page - 1;
    bad[4].size = 0;
    bad[5].fd = 12345678;
    bad[6].fd = lp.fd[0]; /* open, and no segment */
    snprintf(pid_text, sizeof pid_text, "process %d", (int)getpid());
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(seg_open(&bad[i], &lp.log, &other), MRMA_ERR_OTHER);
        assert_non_null(strstr(log_text(&lp, text, sizeof text), pid_text));
        assert_int_equal(other.fd, -7); /* outputs only on success */
    }

    pid_t gone = fork();
    if (gone == 0)
        _exit(exit_at_once(NULL));
    assert_int_equal(wait_child(gone), 0);
    bad[0] = good;
    bad[0].pid = (int32_t)gone;
    assert_int_equal(seg_open(&bad[0], &lp.log, &other), MRMA_ERR_OTHER);
    assert_non_null(strstr(log_text(&lp, text, sizeof text), strerror(ENOENT)));
    assert_int_equal(seg_open(&good, &lp.log, &other), MRMA_SUCCESS);
    seg_close(&other);
    seg_close(&seg);
    log_pipe_close(&lp);
}

static int all_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_rounded_and_contents_start_at_zero),
        cmocka_unit_test(in_a_limited_directory_committing_allocates),
        cmocka_unit_test(in_memory_pages_come_by_first_touch),
        cmocka_unit_test(left_memory_is_private),
        cmocka_unit_test(a_segment_keeps_its_length),
        cmocka_unit_test(too_much_memory_is_refused_at_once),
        cmocka_unit_test(a_peer_opens_by_name_and_shares),
        cmocka_unit_test(another_identity_is_refused),
    };
    page = (size_t)sysconf(_SC_PAGESIZE);
    return cmocka_run_group_tests_name("segment", tests, NULL, NULL);
}

int main(void)
{
    return run_with_skips(all_tests);
}
