/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_page_heap.c - shm/page_heap: random use with contents checked, what is zero, what goes back
 * to the system, look-up and pins, threads, children of fork, and no room.
 */
#define _GNU_SOURCE 1 /* MAP_ANONYMOUS */
#include "shm/page_heap.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "shm/segment.h"

#define KIB ((size_t)1024)
#define MIB ((size_t)1 << 20)
#define RANGE ((size_t)16 << 30)
#define KEPT_MAX (64 * MIB) /* what a heap without blocks may have of the system */

static const struct log quiet = {.fd = -1};

static struct page_heap *new_heap(void)
{
    struct page_heap *heap;

    assert_int_equal(page_heap_create("", &quiet, RANGE, &heap), MRMA_SUCCESS);
    return heap;
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* The first and the last word of each page of a block hold its stamp. */
static void stamp(char *at, size_t size, uint64_t value)
{
    for (size_t off = 0; off + 8 <= size; off += 4096) {
        memcpy(at + off, &value, 8);
        memcpy(at + (off + 4088 <= size - 8 ? off + 4088 : size - 8), &value, 8);
    }
}

static bool has_stamp(const char *at, size_t size, uint64_t value)
{
    for (size_t off = 0; off + 8 <= size; off += 4096)
        if (memcmp(at + off, &value, 8) != 0 ||
            memcmp(at + (off + 4088 <= size - 8 ? off + 4088 : size - 8), &value, 8) != 0)
            return false;
    return true;
}

static bool is_zero(const char *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (at[i] != 0)
            return false;
    return true;
}

struct piece {
    char *at;
    size_t size;
    uint64_t value;
};

/* one_step allocates, resizes or frees one piece. Returns whether all was as it should be. */
static bool one_step(struct page_heap *heap, struct piece *p, uint64_t *seed)
{
    const uint64_t r = next_random(seed);
    const size_t size = (8 + (r >> 8) % ((r & 15) == 0 ? 8 * MIB : 512 * KIB)) & ~(size_t)7;

    if (p->at == NULL) {
        const size_t align = (size_t)1 << (r >> 40) % 23;
        const bool zero = (r & 32) != 0;

        p->at = page_heap_alloc(heap, size, align, zero);
        if (p->at == NULL || (uintptr_t)p->at % align != 0 || (zero && !is_zero(p->at, size)))
            return false;
    } else if (!has_stamp(p->at, p->size, p->value)) {
        return false;
    } else if ((r & 7) == 0) {
        if (!page_heap_resize(heap, p->at, size))
            return true;
        stamp(p->at, p->size < size ? p->size : size, p->value);
    } else {
        const bool freed = page_heap_free(heap, p->at);

        p->at = NULL;
        return freed;
    }
    p->size = size;
    p->value = r;
    stamp(p->at, size, r);
    return page_heap_size(heap, p->at) >= size;
}

static bool random_use(struct page_heap *heap, int steps, uint64_t seed)
{
    struct piece pieces[60] = {{NULL, 0, 0}};
    bool good = true;

    for (int i = 0; i < steps && good; i++)
        good = one_step(heap, &pieces[next_random(&seed) % 60], &seed);
    for (int i = 0; i < 60; i++)
        if (pieces[i].at != NULL) {
            good &= has_stamp(pieces[i].at, pieces[i].size, pieces[i].value);
            good &= page_heap_free(heap, pieces[i].at);
        }
    return good;
}

static void random_use_keeps_contents(void **state)
{
    struct page_heap *heap = new_heap();
    (void)state;

    for (uint64_t round = 1; round <= 4; round++) {
        assert_true(random_use(heap, 3000, round * 0x9e3779b97f4a7c15u));
        assert_true(page_heap_pages(heap) <= KEPT_MAX);
    }
    page_heap_destroy(heap);
}

static void *in_thread(void *arg)
{
    static _Atomic uint64_t turn = 1;

    return random_use(arg, 1500, turn++ * 0x9e3779b97f4a7c15u) ? arg : NULL;
}

static void threads_do_not_meet(void **state)
{
    struct page_heap *heap = new_heap();
    pthread_t threads[4];
    void *result;
    (void)state;

    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, in_thread, heap), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, heap);
    }
    assert_true(page_heap_pages(heap) <= KEPT_MAX);
    page_heap_destroy(heap);
}

/* A free block's neighbours are joined with it: else a block of their common size would need new
 * addresses. */
static void free_neighbours_are_joined(void **state)
{
    struct page_heap *heap = new_heap();
    char *at[32];
    (void)state;

    for (int i = 0; i < 32; i++) {
        at[i] = page_heap_alloc(heap, MIB, 1, false);
        assert_non_null(at[i]);
        assert_ptr_equal(at[i], at[0] + (size_t)i * MIB);
    }
    for (int i = 0; i < 32; i += 2)
        assert_true(page_heap_free(heap, at[i]));
    for (int i = 1; i < 32; i += 2)
        assert_true(page_heap_free(heap, at[i]));
    assert_ptr_equal(page_heap_alloc(heap, 32 * MIB, 1, false), at[0]);
    page_heap_destroy(heap);
}

