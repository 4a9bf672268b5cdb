/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_win_exchange.c - what the processes of a new window send each other through the bootstrap
 * (create/win_exchange.c): a process's record once, whatever windows follow on whichever of the
 * processes, and 32 bytes for each window; more only where processes do not say the same, and of
 * many processes only a digest where they do.
 *
 * The boots here write down the length of each exchange of their process.
 */
#include "test/support/pkt_helper.h"

#include <stdio.h>

#include "rma/create/win_exchange.h"
#include "rma/win/proc_table.h"

enum { PROCS = 6, CROWD = PROC_TABLES_KEPT + 4, PAIRS = CROWD * (CROWD - 1) / 2 };
enum { SIZE = 64, MOST = 8 };
enum {
    DIGEST = BOOT_DIGEST_WORDS * sizeof(uint64_t),
    SUMMARY = sizeof(struct win_summary),
    DETAILS = sizeof(struct win_detail),
    FULL = sizeof(struct win_full)
};

static unsigned char area[CROWD][SIZE];

/* ---- communicators ---- */

/* Some of the processes in some order, with a number by which the boot knows it. */
struct comm {
    int n, ranks[PROCS];
    uint64_t number;
    struct fabric_comm *fabric;
};

/* A boot, and what it has exchanged. */
struct told {
    struct boot boot, below;
    size_t bytes[MOST];
    int n;
};

static bool many; /* the boots do as if they had many processes, and compare digests */

static int compare_digests(struct boot *boot)
{
    struct told *t = boot->handle;
    uint64_t mine[BOOT_DIGEST_WORDS], all[PROCS][BOOT_DIGEST_WORDS];
    boot_digest_words(boot, false, mine);
    t->bytes[t->n++] = sizeof mine;
    const int err = t->below.allgather(&t->below, mine, all, sizeof mine);
    for (int i = 0; i < boot->nproc; i++)
        for (int k = 0; k < BOOT_DIGEST_WORDS; k++)
            mine[k] = all[i][k] > mine[k] ? all[i][k] : mine[k];
    FABRIC_CHECK(!boot_alike(boot, mine));
    return err;
}

static int allgather(struct boot *boot, const void *mine, void *all, size_t len)
{
    struct told *t = boot->handle;
    FABRIC_CHECK(t->n < MOST);
    if (many && !t->n) {
        const int err = compare_digests(boot);
        if (err || boot->alike)
            return err;
    }
    t->bytes[t->n++] = len;
    return t->below.allgather(&t->below, mine, all, len);
}

static int allmax(struct boot *boot, int mine, int *max)
{
    struct told *t = boot->handle;
    return t->below.allmax(&t->below, mine, max);
}

/* This process's rank, or -1. */
static int rank_in(const struct comm *c, int rank)
{
    for (int i = 0; i < c->n; i++)
        if (c->ranks[i] == rank)
            return i;
    return -1;
}

/* Has this process exchanged just so much? -1 behind the last. */
static bool is_told(const struct told *t, const int *bytes)
{
    int n = 0;
    while (bytes[n] > 0 && n < t->n && t->bytes[n] == (size_t)bytes[n])
        n++;
    if (bytes[n] < 0 && n == t->n)
        return true;
    for (int i = 0; i < t->n; i++)
        fprintf(stderr, "exchange %d: %zu bytes\n", i, t->bytes[i]);
    return false;
}

/* What a process asks for. */
struct wish {
    uint64_t size;
    uint32_t unit;
    bool same_size;
};

static int make(struct fabric_proc *p, const struct comm *c, struct wish wish, struct told *t,
                struct win **w)
{
    const int rank = rank_in(c, p->rank);
    *t = (struct told){.n = 0};
    fabric_comm_boot(c->fabric, rank, &t->below);
    t->boot = t->below;
    t->boot.allgather = allgather;
    t->boot.allmax = allmax;
    t->boot.communicator = c->number;
    t->boot.handle = t;
    struct win_spec spec = {.flavor = WIN_CREATE,
                            .base = area[p->rank],
                            .size = wish.size,
                            .disp_unit = wish.unit,
                            .hints = win_hints_default(),
                            .boot = &t->boot};
    spec.hints.same_size = wish.same_size;
    return win_create(&p->rma, &spec, w);
}

/* A byte goes from each to its neighbour. */
static void use(struct fabric_proc *p, const struct comm *c, struct win *w)
{
    const int me = rank_in(c, p->rank), right = (me + 1) % c->n, left = (me + c->n - 1) % c->n;
    const unsigned char value = (unsigned char)(me + 1);
    OK(rma_fence(w, RMA_NOPRECEDE));
    put(w, right, 0, &value, 1);
    OK(rma_fence(w, RMA_NOSUCCEED));
    FABRIC_CHECK(area[p->rank][0] == left + 1);
}

