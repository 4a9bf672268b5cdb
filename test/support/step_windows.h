/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * step_windows.h - the windows of three processes, all driven by one thread, for the tests that go
 * through a locking protocol step by step.
 */
#ifndef MRMA_TEST_STEP_WINDOWS_H
#define MRMA_TEST_STEP_WINDOWS_H

#include "base_helper.h"
#include "../sim/fabric.h"
#include "rma/path/path.h"
#include "rma/win/target_lock.h"
#include "rma/win/lockword.h"
#include "rma/win/win.h"

enum { STEP_PROCS = 3 };

struct steps {
    struct fabric *f;
    struct win *w[STEP_PROCS];
};

/* Give the lock of a memory peer back. */
static inline void give_lock(struct win *w, int target, bool exclusive)
{
    struct rma_target *t = win_peek(w, target);
    lockword_release(&t->ctl->lock, exclusive);
    lock_notify(t);
}

/* Bodies of fabric_run: a window in p->user. No call is one of those that look at the clock, which
 * go the general way. */
static inline void make_window(struct fabric_proc *p, void *arg)
{
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 64, 1);
    (void)arg;
    w->look_pace.left = INT32_MAX;
    p->user = w;
}

static inline void drop_window(struct fabric_proc *p, void *arg)
{
    (void)arg;
    fabric_win_free(p->user);
}

static inline void steps_begin(struct steps *s, struct fabric_opts opts)
{
    opts.nproc = STEP_PROCS;
    opts.quiet = true;
    s->f = fabric_new(&opts);
    fabric_run(s->f, make_window, NULL);
    for (int i = 0; i < STEP_PROCS; i++)
        s->w[i] = s->f->procs[i].user;
}

static inline void steps_end(struct steps *s)
{
    fabric_run(s->f, drop_window, NULL);
    fabric_free(s->f);
}

static inline int steps_setup(void **state)
{
    struct steps *s = calloc(1, sizeof *s);
    steps_begin(s, (struct fabric_opts){.nproc = STEP_PROCS});
    *state = s;
    return 0;
}

static inline int steps_teardown(void **state)
{
    steps_end(*state);
    free(*state);
    return 0;
}

#define STEP_TEST(name) cmocka_unit_test_setup_teardown(name, steps_setup, steps_teardown)

#endif
