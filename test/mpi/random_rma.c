/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random_rma.c - random one-sided programs against a sequential oracle.
 *
 * random_rma [ROUNDS]. All ranks draw the same program from one seed: in each
 * round some windows (of all flavours) get an epoch of some kind, with random
 * operations of every rank. The operations of a round conflict nowhere: each
 * block of a window is, for that round, written by one origin, or read by any, or
 * summed into by any, or belongs to the ordered accumulates of one origin. So the
 * contents after the round are determined; every rank computes them for all
 * ranks' windows and compares its own, and what its gets brought. MTEST_SEED
 * replays a failure.
 */
#include "dtgen.h"

#define WINDOWS 4
#define BLOCKS 12
#define BLOCK 1024 /* bytes */
#define OPS 10     /* operations of one origin in one epoch at most */

enum role { WRITTEN, READ, SUMMED, ORDERED, ROLES };

struct target {
    char *model;            /* contents of this rank's part */
    enum role role[BLOCKS]; /* this round */
    int owner[BLOCKS];      /* who may write, or send ordered accumulates */
    bool used[BLOCKS];      /* written already */
};

struct window {
    struct mt_win w;
    bool have;
    struct target *t; /* one per rank */
    enum mt_epoch ep; /* this round */
    int first;        /* lock epochs: target of rank r is (r + first) % size */
    bool reach[8][8]; /* PSCW: who accesses whom */
};

/* A pending result: compared after the epoch. */
struct pending {
    char *buf, *want;
    size_t bytes;
    const char *what;
};

static struct window win[WINDOWS];
static struct pending pending[WINDOWS * OPS * 2];
static char *garbage[WINDOWS * OPS * 8]; /* origin buffers to free after the round */
static int npending, ngarbage;
static struct mt_rng dice; /* the program: the same on all ranks */

static int roll(int n)
{
    return (int)mt_rng_below(&dice, (uint64_t)n);
}

static char *keep(size_t bytes)
{
    return garbage[ngarbage++] = mt_alloc(bytes);
}

static void expect(char *buf, const char *want, size_t bytes, const char *what)
{
    struct pending *p = &pending[npending++];

    *p = (struct pending){buf, keep(bytes), bytes, what};
    memcpy(p->want, want, bytes);
}

/* The part of a block that an operation takes: aligned, whole int64. */
static void piece(int *from, int *elems)
{
    int n = BLOCK / 8;

    *elems = roll(4) == 0 ? n : 1 + roll(n);
    *from = roll(n - *elems + 1) * 8;
}

static void apply(MPI_Op op, char *target, const char *origin, int elems)
{
    for (int i = 0; i < elems; i++) {
        int64_t a, b;
        memcpy(&a, target + i * 8, 8);
        memcpy(&b, origin + i * 8, 8);
        a = op == MPI_SUM       ? (int64_t)((uint64_t)a + (uint64_t)b)
            : op == MPI_REPLACE ? b
            : op == MPI_BXOR    ? a ^ b
                                : a;
        memcpy(target + i * 8, &a, 8);
    }
}

/* Random data that all ranks know. */
static char *draw_data(size_t bytes, bool me)
{
    uint64_t seed = mt_rng_next(&dice);
    static char scratch[BLOCK];
    char *p = me ? keep(bytes) : scratch;

    for (size_t i = 0; i < bytes; i++) {
        p[i] = (char)(seed >> (i % 8 * 8) ^ i * 13 >> 3);
    }
    return p;
}

