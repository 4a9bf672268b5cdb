/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program_run.c - one process runs a group of epochs, by the calls of rma.h.
 *
 * Every call's outcome is looked at by went_on: an error ends the program, except, where
 * processes may die, that one has; then this process makes no further call on windows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "program_core.h"
#include "rma/win/win.h"

static struct prog *prog_of(const struct prog_actor *a)
{
    return a->world->prog;
}

static bool went_on(struct prog_actor *a, int err)
{
    struct prog *p = prog_of(a);
    if (err) {
        PROG_CHECK(p->opts.mortal && err == MRMA_ERR_PROC_FAILED);
        p->broken[a->rank] = true;
        p->stats->failed++;
    }
    return !err;
}

/* For functions that return whether to go on. */
#define TRY(call)                \
    do {                         \
        if (!went_on(a, (call))) \
            return false;        \
    } while (0)

/* ---- operations ---- */

static struct dtype *strided(size_t n, size_t step)
{
    const struct dtype_run run = {.disp = 0,
                                  .len = step == 1 ? 8 * n : 8,
                                  .stride = (ptrdiff_t)(8 * step),
                                  .n = step == 1 ? 1 : n};
    const struct dtype form = {.size = 8 * n,
                               .extent = (ptrdiff_t)(8 * n * step),
                               .basic = ACC_I64,
                               .elems = n,
                               .runs = &run,
                               .eruns = &run,
                               .nruns = n != 0,
                               .neruns = n != 0};
    struct dtype *type;
    PROG_CHECK(dtype_create(&form, &type) == MRMA_SUCCESS);
    return type;
}

static struct dtype *known(struct prog *p, int rank, size_t n, size_t step)
{
    struct prog_known *k = &p->known[rank][(n * 5 + step) % PROG_TYPES];
    if (!k->type || k->n != n || k->step != step) {
        if (k->type)
            dtype_unref(k->type);
        *k = (struct prog_known){.n = n, .step = step, .type = strided(n, step)};
    }
    dtype_ref(k->type);
    return k->type;
}

static bool wait_request(struct prog_actor *a, struct prog_op *o)
{
    if (a->world->waits)
        a->world->waits(a, &o->req, false);
    while (!rma_req_done(&o->req)) {
        rma_progress_requests(a->rma);
        a->world->yield(a);
    }
    if (a->world->waits)
        a->world->waits(a, &o->req, true);
    return went_on(a, atomic_load(&o->req.err));
}

static struct rma_op describe(const struct prog *p, const struct prog_op *o)
{
    return (struct rma_op){.oaddr = o->origin_buf,
                           .ocount = 1,
                           .otype = o->otype,
                           .raddr = o->result,
                           .rcount = 1,
                           .rtype = o->otype,
                           .target = o->target,
                           .notify = o->notify,
                           .disp = (int64_t)(o->first * 8 / p->wins[o->win].disp_unit),
                           .tcount = o->tcount,
                           .ttype = o->ttype};
}

static void make_buffers(struct prog *p, struct prog_op *o)
{
    o->ttype = known(p, o->origin, o->n / o->tcount, o->step);
    o->otype = strided(o->n, o->origin_step);
    o->origin_buf = malloc((o->n * o->origin_step + 1) * 8);
    o->result = malloc((o->n * o->origin_step + 1) * 8);
    PROG_CHECK(o->origin_buf && o->result);
    for (size_t i = 0; i < o->n; i++)
        o->origin_buf[i * o->origin_step] = prog_datum(o->value, i);
}

/* Under the exclusive lock nobody's sums come between. */
static bool increment(struct prog_actor *a, struct win *w, const struct prog_op *o,
                      struct rma_op op)
{
    int64_t value = 0;
    struct dtype *one = o->otype;
    op.oaddr = op.raddr = &value;
    op.otype = op.rtype = one;
    TRY(rma_flush(w, o->target, false)); /* its own sums */
    TRY(rma_get(w, &op));
    TRY(rma_flush(w, o->target, false));
    a->world->pause(a, 20);
    value++;
    TRY(rma_put(w, &op));
    TRY(rma_flush(w, o->target, false));
    return true;
}

static bool issue(struct prog_actor *a, struct prog_op *o)
{
    struct prog *p = prog_of(a);
    struct win *w = p->wins[o->win].win[a->rank];
    make_buffers(p, o);
    struct rma_op op = describe(p, o);
    if (o->pause)
        a->world->pause(a, o->pause);
    if (o->kind == OP_ACC || o->kind == OP_GET_ACC || o->kind == OP_SUM)
        op.op = o->acc;
    if (o->request) {
        rma_req_init(&o->req);
        op.req = &o->req;
    }
    switch (o->kind) {
    case OP_PUT:
        TRY(rma_put(w, &op));
        break;
    case OP_GET:
        TRY(rma_get(w, &op));
        break;
    case OP_GET_ACC:
        TRY(rma_get_accumulate(w, &op));
        break;
    case OP_CAS:
        op.caddr = &o->compare;
        TRY(rma_compare_and_swap(w, &op));
        break;
    case OP_COUNTER:
        return increment(a, w, o, op);
    default:
        TRY(rma_accumulate(w, &op));
    }
    return !o->request || !o->finish || wait_request(a, o);
}

