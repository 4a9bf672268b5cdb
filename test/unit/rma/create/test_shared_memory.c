/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_shared_memory.c - the memory of MPI_Win_allocate_shared: small contiguous parts lie in rank
 * 0's heap, large ones, and those on pages of their own, in a segment; either way seen by all and
 * given back.
 */
#include "test/support/pkt_helper.h"

#include <unistd.h>

#include "rma/create/win_create.h"

enum { PROCS = 3, SMALL = 1000, LARGE = 200 << 10 };

struct shape {
    size_t size;
    bool apart;
};

static struct win *create(struct fabric_proc *p, const struct shape *s)
{
    struct win *w = NULL;
    struct win_spec spec = {.flavor = WIN_ALLOCATE_SHARED,
                            .size = s->size,
                            .disp_unit = 1,
                            .hints = win_hints_default(),
                            .boot = fabric_boot(p)};
    spec.hints.alloc_shared_noncontig = s->apart;
    OK(win_create(&p->rma, &spec, &w));
    return w;
}

static void share(struct fabric_proc *p, void *arg)
{
    const struct shape *s = arg;
    const int n = p->fabric->opts.nproc, right = (p->rank + 1) % n;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    struct win *w = create(p, s);
    const bool segment = s->size == LARGE || s->apart;
    FABRIC_CHECK((w->created.owned != NULL) == (p->rank == 0 && !segment));
    FABRIC_CHECK((w->created.segment != NULL) == (p->rank != 0 || segment));
    FABRIC_CHECK(!s->apart || (uintptr_t)w->base % page == 0);
    char *next = win_peek(w, right)->shared_base;
    if (!s->apart && right)
        FABRIC_CHECK(next == (char *)w->base + s->size);
    next[0] = next[s->size - 1] = (char)(right + 1);
    fabric_barrier(p);
    FABRIC_CHECK(((char *)w->base)[0] == p->rank + 1 &&
                 ((char *)w->base)[s->size - 1] == p->rank + 1);
    fabric_win_free(w);
}

static void test_sizes(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {SMALL, false}, {SMALL, true}, {LARGE, false}, {LARGE, true}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        fabric_watchdog(60);
        struct fabric *f = fabric_new(&(struct fabric_opts){.nproc = PROCS});
        fabric_run(f, share, (void *)(uintptr_t)&shapes[i]);
        fabric_free(f);
        fabric_watchdog(0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes)};
    pkt_types_init();
    return cmocka_run_group_tests_name("shared_memory", tests, NULL, NULL);
}
