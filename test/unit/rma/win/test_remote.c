/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_remote.c - targets on other nodes: made by use, on both sides, and by nothing
 * else; the node's one copy of the records; control blocks that were made for fewer
 * processes than there are; the last barrier.
 */
#include "test/support/pkt_helper.h"

#include "rma/create/win_create.h"
#include "rma/win/proc_table.h"

enum { SIZE = 64 };

static struct win *win[FABRIC_MAX];
static unsigned char area[FABRIC_MAX][SIZE];

static bool is_made(const struct win *w, int rank)
{
    return win_peek(w, rank)->peer != NULL;
}

static int made(const struct win *w)
{
    int n = 0;
    for (int i = 0; i < w->nproc; i++)
        n += is_made(w, i);
    return n;
}

static void run(struct fabric_opts opts, void (*body)(struct fabric_proc *p, void *arg), void *arg)
{
    atomic_store(&pkt_arrived, 0);
    fabric_watchdog(60);
    struct fabric *f = fabric_new(&opts);
    fabric_run(f, body, arg);
    fabric_free(f);
    fabric_watchdog(0);
}

static void create(struct fabric_proc *p)
{
    win[p->rank] = fabric_win(p, WIN_CREATE, area[p->rank], SIZE, 1);
}

/* ---- made by use ---- */

static void neighbours(struct fabric_proc *p, void *arg)
{
    const int n = p->fabric->opts.nproc, right = (p->rank + 1) % n, left = (p->rank + n - 1) % n;
    const unsigned char value = (unsigned char)(p->rank + 1);
    (void)arg;
    create(p);
    struct win *w = win[p->rank];
    FABRIC_CHECK(made(w) == 1 && is_made(w, p->rank) && w->npackets == n - 1);
    rest(p);
    OK(rma_lock_all(w, 0));
    FABRIC_CHECK(made(w) == 1);
    rest(p);
    put(w, right, 0, &value, 1);
    OK(rma_flush(w, right, false));
    rest(p);
    OK(rma_unlock_all(w));
    rest(p);
    FABRIC_CHECK(made(w) == 3 && is_made(w, right) && is_made(w, left)); /* it has sent a packet */
    FABRIC_CHECK(area[p->rank][0] == left + 1);
    rest(p);
    uint64_t size;
    uint32_t unit;
    void *base;
    OK(win_shared_query(w, (p->rank + n / 2) % n, &size, &unit, &base));
    FABRIC_CHECK(!base && unit == 1);
    fabric_win_free(w);
    FABRIC_CHECK(p->rma.stats.refused == 0);
}

static void test_neighbours(void **state)
{
    static const enum conf_progress progress[] = {CONF_PROGRESS_POLL, CONF_PROGRESS_AGENT};
    (void)state;
    for (int i = 0; i < 2; i++)
        run((struct fabric_opts){.nproc = 12, .per_node = 1, .progress = progress[i]}, neighbours,
            NULL);
}

/* What MPI_Win_shared_query and the path's name say of processes that have not been used yet, and
 * of those that have. */
static void facts(struct fabric_proc *p, void *arg)
{
    const int first = *(const int *)arg, other = (p->rank + 2) % p->fabric->opts.nproc;
    struct win *w =
        fabric_win(p, WIN_CREATE, area[p->rank], p->rank < first ? 0 : SIZE, (uint32_t)p->rank + 1);
    uint64_t size;
    uint32_t unit;
    void *base;
    rest(p);
    FABRIC_CHECK(!strcmp(win_path_name(w, other), "net-packets"));
    OK(win_shared_query(w, -1, &size, &unit, &base)); /* the first that has memory */
    FABRIC_CHECK(unit == (uint32_t)first % (uint32_t)p->fabric->opts.nproc + 1 &&
                 is_made(w, (int)unit - 1));
    OK(win_shared_query(w, other, &size, &unit, &base));
    FABRIC_CHECK(unit == (uint32_t)other + 1 && !size && !base);
    FABRIC_CHECK(is_made(w, other) && !strcmp(win_path_name(w, other), "shm-packets"));
    rest(p);
    fabric_win_free(w);
}

static void test_facts(void **state)
{
    (void)state;
    for (int first = 0; first <= 4; first += 2) { /* in the end nobody has any */
        run((struct fabric_opts){.nproc = 4, .per_node = 1}, facts, &first);
        run((struct fabric_opts){.nproc = 4, .per_node = 1, .path = CONF_PATH_SHM_PACKETS}, facts,
            &first);
    }
}

/* What a group names is made by start and post, and what an operation names, even
 * if it is refused then; nobody else. */