static void freed_memory_goes_back(void **state)
{
    struct page_heap *heap = new_heap();
    char *small, *large;
    (void)state;

    large = page_heap_alloc(heap, 80 * MIB, 1, false);
    small = page_heap_alloc(heap, MIB, 1, false);
    memset(large, 1, 80 * MIB);
    memset(small, 1, MIB);
    assert_true(page_heap_pages(heap) >= 81 * MIB);
    assert_true(page_heap_free(heap, large));
    assert_true(page_heap_pages(heap) <= 3 * MIB);
    assert_true(is_zero(page_heap_alloc(heap, 80 * MIB, 1, true), 80 * MIB));

    /* Of many small ones the first freed are given back first. */
    char *many[90];
    for (int i = 0; i < 90; i++)
        memset(many[i] = page_heap_alloc(heap, MIB, 1, false), 2, MIB);
    const size_t full = page_heap_pages(heap);
    for (int i = 0; i < 90; i++)
        assert_true(page_heap_free(heap, many[i]));
    assert_true(page_heap_pages(heap) <= full - 20 * MIB);
    page_heap_destroy(heap);
}

static void protected_memory_can_be_freed(void **state)
{
    struct page_heap *heap = new_heap();
    char *at = page_heap_alloc(heap, 80 * MIB, 1, false);
    (void)state;

    memset(at, 1, 80 * MIB);
    assert_int_equal(mprotect(at, 80 * MIB, PROT_READ), 0);
    assert_true(page_heap_free(heap, at));
    char *again = page_heap_alloc(heap, 80 * MIB, 1, true);
    assert_ptr_equal(again, at);
    assert_true(is_zero(again, 80 * MIB));
    memset(again, 1, 80 * MIB);
    page_heap_destroy(heap);
}

static void blocks_grow_and_shrink_in_place(void **state)
{
    struct page_heap *heap = new_heap();
    char *at = page_heap_alloc(heap, MIB, 1, false);
    (void)state;

    stamp(at, MIB, 7);
    assert_true(page_heap_resize(heap, at, 40 * MIB));
    assert_int_equal(page_heap_size(heap, at), 40 * MIB);
    assert_true(has_stamp(at, MIB, 7));
    memset(at, 1, 40 * MIB);
    char *next = page_heap_alloc(heap, MIB, 1, false);
    assert_ptr_equal(next, at + 40 * MIB);
    assert_false(page_heap_resize(heap, at, 41 * MIB));
    assert_true(page_heap_resize(heap, at, 10 * MIB));
    assert_int_equal(page_heap_size(heap, at), 10 * MIB);
    assert_ptr_equal(page_heap_alloc(heap, 30 * MIB, 1, false), at + 10 * MIB);
    page_heap_destroy(heap);
}

/* A peer, here the same process, sees by the location what the block holds. */
static void a_peer_finds_the_memory(void **state)
{
    struct page_heap *heap = new_heap();
    char *at = page_heap_alloc(heap, MIB, 1, false);
    char *other = page_heap_alloc(heap, MIB, 1, false);
    struct heap_loc loc;
    struct seg seg;
    (void)state;

    assert_true(page_heap_find(heap, at + 100, MIB - 100, &loc));
    assert_false(page_heap_find(heap, at + 100, MIB, &loc));
    assert_false(page_heap_find(heap, &loc, 1, &loc));
    assert_int_equal(seg_open(&loc.seg, &quiet, &seg), MRMA_SUCCESS);
    strcpy(at + 100, "seen");
    assert_string_equal((char *)seg.base + loc.offset, "seen");
    strcpy((char *)seg.base + loc.offset, "back");
    assert_string_equal(at + 100, "back");
    seg_close(&seg);
    assert_true(page_heap_find(heap, other, MIB, &loc));
    assert_true(page_heap_free(heap, other));
    assert_false(page_heap_find(heap, other, MIB, &loc));
    assert_false(page_heap_free(heap, other));
    assert_false(page_heap_free(heap, at + 4096));
    assert_int_equal(page_heap_size(heap, other), 0);
    page_heap_destroy(heap);
}

static void pinned_memory_is_kept(void **state)
{
    struct page_heap *heap = new_heap();
    char *at = page_heap_alloc(heap, MIB, 1, false);
    struct heap_loc loc;
    (void)state;

    assert_true(page_heap_pin(heap, at, MIB));
    assert_true(page_heap_pin(heap, at + 10, 10));
    stamp(at, MIB, 9);
    assert_true(page_heap_free(heap, at));
    assert_false(page_heap_free(heap, at));
    assert_false(page_heap_find(heap, at, MIB, &loc));
    page_heap_unpin(heap, at);
    assert_ptr_not_equal(page_heap_alloc(heap, MIB, 1, true), at);
    assert_true(has_stamp(at, MIB, 9));
    page_heap_unpin(heap, at + 10);
    assert_ptr_equal(page_heap_alloc(heap, MIB, 1, false), at);
    page_heap_destroy(heap);
}