static bool relock(struct prog_actor *a, const struct prog_epoch *e)
{
    const struct prog_lock *l = &e->passive[a->rank].locks[0];
    struct win *w = prog_of(a)->wins[l->win].win[a->rank];
    TRY(rma_unlock(w, l->target));
    TRY(rma_lock(w, l->exclusive, l->target, l->nocheck ? RMA_NOCHECK : 0));
    return true;
}

static bool sync_after(struct prog_actor *a, const struct prog_epoch *e, const struct prog_op *o)
{
    struct win *w = prog_of(a)->wins[o->win].win[a->rank];
    switch (o->sync) {
    case S_FLUSH:
        TRY(rma_flush(w, o->target, false));
        break;
    case S_FLUSH_LOCAL:
        TRY(rma_flush(w, o->target, true));
        break;
    case S_FLUSH_ALL:
        TRY(rma_flush_all(w, false));
        break;
    case S_FLUSH_LOCAL_ALL:
        TRY(rma_flush_all(w, true));
        break;
    case S_SYNC:
        TRY(rma_sync(w));
        break;
    case S_RELOCK:
        return relock(a, e);
    default:
        break;
    }
    return true;
}

static bool run_ops(struct prog_actor *a, const struct prog_epoch *e)
{
    struct prog *p = prog_of(a);
    for (size_t at = e->first[a->rank]; at != PROG_NONE; at = p->ops[at].next)
        if (!issue(a, &p->ops[at]) || !sync_after(a, e, &p->ops[at]))
            return false;
    return true;
}

/* The epoch is over: what was fetched must be what it should. */
static void check_ops(struct prog_actor *a, const struct prog_epoch *e)
{
    struct prog *p = prog_of(a);
    for (size_t at = e->first[a->rank]; at != PROG_NONE && !p->opts.mortal; at = p->ops[at].next) {
        struct prog_op *o = &p->ops[at];
        if (o->request)
            PROG_CHECK(rma_req_done(&o->req) && atomic_load(&o->req.err) == MRMA_SUCCESS);
        for (size_t i = 0;
             i < o->n && (o->kind == OP_GET || o->kind == OP_GET_ACC || o->kind == OP_CAS); i++)
            PROG_CHECK(o->result[i * o->origin_step] == o->expected[i]);
    }
}

/* ---- epochs ---- */

#define EACH_WIN(p, w)                   \
    for (int w = 0; w < (p)->nwins; w++) \
        if ((p)->group.wins[w])

static bool fence(struct prog_actor *a, int asserts)
{
    struct prog *p = prog_of(a);
    EACH_WIN(p, w)
    TRY(rma_fence(p->wins[w].win[a->rank], asserts));
    return true;
}

/* In a chain it has both fences of its own. */
static bool run_fence(struct prog_actor *a, int number)
{
    const struct prog_group *g = &prog_of(a)->group;
    const struct prog_epoch *e = &g->epochs[number];
    if (g->type != E_CHAIN)
        return fence(a, g->asserts[number][a->rank]) && run_ops(a, e);
    return fence(a, e->asserts[0]) && run_ops(a, e) && fence(a, e->asserts[1]);
}

static bool end_exposure(struct prog_actor *a, struct win *win, bool test)
{
    bool done = false;
    if (!test) {
        TRY(rma_wait(win));
        return true;
    }
    while (!done) {
        TRY(rma_test(win, &done));
        if (!done)
            a->world->yield(a);
    }
    return true;
}

static bool run_pscw(struct prog_actor *a, const struct prog_epoch *e)
{
    struct prog *p = prog_of(a);
    const int asserts = e->nocheck ? RMA_NOCHECK : 0;
    int origins[PROG_PROCS], targets[PROG_PROCS], norigins = 0, ntargets = 0;
    for (int i = 0; i < p->nproc; i++) {
        if (e->member[i][a->rank])
            origins[norigins++] = i;
        if (e->member[a->rank][i])
            targets[ntargets++] = i;
    }
    if (e->late && norigins)
        a->world->pause(a, e->late);
    EACH_WIN(p, w)
    TRY(rma_post(p->wins[w].win[a->rank], origins, norigins, asserts));
    if (e->nocheck)
        a->world->rest(a); /* the posts come first, and all know it */
    EACH_WIN(p, w)
    TRY(rma_start(p->wins[w].win[a->rank], targets, ntargets, asserts));
    if (!run_ops(a, e))
        return false;
    EACH_WIN(p, w)
    TRY(rma_complete(p->wins[w].win[a->rank]));
    EACH_WIN(p, w)
    if (!end_exposure(a, p->wins[w].win[a->rank], e->test))
        return false;
    return true;
}

