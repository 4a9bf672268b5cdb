/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lost.h - tells all processes of a window that one of them has died or cannot be reached any more,
 * also those that have nothing to do with it.
 *
 * A process may wait for another that is well but waits itself, in the end for the lost one; and in
 * a large window it does not know all others. So a process that finds out about a loss reports it
 * to its partners, the ranks 2^k after its own, and to all processes with which it has had to do;
 * each process that hears of the loss for the first time does the same. Then the long waits of all
 * processes in the window end with an error (wait.c), and so do their waits in all other windows
 * that they have together with the lost process. Memory of the lost process that is mapped here
 * stays mapped, but is not used any more: operations on it, and calls that synchronize with it
 * alone or with all, fail at once (hooks.h, lose).
 */
#ifndef MRMA_RMA_PROGRESS_LOST_H
#define MRMA_RMA_PROGRESS_LOST_H

struct win;
struct pkt_hdr;

/* win_lost notes that the process of rank is lost, tells the others of w, and does the same in all
 * other windows that this process and the lost one have together. If the loss is known already it
 * does nothing. Under the engine's lock; does not wait. */
void win_lost(struct win *w, int rank);

/* win_who_is_lost returns the first rank of w that was lost, as far as this process has heard; it
 * also looks at what a peer of the node may just have stored for it. -1: none. Under the engine's
 * lock. */
int win_who_is_lost(struct win *w);

/* win_lost_error is for calls that synchronize with all processes of w: it returns
 * MRMA_ERR_PROC_FAILED, with a message, if one is lost, as far as this process knows, else
 * MRMA_SUCCESS. With or without the engine's lock. */
int win_lost_error(const struct win *w);

/* win_lost_got takes a PKT_ERROR with PKT_ERROR_LOST, the news from a peer that a process of w is
 * lost. Under the engine's lock. */
void win_lost_got(struct win *w, const struct pkt_hdr *hdr);

#endif
