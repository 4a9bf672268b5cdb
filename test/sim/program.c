/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program.c - see program.h: windows, groups, end.
 */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "program_core.h"
#include "rma/win/win.h"

void prog_fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: check failed: %s\n", file, line, what);
    abort();
}

static void choose_windows(struct prog *p)
{
    static const uint32_t units[] = {1, 8, 4};
    p->nwins = prog_below(p, 3) ? 1 : 1 + (int)prog_below(p, PROG_WINS);
    p->cells = (size_t)p->nproc * p->opts.lane + PROG_SHARED;
    for (int w = 0; w < p->nwins; w++) {
        struct prog_window *pw = &p->wins[w];
        static const enum win_flavor flavors[] = {WIN_CREATE, WIN_ALLOCATE, WIN_ALLOCATE_SHARED};
        pw->flavor = flavors[prog_below(p, p->opts.shared ? 3 : 2)];
        pw->disp_unit = units[prog_below(p, 3)];
        const bool weak = !prog_below(p, 3);
        pw->notified = prog_datum(p->opts.seed, (size_t)w) % 3 == 0;
        for (int i = 0; i < p->nproc; i++) {
            pw->empty[i] = !prog_below(p, 12);
            pw->weak[i] = weak && prog_below(p, 3);
            pw->model[i] = calloc(p->cells, 8);
            PROG_CHECK(pw->model[i]);
        }
    }
}

static void create(struct prog_actor *a, void *arg)
{
    struct prog *p = arg;
    for (int w = 0; w < p->nwins; w++) {
        struct prog_window *pw = &p->wins[w];
        const size_t bytes = pw->empty[a->rank] ? 0 : p->cells * 8;
        if (pw->flavor == WIN_CREATE)
            pw->memory[a->rank] = calloc(1, bytes + 8);
        struct win_spec spec = {.flavor = pw->flavor,
                                .base = pw->memory[a->rank],
                                .size = bytes,
                                .disp_unit = pw->disp_unit,
                                .hints = win_hints_default(),
                                .boot = a->boot};
        spec.hints.weak_unlock = pw->weak[a->rank];
        spec.hints.notifications = pw->notified ? PROG_NUMBERS : 0;
        PROG_CHECK(win_create(a->rma, &spec, &pw->win[a->rank]) == MRMA_SUCCESS);
        pw->memory[a->rank] = *win_base_attr(pw->win[a->rank]);
    }
    a->world->rest(a);
}

/* With the dead, windows come to no orderly end: the call says so, and what they had is given back
 * all the same, while others may still be in a call on them. */
static void end_windows(struct prog_actor *a, void *arg)
{
    struct prog *p = arg;
    for (int w = 0; w < p->nwins; w++) {
        struct prog_window *pw = &p->wins[w];
        const int err = win_free_begin(pw->win[a->rank]);
        PROG_CHECK(!err || (p->opts.mortal && err == MRMA_ERR_PROC_FAILED));
        win_free_end(pw->win[a->rank]);
    }
    if (!p->opts.mortal)
        PROG_CHECK(a->rma->stats.refused + a->rma->ch3->stats.bad == 0);
}

static void free_memory(struct prog *p)
{
    for (int w = 0; w < p->nwins; w++)
        for (int i = 0; i < p->nproc; i++) {
            free(p->wins[w].model[i]);
            if (p->wins[w].flavor == WIN_CREATE)
                free(p->wins[w].memory[i]);
        }
    free(p->use);
    for (int i = 0; i < p->nproc; i++)
        for (int k = 0; k < PROG_TYPES; k++)
            if (p->known[i][k].type)
                dtype_unref(p->known[i][k].type);
    free(p->ops);
    free(p);
}

void prog_execute(struct prog_world *world, const struct prog_opts *opts, struct prog_stats *stats)
{
    struct prog *p = calloc(1, sizeof *p);
    PROG_CHECK(p && world->nproc <= PROG_PROCS);
    *p = (struct prog){
        .world = world, .opts = *opts, .stats = stats, .random = opts->seed, .nproc = world->nproc};
    world->prog = p;
    p->use = malloc((size_t)p->nproc * PROG_WINS * (size_t)p->nproc * opts->lane);
    p->ops = malloc(PROG_MAX_OPS * sizeof *p->ops);
    PROG_CHECK(p->use && p->ops);
    choose_windows(p);
    world->run(world, create, p);
    /* Where processes die, what they had under way refers to the operations until the end. */
    const int groups = opts->mortal ? 1 : opts->groups;
    if (opts->mortal)
        world->doom(world);
    for (int g = 0; g < groups; g++) {
        prog_plan(p);
        world->run(world, prog_run_group, p);
        if (!opts->mortal)
            prog_plan_free(p);
    }
    world->run(world, end_windows, p);
    if (opts->mortal) {
        world->bury(world);
        prog_plan_free(p);
    }
    free_memory(p);
    world->prog = NULL;
}