static bool run_passive(struct prog_actor *a, const struct prog_epoch *e)
{
    struct prog *p = prog_of(a);
    const struct prog_passive *ps = &e->passive[a->rank];
    EACH_WIN(p, w)
    if (ps->all)
        TRY(rma_lock_all(p->wins[w].win[a->rank], ps->all_nocheck ? RMA_NOCHECK : 0));
    for (int i = 0; i < ps->n; i++) {
        const struct prog_lock *l = &ps->locks[i];
        TRY(rma_lock(p->wins[l->win].win[a->rank], l->exclusive, l->target,
                     l->nocheck ? RMA_NOCHECK : 0));
    }
    if (!run_ops(a, e))
        return false;
    for (int i = 0; i < ps->n; i++) {
        const struct prog_lock *l = &ps->locks[i];
        TRY(rma_unlock(p->wins[l->win].win[a->rank], l->target));
    }
    EACH_WIN(p, w)
    if (ps->all)
        TRY(rma_unlock_all(p->wins[w].win[a->rank]));
    return true;
}

static bool run_epochs(struct prog_actor *a)
{
    struct prog *p = prog_of(a);
    struct prog_group *g = &p->group;
    for (int i = 0; i < g->nepochs; i++) {
        const struct prog_epoch *e = &g->epochs[i];
        const bool on = e->type == E_FENCE  ? run_fence(a, i)
                        : e->type == E_PSCW ? run_pscw(a, e)
                                            : run_passive(a, e);
        if (!on)
            return false;
        if (g->type != E_FENCE)
            check_ops(a, e);
    }
    if (g->type == E_FENCE && !fence(a, g->asserts[g->nepochs][a->rank]))
        return false;
    for (int i = 0; g->type == E_FENCE && i < g->nepochs; i++)
        check_ops(a, &g->epochs[i]);
    return true;
}

/* What this process has unlocked without waiting is there when a later epoch has flushed it. */
static bool complete_weak(struct prog_actor *a)
{
    struct prog *p = prog_of(a);
    EACH_WIN(p, w)
    {
        struct win *win = p->wins[w].win[a->rank];
        if (!p->wins[w].weak[a->rank])
            continue;
        if (p->group.flush_all) {
            TRY(rma_lock_all(win, 0));
            TRY(rma_flush_all(win, false));
            TRY(rma_unlock_all(win));
        }
        for (int t = 0; t < p->nproc && !p->group.flush_all; t++) {
            TRY(rma_lock(win, false, t, 0));
            TRY(rma_flush(win, t, false));
            TRY(rma_unlock(win, t));
        }
    }
    return true;
}

static int take_all(struct win *win, int source, int number, uint64_t count)
{
    const struct rma_notified what = {source, number, 1, count};
    int taken;
    return rma_notify_wait(win, &what, &taken);
}

/* Notifications of even numbers are taken of all, those of odd ones of each source. */
static bool take_number(struct prog_actor *a, const struct prog_window *pw, int number)
{
    struct win *win = pw->win[a->rank];
    uint64_t all = 0, left = 0;
    for (int from = 0; from < prog_of(a)->nproc; from++) {
        const uint64_t n = pw->notices[a->rank][from][number];
        all += n;
        if (number % 2 == 0)
            continue;
        TRY(take_all(win, from, number, n));
        TRY(rma_notify_read(win, from, number, &left));
        PROG_CHECK(left == 0);
    }
    if (number % 2)
        return true;
    TRY(take_all(win, RMA_NOTIFY_ANY, number, all));
    TRY(rma_notify_read(win, RMA_NOTIFY_ANY, number, &left));
    PROG_CHECK(left == 0);
    return true;
}

/* What the group's operations have raised here. Others may still be on their way to their ends, and
 * this process serves them until all have taken theirs. */
static bool take_notifications(struct prog_actor *a)
{
    struct prog *p = prog_of(a);
    bool any = false;
    EACH_WIN(p, w)
    {
        const struct prog_window *pw = &p->wins[w];
        any |= pw->notified;
        for (int number = 0; pw->notified && number < PROG_NUMBERS; number++)
            if (!take_number(a, pw, number))
                return false;
    }
    if (any)
        a->world->rest(a);
    return true;
}

static void check_memory(const struct prog *p, int rank, int w)
{
    const int64_t *is = p->wins[w].memory[rank], *should = p->wins[w].model[rank];
    size_t i = 0;
    while (i < p->cells && is[i] == should[i])
        i++;
    if (i < p->cells)
        fprintf(
            stderr, "window %d of process %d: cell %zu (lane %zu, cell %zu) is %lld, not %lld\n", w,
            rank, i, i / p->opts.lane, i % p->opts.lane, (long long)is[i], (long long)should[i]);
    PROG_CHECK(i == p->cells);
}

void prog_run_group(struct prog_actor *a, void *arg)
{
    struct prog *p = arg;
    const bool passive = p->group.type != E_FENCE && p->group.type != E_PSCW;
    if (p->broken[a->rank] || !run_epochs(a) || (passive && !complete_weak(a)) || p->opts.mortal)
        return;
    if (!take_notifications(a))
        return;
    if (passive)
        a->world->rest(a);
    for (int w = 0; w < p->nwins; w++)
        if (!p->wins[w].empty[a->rank])
            check_memory(p, a->rank, w);
}
