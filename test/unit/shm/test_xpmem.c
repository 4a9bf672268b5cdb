/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_xpmem.c - shm/xpmem over the double of libxpmem.so.0 in test/xpmem, and with it the double:
 * other processes, and this one, attach memory of malloc, of static variables and of
 * shared files; each call refused in turn.
 */
#define _GNU_SOURCE 1
#include "test/support/base_helper.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "base/err.h"
#include "shm/xpmem.h"

#define DOUBLE "test/xpmem/.libs/libxpmem.so.0"

static struct shm_xpmem *xpmem;
static size_t page;
static char static_data[20000] = {1};

/* Loaded by its path here, it is what the library finds by its name. */
static int load_double(void **state)
{
    char why[300];
    (void)state;
    page = (size_t)sysconf(_SC_PAGESIZE);
    if (!dlopen(DOUBLE, RTLD_NOW)) {
        print_error("%s\n", dlerror());
        return 1;
    }
    if (shm_xpmem_open(true, &xpmem, why, sizeof why) != MRMA_SUCCESS) {
        print_error("%s\n", why);
        return 1;
    }
    return 0;
}

static int unload(void **state)
{
    (void)state;
    shm_xpmem_close(xpmem);
    return 0;
}

/* ---- one process attaches what another has exported ---- */

struct order {
    uint64_t segment, vaddr, len;
    unsigned char expected, value; /* in all bytes; what they become */
};

static int attach_and_change(void *arg)
{
    const struct order *o = arg;
    struct shm_xpmem_map map;
    CHILD_CHECK(shm_xpmem_attach(xpmem, o->segment, o->vaddr, o->len, &map) == 0);
    unsigned char *at = map.at;
    for (uint64_t i = 0; i < o->len; i++)
        CHILD_CHECK(at[i] == o->expected);
    memset(at, o->value, o->len);
    shm_xpmem_detach(xpmem, &map);
    return 0;
}

static int attach_fails(void *arg)
{
    const struct order *o = arg;
    struct shm_xpmem_map map;
    CHILD_CHECK(shm_xpmem_attach(xpmem, o->segment, o->vaddr, o->len, &map) == ENOENT);
    return 0;
}

