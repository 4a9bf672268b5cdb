/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random_ops.c - see random_ops.h.
 */
#include "random_ops.h"

static const char *const names[] = {[PUT] = "MPI_Put",
                                    [GET] = "MPI_Get",
                                    [ACC] = "MPI_Accumulate",
                                    [GET_ACC] = "MPI_Get_accumulate",
                                    [FETCH] = "MPI_Fetch_and_op",
                                    [CAS] = "MPI_Compare_and_swap",
                                    [RPUT] = "MPI_Rput",
                                    [RGET] = "MPI_Rget",
                                    [RACC] = "MPI_Raccumulate",
                                    [RGET_ACC] = "MPI_Rget_accumulate"};
enum { ELEMENT = sizeof(int), BUFFER = SLOT };
static const MPI_Aint HUGE_EXTENT = (MPI_Aint)1 << 40;

static int below(struct mt_rng *rng, int n)
{
    return (int)mt_rng_below(rng, (uint64_t)n);
}

static bool accumulates(const struct call *c)
{
    return c->kind == ACC || c->kind == GET_ACC || c->kind == RACC || c->kind == RGET_ACC ||
           c->kind == FETCH;
}

static bool fetches(const struct call *c)
{
    return c->kind == GET || c->kind == RGET || c->kind == GET_ACC || c->kind == RGET_ACC ||
           c->kind == FETCH || c->kind == CAS;
}

static bool only_reads(const struct call *c)
{
    return c->kind == GET || c->kind == RGET || c->op == MPI_NO_OP;
}

static bool has_counts(const struct call *c)
{
    return c->kind != FETCH && c->kind != CAS;
}

/* ---- the target side ---- */

static MPI_Datatype keep(struct call *c, MPI_Datatype type)
{
    MPI_Type_commit(&type);
    c->made[c->nmade++] = type;
    return type;
}

static void add_piece(struct call *c, int at, int len)
{
    c->piece[c->npieces++] = (struct piece){at, len};
    c->len += len;
}

/* Blocks of len bytes, so many apart (also backwards), of which the first is at byte at of the
 * slot. */
static void blocks(struct call *c, int n, int len, int apart, int at)
{
    MPI_Datatype type;
    MPI_Type_create_hvector(n, len / ELEMENT, apart, MPI_INT, &type);
    c->ttype = keep(c, type);
    c->tcount = 1;
    for (int i = 0; i < n; i++)
        add_piece(c, at + i * apart, len);
}

static void huge(struct call *c, int len, int at)
{
    MPI_Datatype row, type;
    MPI_Type_contiguous(len / ELEMENT, MPI_INT, &row);
    MPI_Type_create_resized(row, -8, HUGE_EXTENT, &type);
    MPI_Type_free(&row);
    c->ttype = keep(c, type);
    c->tcount = 1;
    add_piece(c, at, len);
}

static void indexed(struct call *c, int len, int at)
{
    const int n = len / ELEMENT, lengths[] = {n, 0, n}, places[] = {2 * n, 7, 0};
    MPI_Datatype type;
    MPI_Type_indexed(3, lengths, places, MPI_INT, &type);
    c->ttype = keep(c, type);
    c->tcount = 1;
    add_piece(c, at + 2 * len, len);
    add_piece(c, at, len);
}

static void row(struct call *c, int len, int at)
{
    c->ttype = MPI_INT;
    c->tcount = len / ELEMENT;
    add_piece(c, at, len);
}

/* The place of displacement 0 of the target side, in the slot; what lies there is in c->piece. */
static int choose_side(struct call *c, struct mt_rng *rng)
{
    const int len = ELEMENT * (1 + below(rng, 6)), apart = len + ELEMENT * below(rng, 4);
    const int at = ELEMENT * below(rng, (SLOT - 4 * (len + 16)) / ELEMENT);
    switch (has_counts(c) ? below(rng, 6) : 5) {
    case 0:
        blocks(c, 4, len, apart, at);
        return at;
    case 1:
        blocks(c, 4, len, -apart, at + 3 * apart);
        return at + 3 * apart;
    case 2:
        huge(c, len, at);
        return at;
    case 3:
        indexed(c, len, at);
        return at;
    case 4:
        row(c, len, at);
        return at;
    default:
        row(c, ELEMENT, at);
        return at;
    }
}

static bool is_busy(const struct call *c, const struct model *m)
{
    for (int i = 0; i < c->npieces; i++)
        for (int k = 0; k < c->piece[i].len; k++)
            if (m->busy[c->target][c->piece[i].at + k])
                return true;
    return false;
}

