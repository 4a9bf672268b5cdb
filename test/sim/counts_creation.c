/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counts_creation.c - what the processes of a job exchange when windows are made, and what each
 * node keeps of it (doc/scaling.md has the table).
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "counts.h"
#include "rma/create/win_exchange.h"
#include "rma/sync/fence_counts.h"

/* What the processes exchange through the bootstrap, each so many bytes, all of which every node
 * gets: the agreements are those of win_create.c and fence_counts.c. */
enum { AGREEMENTS = 2, AGREEMENT_BYTES = sizeof(int) };
/* With more than BOOT_FEW processes these are compared first: by a reduction, so that no more comes
 * to any process. */
enum { DIGEST_BYTES = BOOT_DIGEST_WORDS * sizeof(uint64_t) };
enum { SUMMARY_BYTES = 32, FIRST_BYTES = 472 };
static_assert(sizeof(struct win_summary) == SUMMARY_BYTES && sizeof(struct win_full) == FIRST_BYTES,
              "what doc/scaling.md says");
/* What is kept of each process, on each node. */
enum { KNOWN_BYTES = 384, KEPT_BYTES = 32 };
static_assert(sizeof(struct rma_proc_record) == KNOWN_BYTES &&
                  sizeof(struct win_record) == KEPT_BYTES,
              "what doc/scaling.md says");

enum { CREATIONS = 3 };

struct creations {
    struct sim *sim;
    uint64_t unit; /* of a process's size: not 0 where sizes differ */
    uint64_t bytes[CREATIONS], number[CREATIONS]; /* of a process */
    uint64_t kept[CREATIONS];                     /* bytes of memory of a process */
    struct win **win;
    int n;
};

static void create_one(struct sim_proc *p, void *arg)
{
    struct creations *c = arg;
    const uint64_t bytes = p->boots.bytes, number = p->boots.number;
    c->win[p->rank] = sim_win(p, WIN_ALLOCATE, NULL, BYTES + c->unit * (uint64_t)p->rank, 1);
    if (!c->number[c->n]) { /* the first that comes here */
        c->bytes[c->n] = p->boots.bytes - bytes;
        c->number[c->n] = p->boots.number - number;
    }
    SIM_CHECK(c->bytes[c->n] == p->boots.bytes - bytes); /* all the same */
}

static void free_one(struct sim_proc *p, void *arg)
{
    struct creations *c = arg;
    sim_win_free(c->win[p->rank]);
}

/* The first window of a job, and others. */
static struct creations run_creations(int nproc, uint64_t unit)
{
    struct creations c = {.unit = unit};
    c.sim = sim_new(
        &(struct sim_opts){.nproc = nproc, .per_node = 1, .latency_ns = LATENCY_NS, .seed = 1});
    c.win = calloc((size_t)nproc, sizeof(struct win *));
    SIM_CHECK(c.win);
    for (c.n = 0; c.n < CREATIONS; c.n++) {
        const size_t start = counts_in_use(c.sim);
        sim_run(c.sim, create_one, &c);
        c.kept[c.n] = (counts_in_use(c.sim) - start) / (size_t)nproc;
        sim_run(c.sim, free_one, &c);
    }
    sim_free(c.sim);
    free(c.win);
    return c;
}

void count_creations(void **state)
{
    (void)state;
    for (int i = 0; i < nsizes; i++) {
        const struct creations c = run_creations(sizes[i], 0);
        const bool many = sizes[i] > BOOT_FEW;
        const uint64_t agreed = AGREEMENTS * AGREEMENT_BYTES + (many ? DIGEST_BYTES : 0);
        assert_int_equal(c.number[0], AGREEMENTS + 2 + many);
        assert_int_equal(c.bytes[0], SUMMARY_BYTES + FIRST_BYTES + agreed);
        for (int k = 1; k < CREATIONS; k++) {
            assert_int_equal(c.number[k], AGREEMENTS + 1);
            assert_int_equal(c.bytes[k], (many ? 0 : SUMMARY_BYTES) + agreed);
            if (MEMORY_KNOWN) /* nothing for each process: all have said the same */
                assert_uint_in_range(c.kept[k], 0, WINDOW_BYTES);
        }
    }
    for (int i = 0; i < nsizes && sizes[i] <= SUITE_MAX && !named_jobs; i++) {
        const struct creations c = run_creations(sizes[i], 8);
        assert_int_equal(c.bytes[1], SUMMARY_BYTES + AGREEMENTS * AGREEMENT_BYTES +
                                         (sizes[i] > BOOT_FEW ? DIGEST_BYTES : 0));
        if (MEMORY_KNOWN)
            assert_uint_in_range(c.kept[1], KEPT_BYTES * (uint64_t)sizes[i],
                                 WINDOW_BYTES + (KEPT_BYTES + 8) * (uint64_t)sizes[i]);
    }
}

/* What is so for each process, as checked above; agreements come to nothing beside it. */
static void print_row(const char *which, const char *what, uint64_t each)
{
    printf("| %s | %s | %d P |", which, what, (int)each);
    for (int i = 0; i < nsizes; i++) {
        printf(" ");
        counts_print_number(each * (uint64_t)sizes[i]);
        printf(" |");
    }
    printf("\n");
}

static void print_another(void)
{
    printf("| another window | bytes that a node gets | %d P to P = %d, then a reduction of %d |",
           SUMMARY_BYTES, BOOT_FEW, (int)DIGEST_BYTES);
    for (int i = 0; i < nsizes; i++) {
        printf(" ");
        counts_print_number(sizes[i] > BOOT_FEW ? DIGEST_BYTES
                                                : SUMMARY_BYTES * (uint64_t)sizes[i]);
        printf(" |");
    }
    printf("\n");
}

void print_creations(void)
{
    print_row("first window of a job", "bytes that a node gets", SUMMARY_BYTES + FIRST_BYTES);
    print_row("first window of a job", "bytes kept once a node", KNOWN_BYTES);
    print_row("another window, sizes differ", "bytes that a node gets", SUMMARY_BYTES);
    print_row("another window, sizes differ", "bytes kept once a node", KEPT_BYTES);
    print_another();
}
