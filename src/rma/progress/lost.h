/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lost.h - a process of a window has died, or cannot be reached any more: all
 * others hear of it, also those that have nothing to do with it.
 *
 * Who waits may do so for a process that is well but waits itself, in the end for the
 * lost one; and it does not know all others of a large window. So who finds out reports it
 * to its partners, the ranks 2^k after its own, and to all that it has had to do with, and
 * who hears of it for the first time does the same. Everybody's long waits in the window end
 * with an error then (wait.c), and in all other windows that the two have together. What the lost
 * one has in memory that is mapped here stays, but is used no more: operations on it, and calls
 * that synchronize with it alone or with all, fail at once (hooks.h, lose).
 */
#ifndef MRMA_RMA_PROGRESS_LOST_H
#define MRMA_RMA_PROGRESS_LOST_H

struct win;
struct pkt_hdr;

/* win_lost notes that the process of rank is lost, tells the others of w, and does the same in all
 * other windows that this process and that one have together. If it is known already nothing
 * happens. Under the engine's lock; does not wait. */
void win_lost(struct win *w, int rank);

/* win_who_is_lost returns the first rank of w that was lost, as far as this process has heard, also
 * by what a peer of the node has just stored for it; -1: none. Under the engine's lock. */
int win_who_is_lost(struct win *w);

/* win_lost_error is for calls that synchronize with all processes of w: it returns
 * MRMA_ERR_PROC_FAILED, with a message, if one is lost, as far as this process knows, else
 * MRMA_SUCCESS. With or without the engine's lock. */
int win_lost_error(const struct win *w);

/* win_lost_got takes a PKT_ERROR with PKT_ERROR_LOST, the news from a peer that a process of w is
 * lost. Under the engine's lock. */
void win_lost_got(struct win *w, const struct pkt_hdr *hdr);

#endif