static MPI_Aint disp_of(const struct call *c, const struct model *m, MPI_Aint offset)
{
    return m->w.kind == MT_DYNAMIC ? MPI_Aint_add(m->w.addr[c->target], offset) : offset;
}

static void drop_types(struct call *c)
{
    while (c->nmade)
        MPI_Type_free(&c->made[--c->nmade]);
}

static void no_effect(struct call *c)
{
    drop_types(c);
    c->ttype = c->otype = MPI_INT;
    c->tcount = c->ocount = 0;
    c->npieces = c->len = 0;
}

void random_call(struct call *c, struct mt_rng *rng, const struct model *m, int target)
{
    static const MPI_Op *ops;
    static MPI_Op all_ops[3];
    if (!ops) {
        all_ops[0] = MPI_SUM;
        all_ops[1] = MPI_REPLACE;
        all_ops[2] = MPI_NO_OP;
        ops = all_ops;
    }
    memset(c, 0, sizeof *c);
    c->kind = (enum call_kind)below(rng, CALL_KINDS);
    c->what = names[c->kind];
    c->is_request = c->kind >= RPUT;
    c->target = target;
    c->op = accumulates(c) ? ops[below(rng, fetches(c) ? 3 : 2)] : MPI_OP_NULL;
    c->expected = MPI_SUCCESS;
    int at = 0;
    for (int tries = 0; tries < 4; tries++) {
        drop_types(c);
        c->npieces = c->len = 0;
        at = choose_side(c, rng);
        if (m->ngets[target] < GETS && !is_busy(c, m))
            break;
        if (tries == 3 && has_counts(c))
            no_effect(c);
        else if (tries == 3)
            c->npieces = -1; /* the caller leaves it out */
    }
    c->disp = disp_of(c, m, (MPI_Aint)SLOT * mt_rank + at);
    c->otype = MPI_INT;
    c->ocount = c->len / ELEMENT;
    c->origin = malloc(BUFFER);
    c->result = malloc(BUFFER);
    for (int i = 0; i < BUFFER; i++)
        c->origin[i] = (unsigned char)below(rng, 256);
    memset(c->result, 0xee, BUFFER);
    if (c->kind == CAS && c->npieces == 1 && below(rng, 2)) /* compare with what is there */
        memcpy(c->origin + ELEMENT, &m->now[target][c->piece[0].at], ELEMENT);
}

/* ---- wrong in one way ---- */

static void out_of_range(struct call *c, struct mt_rng *rng, const struct model *m)
{
    const MPI_Aint all = (MPI_Aint)SLOT * mt_size;
    const int how = has_counts(c) ? below(rng, 3) : 0;
    drop_types(c);
    c->npieces = c->len = 0;
    if (how == 0) {
        row(c, ELEMENT, 0);
        c->disp = disp_of(c, m, all - 1 - below(rng, ELEMENT - 1));
    } else if (how == 1) {
        huge(c, ELEMENT, 0);
        c->tcount = 2;
        c->len = 2 * ELEMENT;
        c->disp = disp_of(c, m, SLOT);
    } else {
        blocks(c, 4, ELEMENT, -2 * ELEMENT, 0);
        c->disp = disp_of(c, m, 5 * ELEMENT);
    }
    c->ocount = c->len / ELEMENT;
    c->npieces = 0;
    c->expected = MPI_ERR_RMA_RANGE;
    c->late = m->w.kind == MT_DYNAMIC;
}

static void wrong_type(struct call *c, struct mt_rng *rng)
{
    drop_types(c);
    c->ttype = MPI_DATATYPE_NULL;
    if (has_counts(c) && below(rng, 2)) {
        MPI_Type_contiguous(3, MPI_INT, &c->ttype); /* not committed */
        c->made[c->nmade++] = c->ttype;
    }
    c->expected = MPI_ERR_TYPE;
}

void spoil_call(struct call *c, struct mt_rng *rng, const struct model *m)
{
    switch (below(rng, 8)) {
    case 0:
        c->target = below(rng, 2) ? mt_size : -7;
        c->expected = MPI_ERR_RANK;
        break;
    case 1:
        if (!has_counts(c))
            return;
        *(below(rng, 2) ? &c->ocount : &c->tcount) = -1;
        c->expected = MPI_ERR_COUNT;
        break;
    case 2:
        wrong_type(c, rng);
        break;
    case 3:
        if (m->w.kind == MT_DYNAMIC)
            return;
        c->disp = -1;
        c->expected = MPI_ERR_DISP;
        break;
    case 4:
    case 5:
        out_of_range(c, rng, m);
        break;
    case 6:
        if (!accumulates(c) || !c->len)
            return;
        c->op = below(rng, 2) ? MPI_OP_NULL : MPI_MAXLOC;
        c->expected = MPI_ERR_OP;
        break;
    default:
        c->target = MPI_PROC_NULL;
    }
    c->npieces = 0;
}