/* A put or get with random layouts on both sides; the maps give the model's result. */
static void typed(struct window *v, int origin, int target, int block, bool put, bool request,
                  MPI_Request *req)
{
    bool me = v->w.rank == origin;
    struct dt_unit unit = dt_unit_make(roll(DT_UNITS));
    int units = 1 + roll(BLOCK / 2 / unit.extent > 40 ? 40 : BLOCK / 2 / unit.extent);
    struct dt_type ot = dt_random(&dice, &unit, units, BLOCK),
                   tt = dt_random(&dice, &unit, units, BLOCK - 8);
    struct target *t = &v->t[target];
    MPI_Aint toff = (tt.lo < 0 ? -tt.lo : 0), ooff = (ot.lo < 0 ? -ot.lo : 0);
    char packed[BLOCK], *model = t->model + block * BLOCK, *buf = draw_data(BLOCK, me);

    if (toff + tt.hi > BLOCK ||
        ooff + ot.hi > BLOCK) { /* a layout that begins far from its address */
        toff = ooff = -1;
    }
    if (toff >= 0 && put) {
        dt_pack(&ot, &unit, 1, buf + ooff, packed);
        dt_unpack(&tt, &unit, 1, model + toff, packed);
    }
    if (toff >= 0 && me) {
        MPI_Aint disp = mt_disp(&v->w, target, block * BLOCK + toff);
        if (put && request) {
            MT_OK(MPI_Rput(buf + ooff, 1, ot.type, target, disp, 1, tt.type, v->w.win, req));
        } else if (put) {
            MT_OK(MPI_Put(buf + ooff, 1, ot.type, target, disp, 1, tt.type, v->w.win));
        } else {
            char want[BLOCK];
            memcpy(want, buf, BLOCK);
            dt_pack(&tt, &unit, 1, model + toff, packed);
            dt_unpack(&ot, &unit, 1, want + ooff, packed);
            expect(buf, want, BLOCK, "get with derived types");
            if (request) {
                MT_OK(MPI_Rget(buf + ooff, 1, ot.type, target, disp, 1, tt.type, v->w.win, req));
            } else {
                MT_OK(MPI_Get(buf + ooff, 1, ot.type, target, disp, 1, tt.type, v->w.win));
            }
        }
    }
    dt_free(&ot);
    dt_free(&tt);
    dt_unit_free(&unit);
}

static void plain(struct window *v, int origin, int target, int block, bool put, bool request,
                  MPI_Request *req)
{
    bool me = v->w.rank == origin;
    int from, elems;
    piece(&from, &elems);
    size_t bytes = (size_t)elems * 8;
    MPI_Aint at = (MPI_Aint)block * BLOCK + from;
    char *model = v->t[target].model + at, *buf = draw_data(bytes, me);

    if (put) {
        memcpy(model, buf, bytes);
    }
    if (!me) {
        return;
    }
    MPI_Aint disp = mt_disp(&v->w, target, at);
    int n = (int)bytes;
    if (put && request) {
        MT_OK(MPI_Rput(buf, n, MPI_BYTE, target, disp, n, MPI_BYTE, v->w.win, req));
    } else if (put) {
        MT_OK(MPI_Put(buf, n, MPI_BYTE, target, disp, n, MPI_BYTE, v->w.win));
    } else {
        expect(buf, model, bytes, "get");
        if (request) {
            MT_OK(MPI_Rget(buf, n, MPI_BYTE, target, disp, n, MPI_BYTE, v->w.win, req));
        } else {
            MT_OK(MPI_Get(buf, elems, MPI_INT64_T, target, disp, elems, MPI_INT64_T, v->w.win));
        }
    }
}

/* Accumulates: any origin may SUM into SUMMED blocks; the owner of ORDERED ones uses all operations
 * and knows every fetched value, since they apply in program order. */
static void accumulate(struct window *v, int origin, int target, int block, bool request,
                       MPI_Request *req)
{
    MPI_Op ops[4] = {MPI_SUM, MPI_REPLACE, MPI_BXOR, MPI_NO_OP};
    bool me = v->w.rank == origin, ordered = v->t[target].role[block] == ORDERED;
    bool fetch = roll(2);
    MPI_Op op = ordered ? ops[roll(fetch ? 4 : 3)] : MPI_SUM;
    int from, elems;
    piece(&from, &elems);
    bool single = fetch && elems < 4;
    elems = single ? 1 : elems;
    size_t bytes = (size_t)elems * 8;
    MPI_Aint at = (MPI_Aint)block * BLOCK + from;
    char *model = v->t[target].model + at, *buf = draw_data(bytes, me), *result = NULL;

    if (me && fetch) {
        result = keep(bytes);
        memset(result, 0x77, bytes);
        if (ordered) {
            expect(result, model, bytes, "fetched value");
        }
    }
    apply(op, model, buf, elems);
    if (!me) {
        return;
    }
    MPI_Aint disp = mt_disp(&v->w, target, at);
    if (single && !request) {
        MT_OK(MPI_Fetch_and_op(buf, result, MPI_INT64_T, target, disp, op, v->w.win));
    } else if (fetch && request) {
        MT_OK(MPI_Rget_accumulate(buf, elems, MPI_INT64_T, result, elems, MPI_INT64_T, target, disp,
                                  elems, MPI_INT64_T, op, v->w.win, req));
    } else if (fetch) {
        MT_OK(MPI_Get_accumulate(buf, elems, MPI_INT64_T, result, elems, MPI_INT64_T, target, disp,
                                 elems, MPI_INT64_T, op, v->w.win));
    } else if (request) {
        MT_OK(MPI_Raccumulate(buf, elems, MPI_INT64_T, target, disp, elems, MPI_INT64_T, op,
                              v->w.win, req));
    } else {
        MT_OK(MPI_Accumulate(buf, elems, MPI_INT64_T, target, disp, elems, MPI_INT64_T, op,
                             v->w.win));
    }
}

