/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_stripe.c - which stripe an element belongs to, and that the stripes make
 * accumulates on mapped memory atomic: exact results of many threads on
 * overlapping ranges, for several types, operations, alignments and layouts.
 */
#include <pthread.h>
#include <sched.h>

#include "test/sim/fabric.h"
#include "test/support/base_helper.h"
#include "rma/path/copy_local.h"
#include "sys/procstart.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { ROUNDS = 300 };
#else
enum { ROUNDS = 2000 };
#endif
enum { THREADS = 4, GRANULE = 1 << RMA_STRIPE_SHIFT, AREA = 5 * GRANULE };

/* ---- which stripe ---- */

static void test_index(void **state)
{
    (void)state;
    for (uint64_t a = 0; a < 4 * (uint64_t)GRANULE * RMA_STRIPES; a += GRANULE / 2 + 1)
        assert_true(stripe_index(a) == a / GRANULE % RMA_STRIPES);
    assert_true(stripe_index(UINT64_MAX) < RMA_STRIPES);
}

/* A run is whole elements, all starting in the first one's granule, and as many
 * as there are. */
static void test_run(void **state)
{
    uint64_t seed = 1;
    (void)state;
    static const size_t units[] = {1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 32};
    for (int i = 0; i < 200000; i++) {
        const size_t unit = units[next_random(&seed) % (sizeof units / sizeof units[0])];
        const uint64_t at = next_random(&seed) % (UINT64_C(1) << 47);
        const size_t n = 1 + next_random(&seed) % (3 * GRANULE), len = n * unit;
        const size_t run = stripe_run(at, len, unit);
        assert_true(run > 0 && run <= len && run % unit == 0);
        assert_int_equal(stripe_one(at, len), at / GRANULE == (at + len - 1) / GRANULE);
        assert_true(!stripe_one(at, len) || run == len);
        assert_true((at + run - unit) / GRANULE == at / GRANULE);
        if (run < len)
            assert_true((at + run) / GRANULE != at / GRANULE);
    }
}

/* Cutting a range at any element gives every element the same stripe: two
 * accumulates that overlap agree on the lock. */
static void test_cuts_agree(void **state)
{
    const uint64_t base = 7 * GRANULE - 13;
    const size_t unit = 8, n = 4000;
    unsigned char *owner = calloc(n, 1);
    (void)state;
    for (size_t start = 0; start < n; start += 37)
        for (size_t e = start; e < n;) {
            const size_t run = stripe_run(base + e * unit, (n - e) * unit, unit) / unit;
            for (size_t k = e; k < e + run; k++) {
                const unsigned stripe = stripe_index(base + e * unit) + 1;
                assert_true(owner[k] == 0 || owner[k] == stripe);
                owner[k] = (unsigned char)stripe;
            }
            e += run;
        }
    free(owner);
}

/* As many strided elements as start in the first one's granule, counted one by one. */
static void test_count(void **state)
{
    uint64_t seed = 3;
    (void)state;
    for (int i = 0; i < 100000; i++) {
        const uint64_t at = (UINT64_C(1) << 40) + next_random(&seed) % (4 * GRANULE);
        const size_t n = 1 + next_random(&seed) % 100;
        const ptrdiff_t stride = (ptrdiff_t)(next_random(&seed) % 600) - 300;
        size_t want = 1;
        while (want < n && (at + want * (uint64_t)stride) / GRANULE == at / GRANULE)
            want++;
        assert_int_equal(stripe_count(at, stride, n), want);
    }
    assert_int_equal(stripe_count(GRANULE - 1, PTRDIFF_MAX, 9), 1);
    assert_int_equal(stripe_count(GRANULE, PTRDIFF_MIN, 9), 1);
}

/* A hold keeps a stripe that is asked for again and never has two. */
static void test_hold(void **state)
{
    const struct stripes stripes = {aligned_alloc(MRMA_CACHE_LINE, 3 * sizeof *stripes.at), 1};
    struct stripe_hold hold = {NULL};
    (void)state;
    memset(stripes.at, 0, 3 * sizeof *stripes.at);
    for (int i = 0; i < 30; i++) {
        stripe_hold_take(&hold, stripes, i / 2 % 3);
        for (int k = 0; k < 3; k++)
            assert_int_equal(atomic_load(&stripes.at[k].word), k == i / 2 % 3);
    }
    stripe_hold_drop(&hold);
    stripe_hold_drop(&hold);
    for (int k = 0; k < 3; k++)
        assert_int_equal(atomic_load(&stripes.at[k].word), 0);
    free(stripes.at);
}

