/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program_oracle.c - the sequential oracle: what operations do to plain arrays, and
 * which may stand side by side in an epoch.
 */
#include <stdlib.h>
#include <string.h>

#include "program_core.h"

enum { UNUSED, PUT, GOT, ACCUMULATED };

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

size_t prog_below(struct prog *p, size_t n)
{
    p->random += UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mix(p->random) % n);
}

int64_t prog_datum(uint64_t value, size_t i)
{
    return (int64_t)(mix(value + i) >> 8);
}

static int64_t apply(enum acc_op op, int64_t old, int64_t data)
{
    switch (op) {
    case ACC_SUM:
        return (int64_t)((uint64_t)old + (uint64_t)data);
    case ACC_PROD:
        return (int64_t)((uint64_t)old * (uint64_t)data);
    case ACC_MAX:
        return old > data ? old : data;
    case ACC_BXOR:
        return old ^ data;
    case ACC_REPLACE:
        return data;
    default:
        return old;
    }
}

void prog_compute(struct prog *p, struct prog_op *o)
{
    int64_t *model = p->wins[o->win].model[o->target];
    o->expected = malloc((o->n + 1) * sizeof *o->expected);
    PROG_CHECK(o->expected);
    for (size_t i = 0; i < o->n; i++) {
        int64_t *cell = &model[o->first + i * o->step];
        o->expected[i] = *cell;
        if (o->kind == OP_PUT)
            *cell = prog_datum(o->value, i);
        else if (o->kind == OP_CAS)
            *cell = *cell == o->compare ? prog_datum(o->value, i) : *cell;
        else if (o->kind == OP_COUNTER)
            *cell += 1;
        else if (o->kind != OP_GET)
            *cell = apply(o->acc, *cell, prog_datum(o->value, i));
    }
}

static unsigned char *lane_use(struct prog *p, int origin, int win, int target)
{
    const size_t pair =
        ((size_t)origin * PROG_WINS + (size_t)win) * (size_t)p->nproc + (size_t)target;
    return &p->use[pair * p->opts.lane];
}

bool prog_claim(struct prog *p, const struct prog_op *o)
{
    const unsigned char wanted = o->kind == OP_PUT ? PUT : o->kind == OP_GET ? GOT : ACCUMULATED;
    unsigned char *use = lane_use(p, o->origin, o->win, o->target);
    const size_t first = o->first - (size_t)o->origin * p->opts.lane;
    for (size_t i = 0; i < o->n; i++) {
        const unsigned char now = use[first + i * o->step];
        if (now != UNUSED && (wanted == PUT || now != wanted))
            return false;
    }
    for (size_t i = 0; i < o->n; i++)
        use[first + i * o->step] = wanted;
    return true;
}

void prog_forget(struct prog *p, int origin, int win, int target)
{
    memset(lane_use(p, origin, win, target), UNUSED, p->opts.lane);
}

void prog_forget_all(struct prog *p)
{
    memset(p->use, UNUSED, (size_t)p->nproc * PROG_WINS * (size_t)p->nproc * p->opts.lane);
}
