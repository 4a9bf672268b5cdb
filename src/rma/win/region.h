/*
 * region.h - attached memory of dynamic windows (MPI 4.1, 12.2.4).
 *
 * The owner keeps its regions, sorted and disjoint, behind its control block;
 * node peers keep a copy and take a new one when the version has moved.
 */
#ifndef MRMA_RMA_WIN_REGION_H
#define MRMA_RMA_WIN_REGION_H

#include <stdbool.h>
#include <stdint.h>

struct win;
struct rma_target;

/* Is [addr, addr+len) attached at this process / at target t (direct)? */
bool region_covers_own(struct win *w, uint64_t addr, uint64_t len);
bool region_covers(struct win *w, struct rma_target *t, uint64_t addr, uint64_t len);
void region_free(struct rma_target *t);
/* All that is attached at this process. Under the engine's lock, like changes. */
void region_each(struct win *w, void (*fn)(void *arg, uint64_t addr, uint64_t len), void *arg);
/* At the window's end. */
void region_drop_all(struct win *w);

#endif
