/*
 * stage.h - small puts that the target copies to their place: of PSCW epochs, which
 * need not wait for the target's post, and of fence phases to kernel-assisted targets,
 * which need no system call.
 *
 * Speculative exposure between processes that share memory (doc/design.md): an origin
 * that has not seen the post of the target writes a small contiguous put, with its
 * place in the window, into a line of the target's control block; the complete that
 * follows is a field of the same line, and the target copies the put to its place in
 * MPI_Win_wait. So a small epoch costs one one-way signal, as a message does, and an
 * origin may have ended STAGE_DEPTH - 1 epochs that its target has not looked at.
 *
 * Epoch number n of a pair (counted alike on both sides, rma_target.starts and
 * .exposures) uses stage n mod STAGE_DEPTH, fence phase p the phase stage p mod STAGE_DEPTH. All
 * functions are called by application threads in the calls of those epochs; nothing here waits.
 */
#ifndef MRMA_RMA_PATH_STAGE_H
#define MRMA_RMA_PATH_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct win;
struct rma_target;
struct rma_op;

/* Put op into a direct target's stage of the present access epoch of MPI_Win_start. False: there is
 * no such epoch, or op must go the usual way (which also finds what is wrong with it). */
bool stage_put_epoch(struct win *w, struct rma_target *t, const struct rma_op *op);
/* The same for a kernel-assisted target's stage of the present fence phase. */
bool stage_put_phase(struct win *w, struct rma_target *t, const struct rma_op *op);

/* May the stage of the present access epoch to t be written, and so the epoch be
 * completed? Without MPI_MODE_NOCHECK only if t is not too many epochs behind. */
bool stage_free(struct rma_target *t);

/* The present access epoch to t is complete: release what was staged. */
void stage_complete(struct rma_target *t);

/* Target: has t completed its access epoch to the present exposure (packet peers too)?
 * And then, once, of a direct peer: copy what it staged into the window. */
bool stage_completed(const struct rma_target *t);
void stage_apply(struct win *w, struct rma_target *t);

/* Target, behind the barrier that ends the phase: copy what direct peers have staged in it. */
void stage_phase_apply(struct win *w);

#endif
