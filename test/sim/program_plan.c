/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program_plan.c - makes a group of epochs and its operations from the seed.
 */
#include <stdlib.h>
#include <string.h>

#include "program_core.h"

static int pick_win(struct prog *p)
{
    int w;
    do
        w = (int)prog_below(p, (size_t)p->nwins);
    while (!p->group.wins[w]);
    return w;
}

/* ---- operations ---- */

static size_t random_count(struct prog *p)
{
    switch (prog_below(p, 12)) {
    case 0:
        return prog_below(p, p->part);
    case 1:
    case 2:
        return prog_below(p, p->part < 2000 ? p->part : 2000); /* about a packet */
    case 3:
        return 0;
    default:
        return 1 + prog_below(p, 12);
    }
}

static void choose_cells(struct prog *p, struct prog_op *o)
{
    const size_t lane = p->part, begin = (size_t)o->origin * p->opts.lane + p->part_first;
    o->n = o->kind == OP_CAS ? 1 : random_count(p);
    o->step = prog_below(p, 3) ? 1 : 1 + prog_below(p, 4);
    if (o->n * o->step > lane)
        o->n = lane / o->step;
    o->first = begin + prog_below(p, lane - o->n * o->step + 1);
    if (o->first + 1 > begin + lane) /* none, at the very end */
        o->first--;
}

static void share(struct prog *p, struct prog_op *o, enum prog_kind kind)
{
    o->kind = kind;
    o->acc = ACC_SUM;
    o->step = 1;
    o->n = kind == OP_COUNTER ? 1 : 1 + prog_below(p, PROG_SHARED - 1);
    o->first = (size_t)p->nproc * p->opts.lane +
               prog_below(p, kind == OP_COUNTER ? PROG_SHARED : PROG_SHARED - o->n);
}

static void choose_access(struct prog *p, struct prog_op *o, bool counts)
{
    if (p->wins[o->win].empty[o->target]) {
        o->kind = o->kind < OP_CAS ? o->kind : OP_PUT;
        o->n = 0;
        o->step = 1;
        o->first = 0;
    } else if (o->kind == OP_SUM || (o->kind == OP_COUNTER && !counts)) {
        share(p, o, OP_SUM);
    } else if (o->kind == OP_COUNTER) {
        share(p, o, OP_COUNTER);
    } else {
        choose_cells(p, o);
        if (!prog_claim(p, o))
            share(p, o, OP_SUM);
    }
    o->tcount = 1;
    if (o->n && o->kind < OP_CAS && !prog_below(p, 3)) /* several elements of a smaller type */
        for (size_t c = 2 + prog_below(p, 6); c > 1 && o->tcount == 1; c--)
            if (o->n % c == 0)
                o->tcount = c;
}

/* In passive epochs: by request, and what follows. lock: the one held on the target, NULL:
 * lock_all. */
static void choose_sync(struct prog *p, struct prog_op *o, const struct prog_passive *ps)
{
    const bool chain = p->group.type == E_CHAIN; /* its packets leave soon, and few are awaited */
    o->request = o->kind < OP_CAS && (chain || !prog_below(p, 4));
    o->finish = chain ? !prog_below(p, 24) : prog_below(p, 2);
    o->sync = prog_below(p, chain ? 24 : 3) ? S_NONE : (enum prog_sync)prog_below(p, S_KINDS);
    if (o->sync == S_RELOCK && (ps->all || ps->n != 1))
        o->sync = S_FLUSH;
    if (o->kind == OP_COUNTER || o->sync == S_FLUSH || o->sync == S_RELOCK)
        prog_forget(p, o->origin, o->win, o->target);
    for (int t = 0; o->sync == S_FLUSH_ALL && t < p->nproc; t++)
        prog_forget(p, o->origin, o->win, t); /* targets not locked have nothing marked */
    p->stats->requests += o->request;
}

/* A third of the operations that may. It is drawn from what the operation's data are made of, so
 * that a seed's program is otherwise the one that it would be without notifications. */
