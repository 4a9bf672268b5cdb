/*
 * test_copy.c - copies past the caches (base/copy.h): the bytes of memcpy, all of them and no
 * others, wherever both sides lie; and all there for who has seen a store behind them.
 */
#include "base_helper.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/copy.h"

enum { ROOM = 3 * COPY_STREAMED_MIN, MARGIN = 192, ROUNDS = 20000 };

static unsigned char from[ROOM], to[ROOM + 2 * MARGIN], expected[sizeof to];

static void copied(size_t from_at, size_t to_at, size_t len,
                   void (*copy)(void *, const void *, size_t))
{
    memset(to, 0xA5, sizeof to);
    memset(expected, 0xA5, sizeof expected);
    memcpy(expected + to_at, from + from_at, len);
    copy(to + to_at, from + from_at, len);
    assert_memory_equal(to, expected, sizeof to);
}

static void perhaps_streamed(void *dest, const void *source, size_t len)
{
    copy_bytes(dest, source, len, true);
}

static void never_streamed(void *dest, const void *source, size_t len)
{
    copy_bytes(dest, source, len, false);
}

static void test_bytes(void **state)
{
    static const size_t lens[] = {0, 1, 7, 8, 63, 64, 65, 127, 128, 191, 1000, 4095, 4096, 4097};
    (void)state;
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(i * 31 + i / 256);
    for (size_t n = 0; n < sizeof lens / sizeof *lens; n++)
        for (size_t to_at = 64; to_at < 64 + 72; to_at += to_at % 16 < 2 ? 1 : 7)
            for (size_t from_at = 0; from_at < 40; from_at += 13) {
                copied(from_at, to_at, lens[n], copy_streamed);
                copied(from_at, to_at, lens[n], perhaps_streamed);
                copied(from_at, to_at, lens[n], never_streamed);
            }
    copied(3, MARGIN, sizeof from - 3, copy_streamed);
}

static _Atomic unsigned long written, seen;

static void *writer(void *arg)
{
    static unsigned char source[ROOM];
    (void)arg;
    for (unsigned long i = 1; i <= ROUNDS; i++) {
        while (atomic_load_explicit(&seen, memory_order_acquire) != i - 1)
            sched_yield();
        memset(source, (int)(i % 251), sizeof source);
        copy_streamed(to + i % 64, source, ROOM - i % 128);
        atomic_store_explicit(&written, i, memory_order_release);
    }
    return NULL;
}

/* A release store does not wait for such copies; the copy itself must. */
static void test_published(void **state)
{
    pthread_t thread;
    unsigned long wrong = 0;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, writer, NULL), 0);
    for (unsigned long i = 1; i <= ROUNDS; i++) {
        while (atomic_load_explicit(&written, memory_order_acquire) != i)
            sched_yield();
        const size_t len = ROOM - i % 128;
        for (size_t at = len; at-- > 0;) /* what was written last first */
            wrong += to[i % 64 + at] != i % 251;
        atomic_store_explicit(&seen, i, memory_order_release);
    }
    pthread_join(thread, NULL);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bytes),
                                       cmocka_unit_test(test_published)};
    return cmocka_run_group_tests_name("copy", tests, NULL, NULL);
}