/* ---- sets ---- */

struct set_arg {
    struct stripes stripes;
    uint64_t *counts; /* plain, one a stripe */
    uint64_t seed, locked[RMA_STRIPES];
};

static void *lock_sets(void *arg)
{
    struct set_arg *a = arg;
    for (int i = 0; i < ROUNDS; i++) {
        struct stripe_set set = {{0}};
        unsigned members[6];
        for (int k = 0; k < 6; k++) {
            members[k] = next_random(&a->seed) % 4 ? next_random(&a->seed) % 8
                                                   : next_random(&a->seed) % RMA_STRIPES;
            stripe_set_add(&set, members[k]);
        }
        stripe_set_lock(a->stripes, &set, true);
        for (int k = 0; k < 6; k++) {
            FABRIC_CHECK(
                atomic_load_explicit(&a->stripes.at[members[k]].word, memory_order_relaxed) != 0);
            a->counts[members[k]]++;
            a->locked[members[k]]++;
        }
        if (i % 16 == 0)
            sched_yield();
        stripe_set_lock(a->stripes, &set, false);
    }
    return NULL;
}

static struct stripes new_stripes(void)
{
    const struct stripes stripes = {
        aligned_alloc(MRMA_CACHE_LINE, RMA_STRIPES * sizeof *stripes.at),
        fmutex_self(procstart_of(0))};
    memset(stripes.at, 0, RMA_STRIPES * sizeof *stripes.at);
    return stripes;
}

static void expect_free(struct stripes stripes)
{
    for (int i = 0; i < RMA_STRIPES; i++)
        assert_int_equal(atomic_load(&stripes.at[i].word), 0);
}

/* Pieces one after the other keep the stripe of the last element, and no other. */
static void test_held_pieces(void **state)
{
    const struct stripes stripes = new_stripes();
    char *at = aligned_alloc(GRANULE, AREA);
    const uint64_t base = (uint64_t)(uintptr_t)at, one = 1;
    uint64_t many[GRANULE / 8], old = 77;
    struct stripe_hold hold = {NULL};
    (void)state;
    memset(at, 0, AREA);
    for (size_t i = 0; i < GRANULE / 8; i++)
        many[i] = 1;
    for (int i = 0; i < 3; i++) {
        direct_acc_held(&hold, (struct acc_at){stripes, base + 8, at + 8},
                        (struct acc_what){ACC_SUM, ACC_U64}, &one, &old, 8);
        assert_int_equal(old, i);
        assert_ptr_equal(hold.held, &stripes.at[stripe_index(base)]);
    }
    assert_int_equal(atomic_load(&hold.held->word), stripes.self);
    direct_acc_held(&hold, (struct acc_at){stripes, base + GRANULE / 2, at + GRANULE / 2},
                    (struct acc_what){ACC_SUM, ACC_U64}, many, NULL, GRANULE);
    assert_ptr_equal(hold.held, &stripes.at[stripe_index(base + GRANULE)]);
    assert_int_equal(atomic_load(&stripes.at[stripe_index(base)].word), 0);
    assert_int_equal(atomic_load(&hold.held->word), stripes.self);
    stripe_hold_drop(&hold);
    expect_free(stripes);
    for (uint64_t *v = (uint64_t *)(void *)at; v < (uint64_t *)(void *)(at + AREA); v++) {
        const ptrdiff_t disp = (char *)v - at;
        assert_int_equal(*v, disp == 8 ? 3 : disp >= GRANULE / 2 && disp < GRANULE / 2 + GRANULE);
    }
    free(at);
    free(stripes.at);
}