static void choose_notification(struct prog *p, struct prog_op *o)
{
    const uint64_t draw = (uint64_t)prog_datum(o->value, SIZE_MAX / 2);
    struct prog_window *pw = &p->wins[o->win];
    const bool may =
        o->kind == OP_PUT || o->kind == OP_GET || o->kind == OP_ACC || o->kind == OP_SUM;
    if (!pw->notified || !may || o->request || draw % 3)
        return;
    o->notify = 1 + (uint32_t)(draw / 3 % PROG_NUMBERS);
    pw->notices[o->target][o->origin][o->notify - 1]++;
    p->stats->notified++;
}

/* One operation of origin, and what comes of it. False: no more room. */
static bool add_op(struct prog *p, struct prog_epoch *e, int origin, int win, int target,
                   const struct prog_lock *lock)
{
    static const enum acc_op accs[] = {ACC_SUM,  ACC_PROD,    ACC_MAX,
                                       ACC_BXOR, ACC_REPLACE, ACC_NO_OP};
    if (p->nops == PROG_MAX_OPS)
        return false;
    struct prog_op *o = &p->ops[p->nops];
    *o = (struct prog_op){.origin = origin,
                          .win = win,
                          .target = target,
                          .kind = (enum prog_kind)prog_below(p, OP_KINDS),
                          .next = PROG_NONE};
    o->value = p->random;
    o->acc = accs[prog_below(p, sizeof accs / sizeof *accs)];
    o->pause = prog_below(p, 20) ? 0 : 1 + (unsigned)prog_below(p, 200);
    if (o->kind == OP_ACC && o->acc == ACC_NO_OP)
        o->acc = ACC_SUM;
    choose_access(p, o, lock && lock->exclusive && p->group.type != E_CHAIN);
    o->origin_step = prog_below(p, 4) ? 1 : 1 + prog_below(p, 3);
    if (o->kind == OP_CAS)
        o->compare = prog_below(p, 2) ? p->wins[win].model[target][o->first] : 7;
    prog_compute(p, o);
    if (e->type != E_FENCE && e->type != E_PSCW)
        choose_sync(p, o, &e->passive[origin]);
    choose_notification(p, o);
    p->stats->ops[o->kind]++;
    p->stats->zero += o->n == 0;
    p->nops++;
    return true;
}

/* Where may origin's next operation go? False: nowhere. */
static bool choose_target(struct prog *p, const struct prog_epoch *e, int origin, int *win,
                          int *target, const struct prog_lock **lock)
{
    const struct prog_passive *ps = &e->passive[origin];
    *lock = NULL;
    *win = pick_win(p);
    *target = (int)prog_below(p, (size_t)p->nproc);
    if (e->type == E_FENCE)
        return true;
    if (e->type == E_PSCW)
        return e->member[origin][*target];
    if (ps->all && e->type == E_BESIDE) {
        for (int w = 0; w < p->nwins; w++)
            *win = p->group.wins[w] ? w : *win;
        *target = ps->only;
        return ps->only < p->nproc;
    }
    if (ps->all)
        return true;
    if (!ps->n)
        return false;
    *lock = &ps->locks[prog_below(p, (size_t)ps->n)];
    *win = (*lock)->win;
    *target = (*lock)->target;
    return true;
}

static void add_ops(struct prog *p, struct prog_epoch *e)
{
    const size_t third = p->opts.lane / 3;
    const bool chain = p->group.type == E_CHAIN;
    const size_t most = chain && e->type != E_PSCW ? p->opts.max_ops : 12;
    prog_forget_all(p);
    p->part = chain ? third : p->opts.lane;
    p->part_first = !chain ? 0 : e->type == E_PSCW ? 0 : e->type == E_FENCE ? third : 2 * third;
    for (int o = 0; o < p->nproc; o++)
        e->first[o] = PROG_NONE;
    for (int o = 0; o < p->nproc; o++) {
        size_t n = prog_below(p, prog_below(p, 5) ? most : p->opts.max_ops), *at = &e->first[o];
        for (; n && !e->idle; n--) {
            const struct prog_lock *lock;
            int win, target;
            if (!choose_target(p, e, o, &win, &target, &lock))
                continue;
            if (!add_op(p, e, o, win, target, lock))
                return;
            *at = p->nops - 1;
            at = &p->ops[p->nops - 1].next;
        }
    }
}

