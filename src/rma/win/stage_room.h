/*
 * stage_room.h - where the stages of a control block are, and how large.
 *
 * Behind the slots, for each slot STAGE_DEPTH stages for PSCW epochs and as many for fence
 * phases. The owner of the block chooses their size before others know of it. A put of a PSCW epoch
 * that has no room waits for the post, so where there are few processes there is room for two of
 * 256 bytes. Where others need the kernel to reach the owner's memory, the puts of fence phases
 * have stages, too, and there is room for four of 1 KiB. On a node of many processes the stages
 * shrink, so that a block stays small.
 */
#ifndef MRMA_RMA_WIN_STAGE_ROOM_H
#define MRMA_RMA_WIN_STAGE_ROOM_H

#include <stdbool.h>
#include <stddef.h>

#include "rma/win/win.h"

enum { STAGE_LINES_MIN = 3, STAGE_LINES_MAPPED = 9, STAGE_LINES_ASSISTED = 65 };

/* How others reach the owner's memory. */
enum stage_use { STAGE_MAPPED, STAGE_ASSISTED };

/* Bytes of a control block with so many slots and its stages. */
size_t stage_room_ctl_bytes(int nslots, enum stage_use use);

/* Clear a new block's slots and stages, and fix the sizes of these. Not the fields before the
 * slots. */
void stage_room_init(struct win_ctl *ctl, int nslots, enum stage_use use);

/* The stages of slot i; nslots as above. */
struct stage_row stage_room_epochs(struct win_ctl *ctl, int nslots, int i);
struct stage_row stage_room_phases(struct win_ctl *ctl, int nslots, int i);

#endif