/* One operation of one origin: all ranks draw it, the origin calls it. */
static void one_op(struct window *v, int origin, int target)
{
    int block = roll(BLOCKS);
    struct target *t = &v->t[target];
    bool typed_op = roll(3) == 0, request = roll(4) == 0 && v->ep >= MT_EP_LOCK;
    MPI_Request req = MPI_REQUEST_NULL;
    MPI_Status st;

    if (t->role[block] == SUMMED || (t->role[block] == ORDERED && t->owner[block] == origin)) {
        accumulate(v, origin, target, block, request, &req);
    } else if (t->role[block] == READ ||
               (t->role[block] == WRITTEN && t->owner[block] == origin && !t->used[block])) {
        bool put = t->role[block] == WRITTEN;
        t->used[block] = put;
        if (typed_op) {
            typed(v, origin, target, block, put, request, &req);
        } else {
            plain(v, origin, target, block, put, request, &req);
        }
    }
    if (req != MPI_REQUEST_NULL) {
        MT_OK(MPI_Wait(&req, &st));
    }
    if (roll(8) == 0 && v->ep >= MT_EP_LOCK) {
        int which = roll(4);
        /* What was written may be written again after a flush: both are ordered then. */
        for (int b = 0; which < 2 && b < BLOCKS; b++) {
            t->used[b] = t->used[b] && t->owner[b] != origin;
        }
        if (v->w.rank == origin) {
            MT_OK(which == 0   ? MPI_Win_flush(target, v->w.win)
                  : which == 1 ? MPI_Win_flush_all(v->w.win)
                  : which == 2 ? MPI_Win_flush_local(target, v->w.win)
                               : MPI_Win_flush_local_all(v->w.win));
        }
    }
}

/* ---- epochs ---- */

static bool may_reach(const struct window *v, int origin, int target)
{
    if (v->ep == MT_EP_PSCW) {
        return v->reach[origin][target];
    }
    return (v->ep != MT_EP_LOCK && v->ep != MT_EP_LOCK_SHARED) ||
           target == (origin + v->first) % v->w.size;
}

static void draw_round(struct window *v)
{
    v->ep = (enum mt_epoch)roll(MT_EPOCHS);
    v->first = roll(v->w.size);
    for (int o = 0; o < v->w.size; o++) {
        for (int t = 0; t < v->w.size; t++) {
            v->reach[o][t] = roll(2);
        }
    }
    for (int t = 0; t < v->w.size; t++) {
        for (int b = 0; b < BLOCKS; b++) {
            v->t[t].role[b] = (enum role)roll(ROLES);
            v->t[t].owner[b] = roll(v->w.size);
            v->t[t].used[b] = false;
        }
    }
}

static MPI_Group side(const struct window *v, bool targets)
{
    int ranks[8], n = 0;

    for (int r = 0; r < v->w.size; r++) {
        if (targets ? v->reach[v->w.rank][r] : v->reach[r][v->w.rank]) {
            ranks[n++] = r;
        }
    }
    return mt_group(&v->w, n, ranks);
}

static void open_epoch(struct window *v)
{
    const struct mt_win *w = &v->w;

    if (v->ep == MT_EP_PSCW) {
        MPI_Group to = side(v, true), from = side(v, false);
        MT_OK(MPI_Win_post(from, 0, w->win));
        MT_OK(MPI_Win_start(to, 0, w->win));
        if (to != MPI_GROUP_EMPTY) {
            MPI_Group_free(&to);
        }
        if (from != MPI_GROUP_EMPTY) {
            MPI_Group_free(&from);
        }
        return;
    }
    mt_epoch_begin(w, v->ep, (w->rank + v->first) % w->size, 0);
}

/* Two exclusive locks held in different windows at once could be taken crosswise: close at once. */
static void close_epoch(struct window *v)
{
    mt_epoch_end(&v->w, v->ep, (v->w.rank + v->first) % v->w.size);
}

