/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_abandoned.c - a process has died: what is asked of it fails at once where its memory is
 * mapped or reached by the kernel, the others go on among themselves, MPI_Win_free ends with one
 * error, and what a process has published is used for nothing else until the others have left.
 */
#include "test/support/pkt_helper.h"

#include "rma/create/abandoned.h"
#include "rma/progress/lost.h"
#include "rma/win/ctl_blocks.h"

enum { PROCS = 3, VICTIM = 2, SIZE = 1 << 16 };

struct scene {
    enum conf_path path;
    enum win_flavor flavor;
    bool threads;
};

static bool failed(int err)
{
    return err == MRMA_ERR_PROC_FAILED;
}

/* Each call that concerns the victim alone, or all processes. */
static void all_fail(struct win *w)
{
    int64_t v[2] = {1, 2};
    const struct rma_op bytes = byte_op(v, v + 1, VICTIM, 0, 8);
    const struct rma_op words = i64_op(v, v + 1, VICTIM, 0, 1, ACC_SUM);
    const int victim = VICTIM;
    FABRIC_CHECK(failed(rma_lock(w, true, VICTIM, 0)));
    FABRIC_CHECK(failed(rma_lock_all(w, 0)));
    FABRIC_CHECK(failed(rma_lock(w, false, VICTIM, RMA_NOCHECK)));
    OK(rma_start(w, &victim, 1, RMA_NOCHECK));
    FABRIC_CHECK(failed(rma_get(w, &bytes)));
    FABRIC_CHECK(failed(rma_accumulate(w, &words)));
    FABRIC_CHECK(failed(rma_complete(w)));
    FABRIC_CHECK(failed(rma_post(w, &victim, 1, 0)));
}

static void go_on(struct win *w, int other)
{
    const char out[8] = "goes on";
    char in[8] = "";
    OK(rma_lock(w, true, other, 0));
    put(w, other, 0, out, sizeof out);
    OK(rma_flush(w, other, false));
    get(w, other, 0, in, sizeof in);
    OK(rma_unlock(w, other));
    FABRIC_CHECK(memcmp(out, in, sizeof out) == 0);
}

/* So that operations on all are allowed, and a flush has nothing to do. */
static void use_all(struct win *w)
{
    int64_t v[2] = {1, 2};
    OK(rma_lock_all(w, 0));
    fetch_add(w, VICTIM, 0, v, v + 1, 1);
    OK(rma_flush(w, VICTIM, false));
}

/* In the midst of that. */
static void lose(struct win *w)
{
    int64_t v[2] = {1, 2};
    const struct rma_op words = i64_op(v, v + 1, VICTIM, 0, 1, ACC_SUM);
    const struct rma_op bytes = byte_op(v, v + 1, VICTIM, 0, 8);
    rma_enter(w->rma);
    win_lost(w, VICTIM);
    rma_leave(w->rma);
    FABRIC_CHECK(failed(rma_get_accumulate(w, &words)));
    FABRIC_CHECK(failed(rma_put(w, &bytes)));
    FABRIC_CHECK(failed(rma_get(w, &bytes)));
    FABRIC_CHECK(failed(rma_flush(w, VICTIM, false)));
    FABRIC_CHECK(failed(rma_flush_all(w, false)));
    OK(rma_flush(w, 0, false));
    FABRIC_CHECK(failed(rma_unlock_all(w)));
}

static void body(struct fabric_proc *p, void *arg)
{
    const struct scene *s = arg;
    struct rma *r = &p->rma;
    static char memory[PROCS][SIZE]; /* others may access it until the end */
    void *mine = s->flavor == WIN_CREATE ? memory[p->rank] : NULL;
    struct win *w = fabric_win(p, s->flavor, mine, SIZE, 1);
    OK(rma_fence(w, RMA_NOSUCCEED));
    if (p->rank != VICTIM)
        use_all(w);
    fabric_barrier(p);
    if (p->rank == VICTIM) {
        fabric_kill(p);
        fabric_barrier(p);
        fabric_barrier(p);
        fabric_barrier(p);
        win_free_end(w);
        return;
    }
    fabric_barrier(p);
    lose(w);
    go_on(w, 1 - p->rank);
    fabric_barrier(p);
    all_fail(w);
    if (p->rank == 0) {
        const struct win_ctl *block = w->ctl;
        FABRIC_CHECK(failed(win_free_begin(w)));
        win_free_end(w);
        FABRIC_CHECK(!list_empty(&r->abandoned)); /* 1 has not left it */
        struct win_ctl *other;
        OK(ctl_blocks_take(r, sizeof *other, &other));
        FABRIC_CHECK(other != block);
        ctl_blocks_give(r, other);
    }
    fabric_barrier(p);
    if (p->rank == 1) {
        const char late[8] = "late";
        OK(rma_lock(w, false, 0, RMA_NOCHECK));
        put(w, 0, 0, late, sizeof late); /* into memory that is kept */
        OK(rma_unlock(w, 0));
        FABRIC_CHECK(failed(win_free_begin(w)));
        win_free_end(w);
        FABRIC_CHECK(list_empty(&r->abandoned)); /* 0 left it long ago */
    }
}

/* Here 1 has left: a look gives all back. */
static void look(struct fabric_proc *p, void *arg)
{
    (void)arg;
    if (p->rank == VICTIM)
        return;
    rma_enter(&p->rma);
    abandoned_sweep(&p->rma);
    rma_leave(&p->rma);
    FABRIC_CHECK(list_empty(&p->rma.abandoned));
}

static void run(struct scene s)
{
    fabric_watchdog(60);
    struct fabric *f = fabric_new(
        &(struct fabric_opts){.nproc = PROCS, .path = s.path, .threads = s.threads, .quiet = true});
    fabric_run(f, body, &s);
    fabric_run(f, look, NULL);
    fabric_free(f);
    fabric_watchdog(0);
}

static void test_mapped(void **state)
{
    (void)state;
    run((struct scene){.flavor = WIN_ALLOCATE});
    run((struct scene){.flavor = WIN_ALLOCATE_SHARED});
}

static void test_assisted(void **state)
{
    (void)state;
    run((struct scene){.flavor = WIN_CREATE});
    run((struct scene){.flavor = WIN_ALLOCATE, .path = CONF_PATH_ASSISTED});
}

static void test_threads(void **state)
{
    (void)state;
    run((struct scene){.flavor = WIN_ALLOCATE, .threads = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mapped),
                                       cmocka_unit_test(test_assisted),
                                       cmocka_unit_test(test_threads)};
    pkt_types_init();
    return cmocka_run_group_tests_name("abandoned", tests, NULL, NULL);
}