static void group(struct fabric_proc *p, void *arg)
{
    static const int zero = 0, five = 5;
    unsigned char in[8];
    (void)arg;
    create(p);
    struct win *w = win[p->rank];
    rest(p);
    if (p->rank == 0) {
        OK(rma_start(w, &five, 1, 0));
        FABRIC_CHECK(made(w) == 2 && is_made(w, 5));
        const struct rma_op op = byte_op(NULL, in, 3, 0, 8);
        FABRIC_CHECK(rma_get(w, &op) == MRMA_ERR_RMA_SYNC);
        get(w, 5, 0, in, 8);
        OK(rma_complete(w));
    } else if (p->rank == 5) {
        OK(rma_post(w, &zero, 1, 0));
        FABRIC_CHECK(made(w) == 2 && is_made(w, 0));
        OK(rma_wait(w));
    }
    rest(p);
    FABRIC_CHECK(made(w) == (p->rank == 0 ? 3 : p->rank == 5 ? 2 : 1));
    rest(p);
    fabric_win_free(w);
}

static void test_group(void **state)
{
    (void)state;
    run((struct fabric_opts){.nproc = 8, .per_node = 1, .progress = CONF_PROGRESS_POLL}, group,
        NULL);
}

/* Several threads of a process make the same targets at once. */
struct threads {
    struct win *w;
    int nproc;
};

static void *look_up_all(void *arg)
{
    const struct threads *t = arg;
    struct rma_target *made_now;
    for (int i = 0; i < t->nproc; i++) {
        OK(win_target(t->w, i, &made_now));
        FABRIC_CHECK(made_now->rank == i && made_now == win_peek(t->w, i));
    }
    return NULL;
}

