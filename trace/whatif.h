/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * whatif.h - how long the run would have been if something in the program were otherwise: the
 * recorded run is replayed with one change at a time, see plan.h.
 */
#ifndef MRMA_TRACE_WHATIF_H
#define MRMA_TRACE_WHATIF_H

#include "causes.h"

/* One change, and what it saves. */
struct scenario {
    const char *key;     /* "fence_as_pscw" and so on */
    char *what;          /* a sentence's subject and predicate, with the places of the calls */
    const char *assumes; /* a sentence */
    uint64_t saves;      /* ns of the run's length */
    uint64_t number;     /* of calls or computations that are changed */
    uint32_t win, rank;  /* NONE: not one */
    uint32_t call;       /* one of those that are changed, or behind that; NONE: none */
};

struct whatif {
    const char *why_not;         /* NULL: the run was replayed, and estimates are made */
    uint64_t measured, replayed; /* ns to the end of the last call; replayed 0: it was not */
    uint64_t noise;              /* what saves less is left out */
    struct scenario *scenario;   /* by falling gain */
    size_t n, cap;
};

/* whatif_find replays the run of an analysis and tries changes. What analysis and causes hold must
 * outlive the call only. Where there were more ranks than processors nothing is estimated, unless
 * crowded_too: then ranks take turns, and a change changes whose turn it is. whatif_free frees what
 * was found. */
void whatif_find(struct whatif *whatif, const struct analysis *analysis,
                 const struct causes *causes, bool crowded_too);
void whatif_free(struct whatif *whatif);

#endif
