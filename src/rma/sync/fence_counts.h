/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fence_counts.h - MPI_Win_fence among many packet peers: a reduce-scatter of how
 * many bytes everybody has to expect, instead of a marker to everybody (the idea is
 * Thakur's, Gropp's and Toonen's; here sparse and routed as Bruck routes messages).
 *
 * A window uses them or markers. The choice is made at creation, the same at all processes.
 *
 * All under the engine's lock but fence_counts_choose and fence_counts_connect.
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
 * this (doc/protocol.md says why so many). */
enum { FENCE_MARKERS_MAX = 16 };

/* Markers or counts? Collective over the window's processes: all return the same.
 * MRMA_ERR_NO_MEM, or what the exchange returned. */
int fence_counts_choose(struct win *w, struct boot *boot);
void fence_counts_free(struct win *w);
/* What was chosen. */
bool fence_counts_used(const struct win *w);

/* Before the first counts leave: connections to those few that they go to. Makes
 * connections, so called without the engine's lock; cheap from the second time on. */
int fence_counts_connect(struct win *w);

/* fence_counts_enter announces how many bytes the operations of the ending phase name, which this
 * process has sent (issue_phase): it asks for the sums and sends them on their way. What does not
 * travel in packets is not counted and must have arrived before. MRMA_ERR_NO_MEM, or what sending
 * returned; after an error the others get their part nevertheless, and learn that sums are missing.
 */
int fence_counts_enter(struct win *w);
/* Has everything of the phase come, and has this process passed on what it had to? It may
 * still wait to leave (issue_all_left). */
bool fence_counts_done(const struct win *w);
/* For reports: the rank whose counts are awaited, -1 if none is; then, what is expected. */
int fence_counts_missing(const struct win *w);
uint64_t fence_counts_expected(const struct win *w);
/* The fence ends, also after an error of another part of it. Returns what was wrong
 * with the counts, enum mrma_err. */
int fence_counts_leave(struct win *w);

/* A PKT_COUNTS has come from t. False: it is not due, or not well-formed; refuse it. */
bool fence_counts_got(struct win *w, const struct rma_target *t, const struct pkt_hdr *hdr);
#endif