static bool all_are(const void *at, size_t len, unsigned char value)
{
    const unsigned char *bytes = at;
    for (size_t i = 0; i < len; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

static struct order order_of(const void *at, size_t len, unsigned char expected)
{
    const uint64_t segment = shm_xpmem_make(xpmem, at, len);
    assert_true(segment > 0);
    return (struct order){segment, (uint64_t)(uintptr_t)at, len, expected,
                          (unsigned char)(expected + 1)};
}

/* A child sees at's bytes and changes them, and the neighbours stay as they are. */
static void share(char *whole, size_t total, size_t from, size_t len)
{
    memset(whole, 7, total);
    struct order o = order_of(whole + from, len, 7);
    assert_true(all_are(whole, total, 7));
    assert_int_equal(run_child(attach_and_change, &o), 0);
    assert_true(all_are(whole, from, 7));
    assert_true(all_are(whole + from, len, 8));
    assert_true(all_are(whole + from + len, total - from - len, 7));
    memset(whole + from, 9, len); /* it is still the same memory afterwards */
    o.expected = 9;
    o.value = 10;
    assert_int_equal(run_child(attach_and_change, &o), 0);
    assert_true(all_are(whole + from, len, 10));
    shm_xpmem_remove(xpmem, o.segment);
    assert_int_equal(run_child(attach_fails, &o), 0);
}

static void any_memory_at_any_address(void **state)
{
    const size_t total = 5 * page + 100;
    char *heap = malloc(total), *small = malloc(100);
    char *mapped = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_non_null(heap);
    assert_non_null(small);
    assert_true(mapped != MAP_FAILED);
    share(heap, total, 0, total);
    share(heap, total, 13, page);
    share(heap, total, page - 1, 2);
    share(small, 100, 3, 1);
    share(mapped, total, 0, 1);
    share(mapped, total, 1, total - 2);
    share(static_data, sizeof static_data, 11, 15000);
    free(heap);
    free(small);
    munmap(mapped, total);
}

static void segments_may_overlap(void **state)
{
    char *at = malloc(10 * page);
    (void)state;
    assert_non_null(at);
    memset(at, 1, 10 * page);
    struct order a = order_of(at, 6 * page, 1), b = order_of(at + 4 * page, 6 * page, 2);
    assert_int_not_equal(a.segment, b.segment);
    memset(at + 6 * page, 2, 4 * page);
    assert_int_equal(run_child(attach_and_change, &a), 0);
    assert_int_equal(run_child(attach_and_change, &b), 0);
    assert_true(all_are(at, 4 * page, 2));
    assert_true(all_are(at + 4 * page, 6 * page, 3));
    shm_xpmem_remove(xpmem, a.segment);
    shm_xpmem_remove(xpmem, b.segment);
    free(at);
}

/* A segment made later is of what is there then. */
static void memory_that_is_mapped_anew(void **state)
{
    char *at = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct shm_xpmem_map old, new;
    (void)state;
    assert_true(at != MAP_FAILED);
    memset(at, 1, 4 * page);
    const struct order o = order_of(at, 4 * page, 1);
    assert_int_equal(shm_xpmem_attach(xpmem, o.segment, o.vaddr, o.len, &old), 0);
    assert_ptr_equal(
        mmap(at, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
        at);
    memset(at, 5, 4 * page);
    const struct order p = order_of(at, 4 * page, 5);
    assert_int_not_equal(p.segment, o.segment);
    assert_int_equal(shm_xpmem_attach(xpmem, p.segment, p.vaddr, p.len, &new), 0);
    assert_true(all_are(new.at, 4 * page, 5));
    shm_xpmem_detach(xpmem, &old);
    at[0] = 6;
    assert_int_equal(*(char *)new.at, 6);
    shm_xpmem_detach(xpmem, &new);
    munmap(at, 4 * page);
}

static void a_probe_tells_another_value(void **state)
{
    static uint64_t word = 42;
    (void)state;
    const uint64_t at = (uint64_t)(uintptr_t)&word, segment = shm_xpmem_make(xpmem, &word, 8);
    assert_true(segment > 0);
    assert_int_equal(shm_xpmem_probe(xpmem, segment, at, 42), 0);
    assert_int_equal(shm_xpmem_probe(xpmem, segment, at, 43), -1);
    shm_xpmem_remove(xpmem, segment);
    assert_int_equal(shm_xpmem_probe(xpmem, segment, at, 42), ENOENT);
    assert_int_equal(shm_xpmem_probe(xpmem, 0, at, 42), EINVAL);
}

/* ---- what makes trouble ---- */

static atomic_bool over;

struct counted {
    _Atomic uint64_t word;
    uint64_t last;
};

/* Nothing that a thread stores while pages are moved is lost. */
static void *count(void *arg)
{
    struct counted *c = arg;
    while (!atomic_load(&over)) {
        assert_int_equal(atomic_load(&c->word), c->last);
        atomic_store(&c->word, ++c->last);
    }
    return NULL;
}

static void other_threads_go_on(void **state)
{
    struct counted *c = malloc(sizeof *c + 64 * page);
    pthread_t thread;
    (void)state;
    assert_non_null(c);
    memset(c, 0, sizeof *c + 64 * page);
    assert_int_equal(pthread_create(&thread, NULL, count, c), 0);
    for (size_t i = 0; i < 64; i++)
        shm_xpmem_remove(xpmem, shm_xpmem_make(xpmem, (char *)c + i * page, page));
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    assert_true(c->last > 0);
    free(c);
}

static int change_copies(void *arg)
{
    char *at = arg;
    CHILD_CHECK(all_are(at, 3 * page, 4));
    memset(at, 5, 3 * page);
    return 0;
}

static void children_have_copies(void **state)
{
    char *at = malloc(3 * page);
    (void)state;
    assert_non_null(at);
    memset(at, 4, 3 * page);
    const struct order o = order_of(at, 3 * page, 4);
    assert_int_equal(run_child(change_copies, at), 0);
    assert_true(all_are(at, 3 * page, 4));
    shm_xpmem_remove(xpmem, o.segment);
    free(at);
}

static void each_call_may_be_refused(void **state)
{
    static const struct {
        const char *call, *says;
    } calls[] = {{"version", "xpmem_version"},
                 {"make", "xpmem_make"},
                 {"get", "xpmem_get"},
                 {"attach", "xpmem_attach"}};
    struct shm_xpmem *x;
    char why[300];
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        setenv("XPMEM_DOUBLE_REFUSE", calls[i].call, 1);
        x = NULL;
        assert_int_equal(shm_xpmem_open(true, &x, why, sizeof why), MRMA_ERR_OTHER);
        assert_null(x);
        if (!strstr(why, calls[i].says))
            fail_msg("%s refused: %s", calls[i].call, why);
    }
    static const char *const harmless[] = {"detach", "release", "remove"};
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        setenv("XPMEM_DOUBLE_REFUSE", harmless[i], 1);
        assert_int_equal(shm_xpmem_open(true, &x, why, sizeof why), MRMA_SUCCESS);
        shm_xpmem_close(x);
    }
    unsetenv("XPMEM_DOUBLE_REFUSE");
}

static int without_library(void *arg)
{
    struct shm_xpmem *x;
    char why[300];
    (void)arg;
    CHILD_CHECK(shm_xpmem_open(true, &x, why, sizeof why) == MRMA_ERR_OTHER);
    CHILD_CHECK(strstr(why, "libxpmem.so.0") != NULL);
    return 0;
}

/* The double, which is loaded by now, needs no device. */
static void without_the_device_nothing_is_searched(void **state)
{
    struct shm_xpmem *x;
    char why[300];
    (void)state;
    if (access("/dev/xpmem", F_OK) == 0)
        skip();
    assert_int_equal(shm_xpmem_open(false, &x, why, sizeof why), MRMA_ERR_OTHER);
    assert_non_null(strstr(why, "/dev/xpmem"));
}

/* Runs before the double is loaded. */
static void no_library_is_said(void **state)
{
    (void)state;
    if (dlopen("libxpmem.so.0", RTLD_LAZY))
        expect_child(CHILD_SKIP, "this system has a libxpmem of its own");
    assert_int_equal(run_child(without_library, NULL), 0);
}

static int tests(void)
{
    const struct CMUnitTest list[] = {
        cmocka_unit_test(no_library_is_said),
        cmocka_unit_test_setup(any_memory_at_any_address, load_double),
        cmocka_unit_test(without_the_device_nothing_is_searched),
        cmocka_unit_test(segments_may_overlap),
        cmocka_unit_test(memory_that_is_mapped_anew),
        cmocka_unit_test(a_probe_tells_another_value),
        cmocka_unit_test(other_threads_go_on),
        cmocka_unit_test(children_have_copies),
        cmocka_unit_test(each_call_may_be_refused),
    };
    return cmocka_run_group_tests(list, NULL, unload);
}

int main(void)
{
    return run_with_skips(tests);
}
