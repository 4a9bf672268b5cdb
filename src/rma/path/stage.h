/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stage.h - small puts that the target copies to their place. Puts of PSCW epochs go into stages so
 * that they need not wait for the target's post (speculative exposure); puts of fence phases to
 * kernel-assisted targets do so to need no system call.
 *
 * The origin writes a small contiguous put, with its place in the window, into lines of the
 * target's control block; the end of the epoch is a field of the same lines, and the target copies
 * the put in MPI_Win_wait. So a small epoch costs one one-way signal, as a message does, and an
 * origin may have ended STAGE_DEPTH - 1 epochs that its target has not looked at.
 *
 * Epoch number n of a pair (counted alike on both sides, rma_target.starts and .exposures) uses
 * stage n mod STAGE_DEPTH, fence phase p the phase stage p mod STAGE_DEPTH. All functions are
 * called by application threads in the calls of those epochs; nothing here waits.
 */
#ifndef MRMA_RMA_PATH_STAGE_H
#define MRMA_RMA_PATH_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conf;
struct win;
struct win_ctl;
struct rma_target;
struct rma_op;

/* Behind the slots of a control block there are, for each slot, STAGE_DEPTH stages for PSCW epochs
 * and as many for fence phases. The owner of the block chooses their size before others know of it.
 * A put of a PSCW epoch for which there is no room is deferred (deferred.h), so a stage has room
 * for conf.tune.stage bytes of small puts. Where others need the kernel to reach the owner's
 * memory, the puts of fence phases have stages, too, with room for conf.tune.assisted_stage bytes.
 * On a node of many processes the stages shrink, down to STAGE_LINES_MIN lines, so that a block
 * stays small. */
enum { STAGE_DEPTH = 4, STAGE_LINES_MIN = 3 };

/* How others reach the owner's memory. */
enum stage_use { STAGE_MAPPED, STAGE_ASSISTED };

/* stage_ctl_bytes returns how many bytes a control block with so many slots and its stages takes.
 */
size_t stage_ctl_bytes(const struct conf *conf, int nslots, enum stage_use use);

/* stage_init clears the slots and stages of a new block of stage_ctl_bytes for the same arguments,
 * and fixes the sizes of the stages; their numbers begin at first. It does not touch the fields
 * before the slots. Before anybody else sees the block. */
void stage_init(struct win_ctl *ctl, const struct conf *conf, int nslots, enum stage_use use,
                uint32_t first);

/* stage_attach finds the stages of a memory peer, whose control block t->ctl is, and those for it
 * in own, this process's: this process has slot me there, the target slot its here. */
void stage_attach(struct rma_target *t, struct win_ctl *own, int nslots, int me, int its);

/* stage_put puts op into the stage of the present access epoch of MPI_Win_start to t or, if t is
 * kernel-assisted, into that of the present fence phase. False: there is no such epoch, or op must
 * go the usual way (which also finds errors in it), and nothing was done. */
bool stage_put(struct win *w, struct rma_target *t, const struct rma_op *op);

/* stage_seek_room returns whether the stage of the present access epoch to t may be written, so
 * that the epoch can be completed. Without MPI_MODE_NOCHECK this is so only if t is not too many
 * epochs behind. It reads how many posts have come if all stages seem to be in use. */
bool stage_seek_room(struct rma_target *t);

/* stage_complete tells t, a memory peer, that the present access epoch to it is complete, and so
 * releases what was staged. */
void stage_complete(struct rma_target *t);

/* stage_completed returns, at the target, whether t has completed its access epoch to the present
 * exposure. With or without the engine's lock. */
bool stage_completed(const struct rma_target *t);

/* stage_apply copies what t has staged in its access epoch to the present exposure into the window,
 * after stage_completed and once. A put outside of the window is refused, with a message. */
void stage_apply(struct win *w, struct rma_target *t);

/* stage_phase_apply copies what memory peers have staged in the ending fence phase into the window,
 * at the target, behind the barrier that ends the phase. */
void stage_phase_apply(struct win *w);

#endif