/* ---- epochs ---- */

static void choose_members(struct prog *p, struct prog_epoch *e)
{
    e->test = prog_below(p, 2);
    e->nocheck = !p->opts.mortal && !prog_below(p, 3);
    for (int o = 0; o < p->nproc; o++)
        for (int t = 0; t < p->nproc; t++)
            e->member[o][t] = prog_below(p, 3) != 0;
}

/* Ascending by window and rank, each pair at most once. */
static void choose_locks(struct prog *p, enum prog_type type, struct prog_passive *ps, int most)
{
    const size_t pairs = (size_t)(p->nwins * p->nproc);
    for (size_t i = 0; i < pairs && ps->n < most; i++) {
        const int win = (int)i / p->nproc, target = (int)i % p->nproc;
        if (!p->group.wins[win] || prog_below(p, pairs) >= (size_t)(most > 1 ? most + 1 : 2))
            continue;
        ps->locks[ps->n++] = (struct prog_lock){
            .win = win,
            .target = target,
            .exclusive = type != E_SHARED && !(type == E_ANY_ORDER && most > 1) && prog_below(p, 2),
            .nocheck = type == E_SHARED && !prog_below(p, 3)};
    }
    p->stats->locks_nested += ps->n > 1;
}

static void shuffle_locks(struct prog *p, struct prog_passive *ps)
{
    for (int i = ps->n - 1; i > 0; i--) {
        const size_t other = prog_below(p, (size_t)i + 1);
        const struct prog_lock lock = ps->locks[i];
        ps->locks[i] = ps->locks[other];
        ps->locks[other] = lock;
    }
}

static void choose_passive(struct prog *p, struct prog_epoch *e)
{
    const enum prog_type type = e->type;
    for (int o = 0; o < p->nproc; o++) {
        struct prog_passive *ps = &e->passive[o];
        if (type != E_LOCKS && !(type == E_MIXED && p->group.type == E_CHAIN) && prog_below(p, 2)) {
            ps->all = true;
            ps->all_nocheck = type == E_SHARED && !prog_below(p, 3);
            ps->only = o + 1 + (int)prog_below(p, (size_t)(p->nproc - o));
            continue;
        }
        const bool one = type == E_MIXED || (type == E_ANY_ORDER && prog_below(p, 2));
        choose_locks(p, type, ps, one || p->group.type == E_CHAIN ? 1 : PROG_LOCKS);
        if (type == E_ANY_ORDER)
            shuffle_locks(p, ps);
    }
}

/* Does anybody change memory of that process in the epoch that begins with fence i? */
static bool is_written(const struct prog *p, const struct prog_epoch *e, int target)
{
    for (int o = 0; o < p->nproc; o++)
        for (size_t at = e->first[o]; at != PROG_NONE; at = p->ops[at].next)
            if (p->ops[at].target == target && p->ops[at].kind != OP_GET)
                return true;
    return false;
}

/* Whatever is true may be said (MPI 4.1, 12.5.5). */
static void choose_asserts(struct prog *p)
{
    struct prog_group *g = &p->group;
    for (int i = 0; i <= g->nepochs; i++) {
        const bool nothing_before = i == 0 || g->epochs[i - 1].idle;
        const bool nothing_after = i == g->nepochs || g->epochs[i].idle;
        const int all = (nothing_before && prog_below(p, 2) ? RMA_NOPRECEDE : 0) |
                        (nothing_after && prog_below(p, 2) ? RMA_NOSUCCEED : 0);
        for (int r = 0; r < p->nproc; r++) {
            g->asserts[i][r] = all | (prog_below(p, 2) ? RMA_NOSTORE : 0);
            if ((i == g->nepochs || !is_written(p, &g->epochs[i], r)) && prog_below(p, 2))
                g->asserts[i][r] |= RMA_NOPUT;
            for (int bit = 0; bit < 5; bit++)
                p->stats->asserts[bit] += (unsigned)g->asserts[i][r] >> bit & 1;
        }
    }
}

