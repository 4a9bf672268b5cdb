/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_pair.h - engines in one test process, and two of them that know each other: the first can
 * read what the second says of itself.
 */
#ifndef MRMA_TEST_SUPPORT_ENGINE_PAIR_H
#define MRMA_TEST_SUPPORT_ENGINE_PAIR_H

#include "engine/engine_impl.h"

/* engine_alone makes an engine, which engine_destroy ends. NULL: it could not be made. */
struct engine *engine_alone(void);

/* engine_know returns e's peer whose record is rec, until peer_put gives it back. */
struct rma_peer *engine_know(struct engine *e, const struct rma_proc_record *rec);

/* engine_forget gives peer back and ends e. */
void engine_forget(struct engine *e, struct rma_peer *peer);

struct pair {
    struct engine *from, *to;
    struct rma_peer *peer, *back; /* the second one there, the first one here */
};

/* pair_new makes two engines that know each other, which pair_end ends. */
struct pair pair_new(void);

/* pair_end ends both engines of p. */
void pair_end(struct pair *p);

/* A packet that nobody awaits, of no window. */
extern const struct pkt_hdr pair_stray;

#endif