/* what_child_does returns 0 if the child has the parent's memory of the fork, and blocks of its
 * own. */
static int what_child_does(struct page_heap *heap, char *at, char *freed, int go)
{
    char byte;

    strcpy(at + 8, "child");
    if (read(go, &byte, 1) != 1 || strcmp(at, "fork") != 0)
        return 1;
    char *own = page_heap_alloc(heap, 2 * MIB, 1, true);
    struct heap_loc loc;
    if (own == NULL || !is_zero(own, 2 * MIB) || page_heap_find(heap, own, MIB, &loc))
        return 2;
    memset(own, 5, 2 * MIB);
    if (!page_heap_free(heap, freed) || !page_heap_free(heap, at))
        return 3;
    char *large = page_heap_alloc(heap, 80 * MIB, 1, false);
    memset(large, 6, 80 * MIB);
    return page_heap_free(heap, large) &&
                   is_zero(page_heap_alloc(heap, 80 * MIB, 1, true), 80 * MIB)
               ? 0
               : 4;
}

static void a_child_has_copies(void **state)
{
    struct page_heap *heap = new_heap();
    char *at = page_heap_alloc(heap, MIB, 1, false), *freed = page_heap_alloc(heap, MIB, 1, false);
    int go[2], status;
    (void)state;

    assert_int_equal(pipe(go), 0);
    strcpy(at, "fork");
    stamp(freed, MIB, 3);
    page_heap_fork_prepare(heap);
    assert_null(page_heap_alloc(heap, MIB, 1, false));
    const pid_t child = fork();
    if (child == 0) {
        page_heap_fork_child(heap);
        _exit(what_child_does(heap, at, freed, go[0]));
    }
    page_heap_fork_parent(heap);
    strcpy(at, "after");
    char *later = page_heap_alloc(heap, 2 * MIB, 1, false);
    stamp(later, 2 * MIB, 4);
    assert_int_equal(write(go[1], "", 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_string_equal(at, "after");
    assert_string_equal(at + 8, "");
    assert_true(has_stamp(freed, MIB, 3));
    assert_true(has_stamp(later, 2 * MIB, 4));
    close(go[0]);
    close(go[1]);
    page_heap_destroy(heap);
}

/* Blocks that the forking thread frees while the fork is made keep their pages: in the child they
 * are still the parent's. */
static void blocks_are_freed_during_a_fork(void **state)
{
    struct page_heap *heap = new_heap();
    char *at = page_heap_alloc(heap, 80 * MIB, 1, false);
    int status;
    (void)state;

    stamp(at, 80 * MIB, 3);
    page_heap_fork_prepare(heap);
    const pid_t child = fork();
    if (child == 0) {
        const bool freed = page_heap_free(heap, at);
        page_heap_fork_child(heap);
        _exit(freed && is_zero(page_heap_alloc(heap, 80 * MIB, 1, true), 80 * MIB) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    page_heap_fork_parent(heap);
    assert_int_equal(status, 0);
    assert_true(has_stamp(at, 80 * MIB, 3));
    page_heap_destroy(heap);
}

static void without_room_there_is_no_block(void **state)
{
    struct page_heap *heap = new_heap();
    (void)state;

    char *at = page_heap_alloc(heap, MIB, 1, false);
    assert_null(page_heap_alloc(heap, RANGE + MIB, 1, false));
    assert_null(page_heap_alloc(heap, SIZE_MAX - MIB, 1, false));
    assert_null(page_heap_alloc(heap, MIB, 2 * RANGE, false));
    assert_false(page_heap_resize(heap, at, RANGE * 2));
    assert_false(page_heap_resize(heap, at, SIZE_MAX));
    assert_int_equal(page_heap_size(heap, at), MIB);
    page_heap_destroy(heap);
}

/* Address space that is limited gives a smaller range, or none. */
static void the_range_is_what_there_is(void **state)
{
    struct page_heap *heap;
    size_t size;
    (void)state;

    assert_int_equal(page_heap_create("", &quiet, (size_t)1 << 50, &heap), MRMA_SUCCESS);
    const char *at = page_heap_range(heap, &size);
    assert_true(size >= (size_t)1 << 30 && size < (size_t)1 << 48);
    char *block = page_heap_alloc(heap, MIB, 1, false);
    assert_true(block >= at && block + MIB <= at + size);
    page_heap_destroy(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_use_keeps_contents),
        cmocka_unit_test(threads_do_not_meet),
        cmocka_unit_test(free_neighbours_are_joined),
        cmocka_unit_test(freed_memory_goes_back),
        cmocka_unit_test(protected_memory_can_be_freed),
        cmocka_unit_test(blocks_grow_and_shrink_in_place),
        cmocka_unit_test(a_peer_finds_the_memory),
        cmocka_unit_test(pinned_memory_is_kept),
        cmocka_unit_test(a_child_has_copies),
        cmocka_unit_test(blocks_are_freed_during_a_fork),
        cmocka_unit_test(without_room_there_is_no_block),
        cmocka_unit_test(the_range_is_what_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