/* Every process of c makes a window, uses and frees it; the exchanges were of so many bytes. */
static void window(struct fabric_proc *p, const struct comm *c, struct wish wish, const int *bytes)
{
    struct told t;
    struct win *w;
    if (rank_in(c, p->rank) >= 0) {
        OK(make(p, c, wish, &t, &w));
        FABRIC_CHECK(is_told(&t, bytes));
        use(p, c, w);
        fabric_win_free(w);
    }
    fabric_barrier(p);
}

static const struct wish plain = {.size = SIZE, .unit = 1};
static const int first_time[] = {SUMMARY, FULL, -1}, known[] = {SUMMARY, -1},
                 asked[] = {SUMMARY, DETAILS, -1}, unknown[] = {SUMMARY, DETAILS, FULL, -1};

/* The same with many processes. */
static const int alike[] = {DIGEST, -1}, met[] = {DIGEST, SUMMARY, -1},
                 met_first[] = {DIGEST, SUMMARY, FULL, -1},
                 met_asked[] = {DIGEST, SUMMARY, DETAILS, -1};

static struct comm all = {PROCS, {0, 1, 2, 3, 4, 5}, 100, NULL},
                   backwards = {PROCS, {5, 4, 3, 2, 1, 0}, 101, NULL},
                   odd = {3, {1, 3, 5}, 102, NULL}, mixed = {4, {4, 0, 5, 2}, 103, NULL},
                   low = {3, {0, 1, 2}, 104, NULL}, high = {3, {3, 4, 5}, 105, NULL},
                   across = {2, {2, 3}, 106, NULL}, one = {1, {0}, 107, NULL},
                   over = {2, {1, 2}, 108, NULL}, wol = {3, {2, 1, 0}, 109, NULL};
static struct comm *const comms[] = {&all,  &backwards, &odd, &mixed, &low,
                                     &high, &across,    &one, &over,  &wol};
enum { COMMS = sizeof comms / sizeof *comms };

static void too_many(struct fabric_proc *p, void *arg);
static void compares(struct fabric_proc *p, void *arg);

static void run(int nproc, int per_node, void (*body)(struct fabric_proc *p, void *arg), void *arg)
{
    fabric_watchdog(60);
    for (int i = 0; i < COMMS; i++)
        comms[i]->fabric = fabric_comm_new(comms[i]->n);
    struct fabric *f = fabric_new(&(struct fabric_opts){
        .nproc = nproc, .per_node = per_node, .quiet = body == too_many || body == compares});
    fabric_run(f, body, arg);
    fabric_free(f);
    for (int i = 0; i < COMMS; i++)
        fabric_comm_free(comms[i]->fabric);
    fabric_watchdog(0);
}

static const int nodes[] = {0, 1, 2};
static struct fabric_comm *lonely; /* of one process */
#define ON_ALL(body, arg)                    \
    do {                                     \
        for (int i = 0; i < 3; i++)          \
            run(PROCS, nodes[i], body, arg); \
    } while (0)

/* ---- the tests ---- */

/* All know each other from the first window on: no other window asks, in whatever order. */
static void parts_of_all(struct fabric_proc *p, void *arg)
{
    (void)arg;
    window(p, &one, plain, known);
    window(p, &all, plain, first_time);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < COMMS; k++)
            window(p, comms[k], plain, known);
    FABRIC_CHECK(proc_tables_find(&p->rma, PROCS) && !proc_tables_find(&p->rma, PROCS + 1));
}

static void test_parts_of_all(void **state)
{
    (void)state;
    ON_ALL(parts_of_all, NULL);
}

/* Groups that overlap and grow. Records go where somebody is new; who have met by parts ask each
 * other, once for each communicator. */
static void groups(struct fabric_proc *p, void *arg)
{
    (void)arg;
    window(p, &low, plain, first_time);
    window(p, &high, plain, first_time);
    window(p, &low, plain, known);
    window(p, &over, plain, known);
    window(p, &across, plain, unknown); /* both know somebody, and not each other */
    window(p, &across, plain, known);
    window(p, &low, plain, known);
    window(p, &all, plain, unknown);
    window(p, &backwards, plain, known);
    window(p, &across, plain, known);
    window(p, &mixed, plain, known);
}

