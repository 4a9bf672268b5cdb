/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_disagree.c - processes that create a window differently: of another kind, with and without
 * MPIRMA_STRICT, with and without a hint, and of sizes that no memory has. All get the same error,
 * or a window.
 */
#include "test/support/pkt_helper.h"

enum { PROCS = 3 };

/* Short forms for the table of creations. */
enum { C = WIN_CREATE, A = WIN_ALLOCATE, S = WIN_ALLOCATE_SHARED };

/* What each process creates. */
struct creation {
    int flavor[PROCS]; /* enum win_flavor */
    uint64_t size[PROCS];
    bool populate[PROCS];
    uint64_t alignment[PROCS];
    bool noncontig;
    int err;
};

static unsigned char area[PROCS][64];

static int create(struct fabric_proc *p, const struct creation *c, struct win **w)
{
    struct win_spec spec = {.flavor = (enum win_flavor)c->flavor[p->rank],
                            .base = c->flavor[p->rank] == WIN_CREATE ? area[p->rank] : NULL,
                            .size = c->size[p->rank],
                            .disp_unit = 1,
                            .hints = win_hints_default(),
                            .boot = fabric_boot(p)};
    spec.hints.populate = c->populate[p->rank];
    spec.hints.alloc_shared_noncontig = c->noncontig;
    if (c->alignment[p->rank])
        spec.hints.min_alignment = c->alignment[p->rank];
    return win_create(&p->rma, &spec, w);
}

static void differ(struct fabric_proc *p, void *arg)
{
    const struct creation *c = arg;
    struct win *w = NULL;
    FABRIC_CHECK(create(p, c, &w) == c->err);
    if (c->err)
        return;
    OK(rma_fence(w, 0));
    put(w, (p->rank + 1) % PROCS, 0, "12345678", 8);
    OK(rma_fence(w, RMA_NOSUCCEED));
    FABRIC_CHECK(!memcmp(w->base, "12345678", 8));
    const uint64_t alignment = c->alignment[p->rank];
    FABRIC_CHECK(!alignment || (uintptr_t)w->base % alignment == 0);
    fabric_win_free(w);
}

static void run(void (*body)(struct fabric_proc *p, void *arg), void *arg, bool strict)
{
    fabric_watchdog(60);
    struct fabric *f = fabric_new(&(struct fabric_opts){.nproc = PROCS, .quiet = true});
    f->procs[0].conf.strict = strict;
    fabric_run(f, body, arg);
    fabric_free(f);
    fabric_watchdog(0);
}

static void test_creations(void **state)
{
    static struct creation all[] = {
        {.flavor = {C, A, A}, .size = {64, 64, 64}, .err = MRMA_ERR_RMA_FLAVOR},
        {.flavor = {A, A, A}, .size = {64, 64, 64}, .populate = {true, false, false}},
        {.flavor = {S, S, S}, .size = {64, 64, 64}, .noncontig = true, .alignment = {0, 0, 65536}},
        {.flavor = {S, S, S}, .size = {UINT64_MAX - 10, 64, 64}, .err = MRMA_ERR_NO_MEM},
        {.flavor = {S, S, S}, .size = {INT64_MAX, INT64_MAX, INT64_MAX}, .err = MRMA_ERR_NO_MEM},
        {.flavor = {S, S, S},
         .size = {INT64_MAX, INT64_MAX, INT64_MAX},
         .noncontig = true,
         .alignment = {0, 0, 65536},
         .err = MRMA_ERR_NO_MEM},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        run(differ, &all[i], false);
}

/* One process without it, and nothing is checked: its fences are shorter than the others'. */
static void half_strict(struct fabric_proc *p, void *arg)
{
    struct win *w = fabric_win(p, WIN_CREATE, area[p->rank], 64, 1);
    (void)arg;
    FABRIC_CHECK(!w->strict);
    fabric_win_free(w);
}

static void test_strict(void **state)
{
    (void)state;
    run(half_strict, NULL, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_creations),
                                       cmocka_unit_test(test_strict)};
    pkt_types_init();
    return cmocka_run_group_tests_name("disagree", tests, NULL, NULL);
}
