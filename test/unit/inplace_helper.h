/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inplace_helper.h - what the tests of shm/inplace share: pages of memory that change hands, whose
 * contents are known, and how many of them are private.
 */
#ifndef MRMA_TEST_INPLACE_HELPER_H
#define MRMA_TEST_INPLACE_HELPER_H

#include "shm_helper.h"
#include "threads_helper.h"

#include <sys/mman.h>

#include "base/err.h"
#include "shm/inplace/impl.h"

static size_t page;
static struct inplace *ip;
static struct log_pipe lp;
static char text[300];

static inline int setup(void **state)
{
    (void)state;
    page = (size_t)sysconf(_SC_PAGESIZE);
    log_to_pipe(&lp, LOG_LEVEL_WARN);
    return inplace_create("", &lp.log, &ip);
}

static inline int teardown(void **state)
{
    (void)state;
    inplace_destroy(ip);
    log_pipe_close(&lp);
    return 0;
}

/* Bytes of pages that are shared now; nobody else takes or drops any meanwhile. */
static inline size_t inplace_bytes(struct inplace *of)
{
    size_t sum = 0;
    LIST_EACH (node, &of->runs)
        sum += run_len(run_of(node));
    return sum;
}

static inline unsigned char byte_of(size_t i)
{
    return (unsigned char)(i * 31 + i / 4096);
}

static inline unsigned char *new_memory(size_t len)
{
    unsigned char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    for (size_t i = 0; i < len; i++)
        p[i] = byte_of(i);
    return p;
}

static inline bool intact(const unsigned char *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (p[i] != byte_of(i))
            return false;
    return true;
}

static inline bool count_private(void *arg, const struct vma *v)
{
    *(size_t *)arg += v->perms[3] == 'p' && !v->inode ? v->end - v->start : 0;
    return true;
}

static inline size_t private_bytes(const void *p, size_t len)
{
    size_t sum = 0;
    assert_int_equal(vma_each((uintptr_t)p, (uintptr_t)p + len, false, count_private, &sum),
                     VMA_ALL);
    return sum;
}

static inline void take(const void *p, size_t len)
{
    const int err = inplace_take(ip, p, len, false, text, sizeof text);
    if (err)
        print_message("%s\n", text);
    assert_int_equal(err, MRMA_SUCCESS);
}

static inline void refused(const void *p, size_t len, const char *why)
{
    const size_t before = inplace_bytes(ip);
    assert_int_not_equal(inplace_take(ip, p, len, false, text, sizeof text), MRMA_SUCCESS);
    if (!strstr(text, why))
        print_message("%s, expected %s\n", text, why);
    assert_non_null(strstr(text, why));
    assert_int_equal(inplace_bytes(ip), before);
}

/* What a peer sees of it, which is the owner's memory. */
static inline void check_peer(unsigned char *p, size_t len)
{
    struct heap_loc loc;
    struct seg seg;
    assert_true(inplace_find(ip, p, len, &loc));
    const size_t skip = (uintptr_t)p % page;
    assert_int_equal(loc.offset % page, skip);
    assert_int_equal(
        seg_open_part(&loc.seg, (size_t)loc.offset - skip, (size_t)loc.map, &lp.log, &seg),
        MRMA_SUCCESS);
    unsigned char *at = (unsigned char *)seg.base + skip;
    assert_memory_equal(at, p, len);
    at[len / 2] ^= 0xff;
    assert_int_equal(at[len / 2], p[len / 2]);
    at[len / 2] ^= 0xff;
    seg_close(&seg);
}

/* As the handlers of fork do it (mpi/fork.c). */
static inline pid_t forked(void)
{
    inplace_fork_prepare(ip);
    const pid_t pid = fork();
    if (pid == 0)
        inplace_fork_child(ip);
    else
        inplace_fork_parent(ip);
    return pid;
}

#define INPLACE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