static void test_groups(void **state)
{
    (void)state;
    ON_ALL(groups, NULL);
}

/* Who know each other from different windows find that out without records. */
static void pairs(struct fabric_proc *p, void *arg)
{
    struct comm *c = arg; /* of 0 and 1, 1 and 2, 0 and 2, and all three */
    window(p, &c[0], plain, first_time);
    window(p, &c[1], plain, first_time);
    window(p, &c[2], plain, unknown);
    window(p, &c[3], plain, asked);
    for (int i = 0; i < 4; i++)
        window(p, &c[i], plain, known);
}

static void test_pairs(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct comm c[] = {{2, {0, 1}, 1, fabric_comm_new(2)},
                           {2, {1, 2}, 2, fabric_comm_new(2)},
                           {2, {2, 0}, 3, fabric_comm_new(2)},
                           {3, {0, 1, 2}, 4, fabric_comm_new(3)}};
        run(PROCS, nodes[i], pairs, c);
        for (int k = 0; k < 4; k++)
            fabric_comm_free(c[k].fabric);
    }
}

/* Communicators come and go, and one has the number of an earlier one, of others. */
static void numbers(struct fabric_proc *p, void *arg)
{
    struct comm c = low, d = high;
    (void)arg;
    window(p, &all, plain, first_time);
    d.number = c.number;
    window(p, &c, plain, known);
    window(p, &d, plain, known);
    c.number = all.number;
    window(p, &c, plain, known);
}

static void test_numbers(void **state)
{
    (void)state;
    ON_ALL(numbers, NULL);
}

/* What windows that are gone leave behind is bounded; what a window uses stays. */
static void forgotten(struct fabric_proc *p, void *arg)
{
    struct comm *c = arg;
    struct told t;
    struct win *w = NULL;
    int n = 0;
    if (rank_in(&low, p->rank) >= 0)
        OK(make(p, &low, plain, &t, &w));
    fabric_barrier(p);
    for (int i = 0; i < PAIRS; i++)
        if (rank_in(&c[i], p->rank) >= 0) {
            struct win *of_pair;
            OK(make(p, &c[i], plain, &t, &of_pair));
            fabric_win_free(of_pair);
        }
    LIST_EACH (node, &p->rma.tables)
        n++;
    FABRIC_CHECK(n >= PROC_TABLES_KEPT && n <= PROC_TABLES_KEPT + 2);
    fabric_barrier(p);
    if (w) {
        use(p, &low, w);
        fabric_win_free(w);
    }
}

static void test_forgotten(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct comm c[PAIRS];
        int n = 0;
        for (int a = 0; a < CROWD; a++)
            for (int b = a + 1; b < CROWD; b++, n++)
                c[n] = (struct comm){2, {a, b}, 200 + (uint64_t)n, fabric_comm_new(2)};
        run(CROWD, nodes[i], forgotten, c);
        for (n = 0; n < PAIRS; n++)
            fabric_comm_free(c[n].fabric);
    }
}

/* Processes that do not say the same of a window: then all is told, and each gets what the others
 * have said. */
static void disagree(struct fabric_proc *p, void *arg)
{
    struct told t;
    struct win *w;
    (void)arg;
    window(p, &all, plain, first_time);
    window(p, &all, (struct wish){SIZE, 24, false}, known); /* a unit that is not in the summary */
    OK(make(p, &all, (struct wish){SIZE, 24, false}, &t, &w));
    for (int i = 0; i < PROCS; i++) {
        struct rma_target *target;
        OK(win_target(w, i, &target));
        FABRIC_CHECK(target->disp_unit == 24 && target->size == SIZE);
    }
    fabric_win_free(w);
    OK(make(p, &all, (struct wish){SIZE - 8 * (uint64_t)p->rank, 1 + (uint32_t)p->rank, false}, &t,
            &w));
    FABRIC_CHECK(is_told(&t, asked));
    for (int i = 0; i < PROCS; i++) {
        struct rma_target *target;
        OK(win_target(w, i, &target));
        FABRIC_CHECK(target->disp_unit == 1 + (uint32_t)i &&
                     target->size == SIZE - 8 * (uint64_t)i);
    }
    fabric_win_free(w);
    OK(make(p, &all, (struct wish){SIZE - (uint64_t)p->rank, 4u << p->rank, false}, &t, &w));
    FABRIC_CHECK(is_told(&t, known));
    for (int i = 0; i < PROCS; i++) {
        struct rma_target *target;
        OK(win_target(w, i, &target));
        FABRIC_CHECK(target->disp_unit == 4u << i && target->size == SIZE - (uint64_t)i);
    }
    fabric_win_free(w);
    /* All memory there is: a size that is not in the summary. */
    OK(make(p, &all, (struct wish){INT64_MAX - (uint64_t)p->rank, 1, false}, &t, &w));
    FABRIC_CHECK(is_told(&t, asked));
    for (int i = 0; i < PROCS; i++) {
        struct rma_target *target;
        OK(win_target(w, i, &target));
        FABRIC_CHECK(target->size == INT64_MAX - (uint64_t)i);
    }
    fabric_win_free(w);
    window(p, &all, (struct wish){SIZE, 1, p->rank == 3}, asked); /* a hint */
    window(p, &all, plain, known);
}

