/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fence_counts.h - MPI_Win_fence among many packet peers: a reduce-scatter of how
 * many bytes everybody has to expect, instead of a marker to everybody (the idea is
 * Thakur's, Gropp's and Toonen's; here sparse and routed as Bruck routes messages).
 *
 * A window uses them or markers. The choice is made at creation, the same at all processes.
 */
#ifndef MRMA_RMA_SYNC_FENCE_COUNTS_H
#define MRMA_RMA_SYNC_FENCE_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct boot;
struct pkt_hdr;
struct rma_target;
struct win;

/* With MPIRMA_FENCE=auto: markers as long as no process has more packet peers than
 * this (doc/decisions.md says why so many). */
enum { FENCE_MARKERS_MAX = 16 };

/* fence_counts_choose chooses markers or counts for w, when it is created. Collective over the
 * window's processes, whose answers are the same; waits for them. Returns MRMA_ERR_NO_MEM at all,
 * or what the exchange returned. Without the engine's lock. */
int fence_counts_choose(struct win *w, struct boot *boot);

/* fence_counts_free frees what counts need. Nothing happens where markers were chosen. Under the
 * engine's lock. */
void fence_counts_free(struct win *w);

/* fence_counts_used returns whether counts were chosen. The functions below are called only then,
 * but fence_counts_got. With or without the engine's lock. */
bool fence_counts_used(const struct win *w);

/* fence_counts_connect makes connections to the few processes to which this one sends counts,
 * before the first counts leave; it costs little from the second time on. Returns the error with
 * which one of them cannot be reached. Takes the engine's lock; does not wait. */
int fence_counts_connect(struct win *w);

/* fence_counts_enter announces how many bytes the operations of the ending phase name, which this
 * process has sent (origin_send_phase): it asks for the sums and sends them on their way. Data that
 * do not travel in packets are not counted and must have arrived before. MRMA_ERR_NO_MEM, or what
 * sending returned; after an error the others get their part nevertheless, and learn that sums are
 * missing. Under the engine's lock; does not wait. */
int fence_counts_enter(struct win *w);

/* fence_counts_done returns whether everything of the phase has come, and this process has passed
 * on what it had to (though that may still wait to leave: origin_all_left). It is also true if
 * something cannot come any more; fence_counts_leave then returns that error. Under the engine's
 * lock. */
bool fence_counts_done(const struct win *w);

/* fence_counts_missing returns the rank whose counts are awaited, -1 if none is, for reports. Under
 * the engine's lock. */
int fence_counts_missing(const struct win *w);

/* fence_counts_expected returns, for reports, how many bytes others have announced for this process
 * in the phase so far. Under the engine's lock. */
uint64_t fence_counts_expected(const struct win *w);

/* fence_counts_leave ends the fence for the counts, also after an error of another part of it.
 * Returns what was wrong with the counts: MRMA_ERR_NO_MEM, MRMA_ERR_INTERN, or what sending
 * returned. Under the engine's lock. */
int fence_counts_leave(struct win *w);

/* fence_counts_got takes a PKT_COUNTS that has come from t, with its pairs at body, which its
 * sender may still change. Returns false if it is not due, or not well-formed, and so to be
 * refused. Under the engine's lock. */
bool fence_counts_got(struct win *w, const struct rma_target *t, const struct pkt_hdr *hdr,
                      const void *body);

#endif