/* ---- the call ---- */

int make_call(struct call *c, struct model *m, MPI_Request *req)
{
    const MPI_Win win = m->w.win;
    switch (c->kind) {
    case PUT:
        return MPI_Put(c->origin, c->ocount, c->otype, c->target, c->disp, c->tcount, c->ttype,
                       win);
    case GET:
        return MPI_Get(c->result, c->ocount, c->otype, c->target, c->disp, c->tcount, c->ttype,
                       win);
    case ACC:
        return MPI_Accumulate(c->origin, c->ocount, c->otype, c->target, c->disp, c->tcount,
                              c->ttype, c->op, win);
    case GET_ACC:
        return MPI_Get_accumulate(c->origin, c->ocount, c->otype, c->result, c->ocount, c->otype,
                                  c->target, c->disp, c->tcount, c->ttype, c->op, win);
    case FETCH:
        return MPI_Fetch_and_op(c->origin, c->result, c->ttype, c->target, c->disp, c->op, win);
    case CAS:
        return MPI_Compare_and_swap(c->origin, c->origin + ELEMENT, c->result, c->ttype, c->target,
                                    c->disp, win);
    case RPUT:
        return MPI_Rput(c->origin, c->ocount, c->otype, c->target, c->disp, c->tcount, c->ttype,
                        win, req);
    case RGET:
        return MPI_Rget(c->result, c->ocount, c->otype, c->target, c->disp, c->tcount, c->ttype,
                        win, req);
    case RACC:
        return MPI_Raccumulate(c->origin, c->ocount, c->otype, c->target, c->disp, c->tcount,
                               c->ttype, c->op, win, req);
    default:
        return MPI_Rget_accumulate(c->origin, c->ocount, c->otype, c->result, c->ocount, c->otype,
                                   c->target, c->disp, c->tcount, c->ttype, c->op, win, req);
    }
}

/* What the operation leaves in an element of the target. */
static int combined(const struct call *c, int there, int origin, int compare)
{
    if (c->kind == CAS)
        return there == compare ? origin : there;
    if (c->op == MPI_SUM)
        return (int)((unsigned)there + (unsigned)origin);
    return origin;
}

void note_call(struct call *c, struct model *m)
{
    if (c->npieces <= 0)
        return;
    unsigned char *now = m->now[c->target];
    struct get *g = &m->gets[c->target][m->ngets[c->target]++];
    *g = (struct get){.result = c->result, .expected = malloc(BUFFER), .origin = c->origin};
    c->result = c->origin = NULL; /* until check_gets */
    for (int i = 0, at = 0; i < c->npieces; i++)
        for (int k = 0; k < c->piece[i].len; k += ELEMENT, at += ELEMENT) {
            unsigned char *place = now + c->piece[i].at + k;
            int there, origin, compare, after;
            memcpy(&there, place, ELEMENT);
            memcpy(&origin, g->origin + at, ELEMENT);
            memcpy(&compare, g->origin + at + ELEMENT, ELEMENT);
            memcpy(g->expected + at, &there, ELEMENT);
            after = only_reads(c) ? there : combined(c, there, origin, compare);
            memcpy(place, &after, ELEMENT);
            for (int b = 0; b < ELEMENT; b++)
                m->busy[c->target][c->piece[i].at + k + b] = true;
        }
    g->len = fetches(c) ? (size_t)c->len : 0;
    g->what = c->what;
}

void free_call(struct call *c)
{
    drop_types(c);
    free(c->origin);
    free(c->result);
}

void check_gets(struct model *m, int target)
{
    for (int i = 0; i < m->ngets[target]; i++) {
        struct get *g = &m->gets[target][i];
        CHECK(memcmp(g->result, g->expected, g->len) == 0,
              "%s of rank %d's memory fetched something else", g->what, target);
        free(g->result);
        free(g->expected);
        free(g->origin);
    }
    m->ngets[target] = 0;
    memset(m->busy[target], 0, sizeof m->busy[target]);
}