static void test_disagree(void **state)
{
    (void)state;
    ON_ALL(disagree, NULL);
}

/* More windows are made at once than the node has places for: an error at all, in the summary. */
static void too_many(struct fabric_proc *p, void *arg)
{
    struct told t;
    struct win *w;
    (void)arg;
    window(p, &all, plain, first_time);
    if (p->rank == 2)
        p->rma.notices = UINT64_MAX;
    FABRIC_CHECK(make(p, &all, plain, &t, &w) == MRMA_ERR_NO_MEM);
    FABRIC_CHECK(is_told(&t, known));
    if (p->rank == 2)
        p->rma.notices = 0;
    window(p, &all, plain, known);
    FABRIC_CHECK(p->rma.notices == 0);
}

static void test_too_many(void **state)
{
    (void)state;
    ON_ALL(too_many, NULL);
}

/* All memory of which is as the wish says, at each process. */
static void is_wished(struct win *w, struct wish wish)
{
    for (int i = 0; i < PROCS; i++) {
        struct rma_target *target;
        OK(win_target(w, i, &target));
        FABRIC_CHECK(target->size == wish.size && target->disp_unit == wish.unit);
    }
}

/* Many processes that say the same, in the order of a table, exchange a digest; where one alone
 * says something else, or is not at its rank, or has failed, all that the others do. */
static void compares(struct fabric_proc *p, void *arg)
{
    struct told t;
    struct win *w, *other = NULL;
    (void)arg;
    window(p, &all, plain, met_first);
    window(p, &all, plain, alike);
    OK(make(p, &all, (struct wish){SIZE, 8, false}, &t, &w));
    FABRIC_CHECK(is_told(&t, alike));
    is_wished(w, (struct wish){SIZE, 8, false});
    window(p, &all, plain, alike); /* beside another one */
    fabric_win_free(w);
    window(p, &all, (struct wish){SIZE - 8 * (p->rank == 3), 1, false}, met);
    window(p, &all, (struct wish){SIZE, 1 + (p->rank == 5), false}, met);
    window(p, &all, (struct wish){SIZE, 1, p->rank == 0}, met_asked);
    window(p, &all, (struct wish){SIZE, 24, true}, alike);
    window(p, &backwards, plain, met);
    window(p, &low, plain, met); /* a part of the table */
    window(p, &wol, plain, met);
    if (p->rank == 4) { /* which knows the next window by another number */
        fabric_comm_boot(lonely, 0, &t.below);
        struct win_spec spec = {.flavor = WIN_CREATE,
                                .base = area[p->rank],
                                .size = SIZE,
                                .disp_unit = 1,
                                .hints = win_hints_default(),
                                .boot = &t.below};
        OK(win_create(&p->rma, &spec, &other));
    }
    fabric_barrier(p);
    window(p, &all, plain, met);
    if (other)
        fabric_win_free(other);
    fabric_barrier(p);
    if (p->rank == 2)
        p->rma.notices = UINT64_MAX;
    FABRIC_CHECK(make(p, &all, plain, &t, &w) == MRMA_ERR_NO_MEM);
    FABRIC_CHECK(is_told(&t, met));
    if (p->rank == 2)
        p->rma.notices = 0;
    window(p, &all, plain, met); /* that number has served once more there */
}

static void test_compares(void **state)
{
    (void)state;
    many = true;
    lonely = fabric_comm_new(1);
    ON_ALL(compares, NULL);
    fabric_comm_free(lonely);
    many = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_of_all), cmocka_unit_test(test_groups),
        cmocka_unit_test(test_pairs),        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_forgotten),    cmocka_unit_test(test_disagree),
        cmocka_unit_test(test_too_many),     cmocka_unit_test(test_compares),
    };
    pkt_types_init();
    return cmocka_run_group_tests_name("window exchange", tests, NULL, NULL);
}
