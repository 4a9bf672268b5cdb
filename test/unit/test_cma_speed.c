/*
 * test_cma_speed.c - shm/cma_speed: the price is what the kernel took at its best, whatever that is; without
 * the kernel's consent or without memory there is none, and nothing is left behind.
 *
 * process_vm_readv, malloc and free of the library are the linker's __wrap_ functions here.
 */
#define _GNU_SOURCE 1
#include "base_helper.h"

#include <stdlib.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "shm/cma_speed.h"

enum { BYTES = 64 * 1024, SLOW_MS = 40 };

/* ---- the kernel ---- */

enum answer { REAL, COPY_NOTHING, REFUSE, FALL_SHORT };

static struct {
    enum answer answer;
    int from; /* that call on; before it nothing is copied, and said to be */
    int slow; /* so many calls at first take SLOW_MS */
    int calls;
    bool asked_wrongly;
} kernel;

ssize_t __real_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long nlocal, const struct iovec *remote,
                                unsigned long nremote, unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long nlocal, const struct iovec *remote,
                                unsigned long nremote, unsigned long flags);

ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long nlocal, const struct iovec *remote,
                                unsigned long nremote, unsigned long flags)
{
    const int call = kernel.calls++;
    if (pid != getpid() || nlocal != 1 || nremote != 1 || flags || local->iov_len != BYTES ||
        remote->iov_len != BYTES || local->iov_base == remote->iov_base)
        kernel.asked_wrongly = true;
    if (call < kernel.slow)
        nanosleep(&(struct timespec){0, SLOW_MS * 1000000L}, NULL);
    switch (call < kernel.from ? COPY_NOTHING : kernel.answer) {
    case COPY_NOTHING: return BYTES;
    case REFUSE: errno = EPERM; return -1;
    case FALL_SHORT: return BYTES - 1;
    default: return __real_process_vm_readv(pid, local, nlocal, remote, nremote, flags);
    }
}

/* ---- memory ---- */

static bool watched;
static int blocks;        /* in use, of those that were asked for while watched */
static int until_failure; /* allocations; 0: none fails */

void *__real_malloc(size_t size);
void __real_free(void *ptr);
void *__wrap_malloc(size_t size);
void __wrap_free(void *ptr);

void *__wrap_malloc(size_t size)
{
    if (!watched)
        return __real_malloc(size);
    if (until_failure > 0 && --until_failure == 0)
        return NULL;
    blocks++;
    return __real_malloc(size);
}

void __wrap_free(void *ptr)
{
    blocks -= watched && ptr;
    __real_free(ptr);
}

/* ---- tests ---- */

static int setup(void **state)
{
    (void)state;
    memset(&kernel, 0, sizeof kernel);
    blocks = until_failure = 0;
    return 0;
}

static struct cma_price price(void)
{
    watched = true;
    const struct cma_price p = cma_price();
    watched = false;
    assert_false(kernel.asked_wrongly);
    assert_int_equal(blocks, 0);
    return p;
}

static void expect_none(int calls)
{
    const struct cma_price p = price();
    assert_true(p.kernel_ns == 0 && p.own_ns == 0);
    assert_int_equal(kernel.calls, calls);
}

static void a_kernel_that_copies_has_a_price(void **state)
{
    (void)state;
    const struct cma_price p = price();
    if (kernel.calls == 1) { /* not here */
        assert_true(p.kernel_ns == 0 && p.own_ns == 0);
        skip();
    }
    assert_true(p.kernel_ns > 0 && p.own_ns > 0);
}

static void a_slow_one_is_dear(void **state)
{
    (void)state;
    kernel.answer = COPY_NOTHING;
    kernel.slow = 1000;
    const struct cma_price p = price();
    assert_true(p.kernel_ns >= SLOW_MS * 1000000);
    assert_true(p.own_ns > 0 && p.own_ns < SLOW_MS * 1000000);
}

/* An empty call is quicker than any copy of 64 KiB. */
static void a_quick_one_costs_less_than_memcpy(void **state)
{
    (void)state;
    kernel.answer = COPY_NOTHING;
    const struct cma_price p = price();
    assert_true(p.kernel_ns < p.own_ns);
    assert_true(kernel.calls > 1);
}

static void the_best_of_some_counts(void **state)
{
    (void)state;
    kernel.answer = COPY_NOTHING;
    (void)price();
    kernel.slow = kernel.calls - 1;
    assert_true(kernel.slow > 0);
    kernel.calls = 0;
    assert_true(price().kernel_ns < SLOW_MS * 1000000);
}

static void refused_or_short_there_is_none(void **state)
{
    (void)state;
    for (int from = 0; from < 3; from++)
        for (enum answer answer = REFUSE; answer <= FALL_SHORT; answer++) {
            (void)setup(state);
            kernel.answer = answer;
            kernel.from = from;
            expect_none(from + 1); /* and is not asked again */
        }
}

static void without_memory_there_is_none(void **state)
{
    (void)state;
    for (int n = 1; n <= 2; n++) {
        until_failure = n;
        expect_none(0);
        assert_int_equal(until_failure, 0);
    }
}

#define SPEED_TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SPEED_TEST(a_kernel_that_copies_has_a_price), SPEED_TEST(a_slow_one_is_dear),
        SPEED_TEST(a_quick_one_costs_less_than_memcpy), SPEED_TEST(the_best_of_some_counts),
        SPEED_TEST(refused_or_short_there_is_none), SPEED_TEST(without_memory_there_is_none),
    };
    return cmocka_run_group_tests_name("cma_speed", tests, NULL, NULL);
}