static void issue(struct window *v)
{
    for (int origin = 0; origin < v->w.size; origin++) {
        int n = roll(OPS);
        for (int i = 0; i < n; i++) {
            int target = v->ep == MT_EP_LOCK || v->ep == MT_EP_LOCK_SHARED
                             ? (origin + v->first) % v->w.size
                             : roll(v->w.size);
            if (may_reach(v, origin, target)) {
                one_op(v, origin, target);
            }
        }
    }
}

static void check_round(int round)
{
    for (int i = 0; i < npending; i++) {
        if (!CHECK_EQUAL(pending[i].buf, pending[i].want, pending[i].bytes)) {
            mt_fail(__FILE__, __LINE__, "round %d: %s", round, pending[i].what);
        }
    }
    for (int i = 0; i < WINDOWS; i++) {
        if (win[i].have &&
            !CHECK_EQUAL(win[i].w.base, win[i].t[win[i].w.rank].model, BLOCKS * BLOCK)) {
            mt_fail(__FILE__, __LINE__, "round %d: window %d (%s), last epoch %s", round, i,
                    mt_kind_name(win[i].w.kind), mt_epoch_name(win[i].ep));
        }
    }
    for (int i = 0; i < ngarbage; i++) {
        free(garbage[i]);
    }
    npending = ngarbage = 0;
}

/* One round: one to three windows; their epochs overlap, except where exclusive locks could cross.
 */
static void one_round(int round)
{
    int order[WINDOWS], n = 0;
    int start = roll(WINDOWS), some = 1 + roll(3);

    for (int i = 0; i < WINDOWS && n < some; i++) {
        if (win[(start + i) % WINDOWS].have) {
            order[n++] = (start + i) % WINDOWS;
        }
    }
    bool exclusive = false;
    for (int i = 0; i < n; i++) {
        draw_round(&win[order[i]]);
        exclusive |= win[order[i]].ep == MT_EP_LOCK;
    }
    for (int i = 0; i < n; i++) {
        struct window *v = &win[order[i]];
        mt_sync(&v->w); /* all have compared the round before */
        if (exclusive) {
            open_epoch(v);
            issue(v);
            close_epoch(v);
        }
    }
    for (int i = 0; !exclusive && i < n; i++) {
        open_epoch(&win[order[i]]);
    }
    for (int pass = 0; !exclusive && pass < 2; pass++) {
        for (int i = 0; i < n; i++) {
            issue(&win[order[i]]);
        }
    }
    for (int i = 0; !exclusive && i < n; i++) {
        close_epoch(&win[order[n - 1 - i]]);
    }
    check_round(round);
}

static void make_windows(void)
{
    int first = roll(MT_KINDS);

    for (int i = 0; i < WINDOWS; i++) {
        struct window *v = &win[i];
        v->have = mt_win_make(&v->w, (enum mt_kind)((first + i) % MT_KINDS), BLOCKS * BLOCK, 1,
                              MPI_COMM_WORLD);
        if (v->have) {
            v->t = mt_alloc((size_t)v->w.size * sizeof *v->t);
            for (int t = 0; t < v->w.size; t++) {
                v->t[t].model = calloc(BLOCKS, BLOCK);
                CHECK(v->t[t].model != NULL, "no memory");
            }
        }
    }
}

static void free_windows(void)
{
    for (int i = 0; i < WINDOWS; i++) {
        if (win[i].have) {
            for (int t = 0; t < win[i].w.size; t++) {
                free(win[i].t[t].model);
            }
            free(win[i].t);
            mt_win_free(&win[i].w);
        }
    }
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 150;

    CHECK(rounds > 0, "rounds %s, expected a positive number", argc > 1 ? argv[1] : "");
    dice = mt_rng(4);
    if (CHECK(mt_size <= 8, "%d ranks, expected at most 8", mt_size)) {
        bool ok = true;
        for (int i = 0; i < rounds && ok; i++) {
            if (i % 50 == 0) {
                mt_section("windows of round %d", i);
                if (i > 0) {
                    free_windows();
                }
                make_windows();
            }
            mt_section("round %d of %d", i, rounds);
            /* A rank that saw a difference goes on: the others depend on its calls. */
            one_round(i);
            ok = mt_failures() < 1000;
        }
        free_windows();
    }
    return MT_FINISH();
}