static void at_once(struct fabric_proc *p, void *arg)
{
    pthread_t thread[3];
    (void)arg;
    create(p);
    struct threads t = {win[p->rank], p->fabric->opts.nproc};
    for (int i = 0; i < 3; i++)
        FABRIC_CHECK(pthread_create(&thread[i], NULL, look_up_all, &t) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    FABRIC_CHECK(made(t.w) == t.nproc);
    int listed = t.w->nlocal;
    LIST_EACH (node, &t.w->remote)
        listed++;
    FABRIC_CHECK(listed == t.nproc); /* none twice */
    fabric_win_free(t.w);
}

static void test_at_once(void **state)
{
    (void)state;
    run((struct fabric_opts){.nproc = 6, .per_node = 1, .threads = true}, at_once, NULL);
}

/* ---- the records ---- */

enum sizes { ALIKE, DIFFERENT };

/* Where all processes have said the same, nothing is kept of each; else one copy a node. Who they
 * are is one copy a node, in any case, which later windows use. */
static void records(struct fabric_proc *p, void *arg)
{
    const enum sizes sizes = *(enum sizes *)arg;
    const int node = p->fabric->opts.per_node, lead = p->rank / node * node;
    for (int i = 0; i < 2; i++) {
        const size_t size = sizes == ALIKE || p->rank ? SIZE : SIZE / 2;
        win[p->rank] = fabric_win(p, WIN_CREATE, area[p->rank], size, 1);
        struct win *w = win[p->rank];
        fabric_barrier(p);
        const struct win_records *r = &w->records, *its = &win[lead]->records;
        FABRIC_CHECK(r->same == (sizes == ALIKE) && (r->all == NULL) == r->same);
        FABRIC_CHECK(r->all == its->all && r->table->first == its->table->first);
        FABRIC_CHECK((r->own != NULL) == (sizes == DIFFERENT && node > 1 && p->rank == lead));
        FABRIC_CHECK((r->gathered.all != NULL) == (sizes == DIFFERENT && node == 1));
        FABRIC_CHECK((r->table->segment != NULL) == (node > 1));
        for (int rank = 0; rank < w->nproc; rank++) {
            FABRIC_CHECK(record_proc(w, rank)->uid == (uint64_t)rank + 1);
            FABRIC_CHECK(record_of(w, rank).size == (sizes == ALIKE || rank ? SIZE : SIZE / 2));
        }
        fabric_barrier(p);
        fabric_win_free(w);
    }
}

static void no_records(struct fabric_proc *p, void *arg)
{
    (void)arg;
    create(p);
    const struct win_records *r = &win[p->rank]->records;
    FABRIC_CHECK(!records_are_there(win[p->rank]) && !r->table && !r->gathered.all);
    fabric_win_free(win[p->rank]);
}

static void test_records(void **state)
{
    (void)state;
    for (enum sizes sizes = ALIKE; sizes <= DIFFERENT; sizes++) {
        run((struct fabric_opts){.nproc = 9, .per_node = 3}, records, &sizes);
        run((struct fabric_opts){.nproc = 3, .per_node = 1}, records, &sizes);
    }
    run((struct fabric_opts){.nproc = 3}, no_records, NULL);
}

/* ---- more processes on a node than the launcher has said ---- */

static void exchange(struct fabric_proc *p, void *flavor)
{
    const int n = p->fabric->opts.nproc;
    struct win *w = fabric_win(p, *(const enum win_flavor *)flavor, area[p->rank], SIZE, 1);
    int all[FABRIC_MAX];
    int64_t one = 1, sum = 0;
    for (int i = 0; i < n; i++)
        all[i] = i;
    FABRIC_CHECK(w->created.nslots >= w->nlocal);
    memset(*win_base_attr(w), 0, SIZE);
    for (int round = 0; round < 3; round++) {
        OK(rma_fence(w, 0));
        for (int i = 0; i < n; i++)
            add(w, i, 0, &one, 1);
        OK(rma_fence(w, 0));
        OK(rma_post(w, all, n, 0));
        OK(rma_start(w, all, n, 0));
        for (int i = 0; i < n; i++)
            add(w, i, 0, &one, 1);
        OK(rma_complete(w));
        OK(rma_wait(w));
    }
    OK(rma_fence(w, RMA_NOSUCCEED));
    memcpy(&sum, *win_base_attr(w), sizeof sum);
    FABRIC_CHECK(sum == 6 * n);
    fabric_win_free(w);
}

static void test_bound(void **state)
{
    static enum win_flavor flavors[] = {WIN_CREATE, WIN_ALLOCATE, WIN_ALLOCATE_SHARED};
    (void)state;
    for (size_t i = 0; i < sizeof flavors / sizeof *flavors; i++)
        for (int bound = 1; bound < 8; bound++)
            for (int no_assist = 0; no_assist < 2; no_assist++) {
                run((struct fabric_opts){.nproc = 5,
                                         .node_procs_bound = bound,
                                         .no_assist = no_assist,
                                         .quiet = true},
                    exchange, &flavors[i]);
                if (flavors[i] != WIN_ALLOCATE_SHARED) /* nodes of 4 and 1 */
                    run((struct fabric_opts){.nproc = 5,
                                             .per_node = 4,
                                             .node_procs_bound = bound,
                                             .no_assist = no_assist,
                                             .quiet = true},
                        exchange, &flavors[i]);
            }
}

/* ---- the last barrier ---- */

/* ceil(log2 P) packets a process where all are on nodes of their own. */
static void last(struct fabric_proc *p, void *arg)
{
    uint64_t sent = 0;
    (void)arg;
    create(p);
    struct win *w = win[p->rank];
    rest(p);
    OK(win_free_begin(w));
    for (int k = 1; k < p->fabric->opts.nproc; k <<= 1)
        sent++;
    FABRIC_CHECK(counters(p).by_type[PKT_SYNC] == sent);
    win_free_end(w);
}

static void test_last(void **state)
{
    (void)state;
    for (int n = 1; n <= 17; n++)
        run((struct fabric_opts){.nproc = n, .per_node = 1, .progress = CONF_PROGRESS_POLL}, last,
            NULL);
}

/* A window that came to no orderly end: nobody may be at work on it any more. */
static void drop(struct fabric_proc *p, struct win *w)
{
    fabric_barrier(p);
    fabric_kill(p); /* and so its agent */
    fabric_barrier(p);
    win_free_end(w);
}

/* The news of a death reaches those that wait for others who wait. */
static void with_dead(struct fabric_proc *p, void *arg)
{
    const int *victim = arg;
    create(p);
    struct win *w = win[p->rank];
    rest(p);
    if (p->rank == *victim)
        fabric_kill(p);
    else
        FABRIC_CHECK(win_free_begin(w) == MRMA_ERR_PROC_FAILED);
    drop(p, w);
}

/* The lock's holder dies: who waits for the lock has nothing to do with it. */
/* Who waits for a lock hears of its holder's death from the target, which finds it out in a wait of
 * its own (arg is given) or, when it makes no call, by its agent. */
static void dead_holder(struct fabric_proc *p, void *arg)
{
    unsigned char in[8];
    create(p);
    struct win *w = win[p->rank];
    rest(p);
    if (p->rank == 3) {
        OK(rma_lock(w, true, 0, 0));
        get(w, 0, 0, in, 8);
        OK(rma_flush(w, 0, false));
    }
    rest(p);
    if (p->rank == 3)
        fabric_kill(p);
    fabric_barrier(p);
    if (p->rank == 5) {
        int err = rma_lock(w, true, 0, 0);
        const struct rma_op op = byte_op(NULL, in, 0, 0, 8);
        if (!err)
            err = rma_get(w, &op);
        if (!err)
            err = rma_unlock(w, 0);
        FABRIC_CHECK(err == MRMA_ERR_PROC_FAILED);
    } else if (p->rank == 0 && arg) {
        FABRIC_CHECK(win_free_begin(w) == MRMA_ERR_PROC_FAILED);
    }
    drop(p, w);
}

static void test_dead(void **state)
{
    static int victims[] = {0, 3, 6};
    (void)state;
    for (int per_node = 1; per_node <= 3; per_node += 2)
        for (int i = 0; i < 3; i++)
            run((struct fabric_opts){.nproc = 7, .per_node = per_node, .quiet = true}, with_dead,
                &victims[i]);
    run((struct fabric_opts){.nproc = 7, .per_node = 1, .quiet = true}, dead_holder, victims);
    run((struct fabric_opts){.nproc = 7, .per_node = 1, .quiet = true}, dead_holder, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_neighbours), cmocka_unit_test(test_group),
        cmocka_unit_test(test_at_once),    cmocka_unit_test(test_records),
        cmocka_unit_test(test_bound),      cmocka_unit_test(test_last),
        cmocka_unit_test(test_dead),       cmocka_unit_test(test_facts),
    };
    pkt_types_init();
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("remote", tests, NULL, NULL);
}