static void test_sets(void **state)
{
    const struct stripes stripes = new_stripes();
    static uint64_t counts[RMA_STRIPES];
    static struct set_arg args[THREADS];
    pthread_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++) {
        args[i] = (struct set_arg){.stripes = stripes, .counts = counts, .seed = (uint64_t)i + 5};
        assert_int_equal(pthread_create(&threads[i], NULL, lock_sets, &args[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int s = 0; s < RMA_STRIPES; s++) {
        uint64_t sum = 0;
        for (int i = 0; i < THREADS; i++)
            sum += args[i].locked[s];
        assert_int_equal(counts[s], sum);
    }
    expect_free(stripes);
    free(stripes.at);
}

/* ---- accumulates ---- */

struct acc_case {
    enum acc_type type;
    size_t shift;  /* the target starts so many bytes into its area */
    size_t stride; /* elements from element to element at the target, 1: contiguous */
    bool fetch;
};

struct acc_arg {
    const struct acc_case *c;
    struct stripes stripes;
    char *area;
    uint64_t seed;
    uint64_t *hits; /* this thread's, one an element */
    size_t elements;
};

/* Sums of ones stay exact in every type here: small enough for all of them. */
static void set_ones(enum acc_type type, char *at, size_t n)
{
    const size_t unit = acc_extent(type);
    memset(at, 0, n * unit);
    for (size_t i = 0; i < n; i++) {
        char *to = at + i * unit;
        switch (type) {
        case ACC_F32:
        case ACC_C32:
            memcpy(to, &(float){1}, sizeof(float));
            break;
        case ACC_F64:
        case ACC_C64:
            memcpy(to, &(double){1}, sizeof(double));
            break;
        case ACC_F80:
            *(long double *)(void *)to = 1;
            break;
        default:
            to[0] = 1; /* little-endian integers */
        }
    }
}

static uint64_t value_of(enum acc_type type, const char *at)
{
    union {
        float f;
        double d;
        long double l;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
    } v;
    memcpy(&v, at, acc_extent(type) < sizeof v ? acc_extent(type) : sizeof v);
    switch (type) {
    case ACC_F32:
    case ACC_C32:
        return (uint64_t)v.f;
    case ACC_F64:
    case ACC_C64:
        return (uint64_t)v.d;
    case ACC_F80:
        return (uint64_t)v.l;
    case ACC_U16:
        return v.u16;
    case ACC_I32:
        return v.u32;
    default:
        return v.u64;
    }
}

static void one_accumulate(struct acc_arg *a, const char *ones, char *old)
{
    const struct acc_case *c = a->c;
    const size_t unit = acc_extent(c->type), reach = a->elements;
    const size_t first = next_random(&a->seed) % reach;
    const size_t most = (reach - first + c->stride - 1) / c->stride;
    const size_t n = next_random(&a->seed) % 3 ? 1 + next_random(&a->seed) % most : 1;
    const struct dtype basic = dtype_basic((uint8_t)c->type);
    const struct dtype_run run = {0, unit, (ptrdiff_t)(unit * c->stride), n};
    const struct dtype strided = {.size = n * unit,
                                  .extent = (ptrdiff_t)(n * c->stride * unit),
                                  .true_extent = ((n - 1) * c->stride + 1) * unit,
                                  .contig = false,
                                  .basic = (uint8_t)c->type,
                                  .elems = n,
                                  .runs = &run,
                                  .nruns = 1,
                                  .eruns = &run,
                                  .neruns = 1};
    const bool contig = c->stride == 1;
    const struct rma_op op = {.oaddr = ones,
                              .ocount = n,
                              .otype = &basic,
                              .raddr = old,
                              .rcount = n,
                              .rtype = &basic,
                              .tcount = contig ? n : 1,
                              .ttype = contig ? &basic : &strided,
                              .op = ACC_SUM};
    char *target = a->area + c->shift + first * unit;
    direct_acc((struct acc_at){a->stripes, (uint64_t)(uintptr_t)target, target}, &op, c->fetch);
    for (size_t i = 0; i < n; i++)
        a->hits[first + i * c->stride]++;
    if (c->fetch) /* what was there holds at least what this thread had added before */
        for (size_t i = 0; i < n; i += 97)
            FABRIC_CHECK(value_of(c->type, old + i * unit) + 1 >= a->hits[first + i * c->stride]);
}

static void *accumulate(void *arg)
{
    struct acc_arg *a = arg;
    const size_t unit = acc_extent(a->c->type);
    char *ones = aligned_alloc(16, AREA), *old = aligned_alloc(16, AREA);
    set_ones(a->c->type, ones, AREA / unit);
    for (int i = 0; i < ROUNDS / 10; i++)
        one_accumulate(a, ones, old);
    free(ones);
    free(old);
    return NULL;
}

static void run_case(const struct acc_case *c)
{
    const size_t unit = acc_extent(c->type), elements = (AREA - 64) / unit;
    const struct stripes stripes = new_stripes();
    char *area = aligned_alloc(GRANULE, AREA);
    struct acc_arg args[THREADS];
    pthread_t threads[THREADS];
    memset(area, 0, AREA);
    for (int i = 0; i < THREADS; i++) {
        args[i] = (struct acc_arg){.c = c,
                                   .stripes = stripes,
                                   .area = area,
                                   .seed = (uint64_t)i + 11,
                                   .hits = calloc(elements, sizeof(uint64_t)),
                                   .elements = elements};
        assert_int_equal(pthread_create(&threads[i], NULL, accumulate, &args[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t e = 0; e < elements; e++) {
        uint64_t sum = 0;
        for (int i = 0; i < THREADS; i++)
            sum += args[i].hits[e];
        if (value_of(c->type, area + c->shift + e * unit) != sum)
            fail_msg("%s, shift %zu, stride %zu: element %zu is not %llu", acc_type_name(c->type),
                     c->shift, c->stride, e, (unsigned long long)sum);
    }
    expect_free(stripes);
    for (int i = 0; i < THREADS; i++)
        free(args[i].hits);
    free(area);
    free(stripes.at);
}

static void test_exact_sums(void **state)
{
    static const struct acc_case cases[] = {
        {ACC_I64, 0, 1, false}, {ACC_I64, 5, 1, true},  {ACC_I32, 0, 1, true},
        {ACC_I32, 3, 3, false}, {ACC_U16, 1, 1, false}, {ACC_F64, 0, 1, false},
        {ACC_F64, 7, 5, true},  {ACC_F32, 2, 1, true},  {ACC_C64, 9, 1, false},
        {ACC_C32, 0, 2, false}, {ACC_F80, 0, 1, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        run_case(&cases[i]);
}

/* ---- single elements: every old value is seen once ---- */

struct one {
    struct stripes stripes;
    char *at;
    bool cas;
    _Atomic uint32_t *seen;
};

static void *take_numbers(void *arg)
{
    struct one *o = arg;
    const struct dtype type = dtype_basic(ACC_I64);
    const uint64_t vaddr = (uint64_t)(uintptr_t)o->at;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t one = 1, old = 0, guess = 0;
        if (o->cas) {
            for (;;) {
                const int64_t next = guess + 1;
                direct_cas((struct acc_at){o->stripes, vaddr, o->at}, &guess, &next, &old,
                           sizeof old);
                if (old == guess)
                    break;
                guess = old;
            }
        } else {
            const struct rma_op op = {.oaddr = &one,
                                      .ocount = 1,
                                      .otype = &type,
                                      .raddr = &old,
                                      .rcount = 1,
                                      .rtype = &type,
                                      .tcount = 1,
                                      .ttype = &type,
                                      .op = ACC_SUM};
            direct_acc((struct acc_at){o->stripes, vaddr, o->at}, &op, true);
        }
        FABRIC_CHECK(old >= 0 && old < THREADS * ROUNDS);
        FABRIC_CHECK(atomic_fetch_add_explicit(&o->seen[old], 1, memory_order_relaxed) == 0);
    }
    return NULL;
}

static void test_single_elements(void **state)
{
    (void)state;
    for (int round = 0; round < 4; round++) {
        static _Atomic uint32_t seen[THREADS * ROUNDS];
        const struct stripes stripes = new_stripes();
        char *area = aligned_alloc(GRANULE, 2 * GRANULE);
        struct one o = {.stripes = stripes,
                        .at = area + (round < 2 ? 64 : GRANULE - 3),
                        .cas = round % 2,
                        .seen = seen};
        pthread_t threads[THREADS];
        int64_t value;
        memset(area, 0, 2 * GRANULE);
        for (size_t i = 0; i < THREADS * ROUNDS; i++)
            atomic_store(&seen[i], 0);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, take_numbers, &o), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        memcpy(&value, o.at, sizeof value);
        assert_int_equal(value, THREADS * ROUNDS);
        free(area);
        free(stripes.at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_index),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_cuts_agree),
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_hold),
        cmocka_unit_test(test_held_pieces),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_exact_sums),
        cmocka_unit_test(test_single_elements),
    };
    fabric_watchdog(120);
    return cmocka_run_group_tests_name("stripe", tests, NULL, NULL);
}
