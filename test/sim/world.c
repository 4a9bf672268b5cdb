/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world.c - see world.h.
 */
#include "world.h"

struct runner {
    struct prog_world *world;
    void (*body)(struct prog_actor *a, void *arg);
    void *arg;
};

static void run_one(struct sim_proc *p, void *arg)
{
    struct runner *r = arg;
    r->body(&r->world->actors[p->rank], r->arg);
}

static void world_run(struct prog_world *w, void (*body)(struct prog_actor *a, void *arg),
                      void *arg)
{
    struct runner r = {w, body, arg};
    const uint64_t start = sim_now(w->driver);
    sim_run(w->driver, run_one, &r);
    SIM_CHECK(!w->bound_ns || sim_now(w->driver) - start < w->bound_ns);
}

/* One process, seldom two, dies in the middle of things or soon after. */
static void world_doom(struct prog_world *w)
{
    struct sim *s = w->driver;
    const int n = sim_below(s, 4) ? 1 : 2;
    for (int i = 0; i < n; i++)
        sim_kill_at(s, (int)sim_below(s, (uint64_t)w->nproc),
                    sim_now(s) + sim_below(s, sim_below(s, 2) ? 300000 : 5000000));
}

static void world_pause(struct prog_actor *a, unsigned n)
{
    struct sim_proc *p = a->proc;
    sim_compute(p, sim_below(p->sim, 1000 * (uint64_t)n));
}

static void world_bury(struct prog_world *w)
{
    sim_bury(w->driver);
}

static void world_yield(struct prog_actor *a)
{
    sim_yield(a->proc);
}
static void world_rest(struct prog_actor *a)
{
    sim_rest(a->proc);
}

void world_make(struct prog_world *w, struct sim *s)
{
    *w = (struct prog_world){.nproc = sim_nproc(s),
                             .run = world_run,
                             .pause = world_pause,
                             .yield = world_yield,
                             .rest = world_rest,
                             .doom = world_doom,
                             .bury = world_bury,
                             .driver = s};
    for (int i = 0; i < w->nproc; i++) {
        struct sim_proc *p = sim_proc(s, i);
        w->actors[i] =
            (struct prog_actor){.rank = i, .rma = &p->rma, .boot = &p->boot, .world = w, .proc = p};
    }
}

uint64_t world_mixed(uint64_t *state, uint64_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % n;
}

struct sim_opts world_machine(uint64_t seed, uint64_t *state, bool deaths)
{
    static const size_t rooms[] = {CH3_PACKET_MAX, 2 * CH3_PACKET_MAX + 64, 0, 1 << 20};
    struct sim_opts o = {.seed = seed, .quiet = deaths, .digests = seed / 2 % 2 != 0};
    if (seed % 2) /* numbers come round soon after the window is made */
        o.first_number = UINT32_MAX - (uint32_t)(seed / 2 % 12);
    o.nproc = 2 + (int)world_mixed(state, PROG_PROCS - 1);
    o.per_node = (int)world_mixed(state, 4); /* 0: one node */
    o.path = world_mixed(state, 3) ? CONF_PATH_AUTO : CONF_PATH_SHM_PACKETS;
    o.progress = world_mixed(state, 3) || deaths ? CONF_PROGRESS_AUTO : CONF_PROGRESS_POLL;
    o.fence = (enum conf_fence)world_mixed(state, 3);
    o.cpus = world_mixed(state, 2) ? 1 : 64;
    o.no_assist = !world_mixed(state, 4);
    o.refuse_percent = world_mixed(state, 2) ? 0 : (unsigned)world_mixed(state, 60);
    o.delay_percent = world_mixed(state, 2) ? 0 : (unsigned)world_mixed(state, 60);
    o.stall_permille = world_mixed(state, 3) ? 0 : (unsigned)world_mixed(state, 50);
    o.room = rooms[world_mixed(state, 4)];
    return o;
}