static void choose_targets(struct prog *p, bool is_target[PROG_PROCS])
{
    for (int i = 0; i < p->nproc; i++)
        is_target[i] = prog_below(p, 2);
}

/* An epoch of a chain: who is an origin of MPI_Win_start's is no target. Passive ones are shared,
 * or all of the chain are of one lock. */
static void choose_link(struct prog *p, struct prog_epoch *e, bool exclusive,
                        const bool is_target[PROG_PROCS])
{
    const size_t type = prog_below(p, 10);
    e->type = type < 6 ? E_PSCW : type < 9 ? (exclusive ? E_MIXED : E_SHARED) : E_FENCE;
    e->late = prog_below(p, 4) ? 1 + (unsigned)prog_below(p, 2000) : 0;
    e->asserts[0] = prog_below(p, 2) ? RMA_NOPRECEDE : 0;
    e->asserts[1] = prog_below(p, 2) ? RMA_NOSUCCEED : 0;
    for (int o = 0; e->type == E_PSCW && o < p->nproc; o++)
        for (int t = 0; t < p->nproc; t++)
            e->member[o][t] = !is_target[o] && is_target[t];
}

void prog_plan(struct prog *p)
{
    struct prog_group *g = &p->group;
    memset(g, 0, sizeof *g);
    p->nops = 0;
    for (int w = 0; w < p->nwins; w++)
        memset(p->wins[w].notices, 0, sizeof p->wins[w].notices);
    g->type = p->opts.chains ? E_CHAIN : (enum prog_type)prog_below(p, E_TYPES);
    g->flush_all = g->type != E_LOCKS && prog_below(p, 2);
    g->nepochs = 1 + (int)prog_below(p, p->opts.chains ? PROG_CHAIN : PROG_EPOCHS);
    g->wins[prog_below(p, (size_t)p->nwins)] = true;
    for (int w = 0; w < p->nwins; w++)
        g->wins[w] |= !prog_below(p, 3);
    const bool exclusive = p->opts.chains && prog_below(p, 2);
    const bool roles_change = p->opts.chains && prog_below(p, 2);
    bool is_target[PROG_PROCS] = {false};
    for (int i = 0; i < g->nepochs; i++) {
        struct prog_epoch *e = &g->epochs[i];
        e->type = g->type;
        e->idle = !prog_below(p, 6);
        if (g->type == E_CHAIN && (i == 0 || roles_change))
            choose_targets(p, is_target);
        if (g->type == E_CHAIN)
            choose_link(p, e, exclusive, is_target);
        else if (g->type == E_PSCW)
            choose_members(p, e);
        if (e->type != E_FENCE && e->type != E_PSCW)
            choose_passive(p, e);
        add_ops(p, e);
        p->stats->epochs[g->type]++;
    }
    if (g->type == E_FENCE)
        choose_asserts(p);
    for (int w = 0; w < p->nwins && g->type != E_FENCE && g->type != E_PSCW; w++)
        for (int i = 0; i < p->nproc; i++)
            p->stats->weak += g->wins[w] && p->wins[w].weak[i];
}

void prog_plan_free(struct prog *p)
{
    for (size_t i = 0; i < p->nops; i++) {
        struct prog_op *o = &p->ops[i];
        free(o->expected);
        free(o->origin_buf);
        free(o->result);
        if (o->ttype)
            dtype_unref(o->ttype);
        if (o->otype)
            dtype_unref(o->otype);
    }
}
