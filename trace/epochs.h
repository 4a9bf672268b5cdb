/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epochs.h - epochs of MPI_Win_start and MPI_Win_post, and which of them belong together.
 *
 * The standard matches them in order: of the access epochs of one origin that name a target, and
 * the exposure epochs of that target that name the origin, the first with the first and so on.
 */
#ifndef MRMA_TRACE_EPOCHS_H
#define MRMA_TRACE_EPOCHS_H

#include "model.h"

struct epoch {
    uint32_t rank, win, group;
    uint32_t first, last; /* calls that begin and end it; last NONE: not ended */
    uint64_t last_op;     /* access: return of the last call that issues an operation */
    uint32_t nops;
};

struct pairing {
    uint32_t win, origin, target;
    uint32_t access, exposure; /* indices; exposure NONE: no post for it */
    uint32_t nops;             /* from origin to target in it */
};

struct epochs {
    struct epoch *access, *exposure;
    size_t naccess, access_cap, nexposure, exposure_cap;
    struct pairing *pairing; /* by access epoch */
    size_t npairings, pairings_cap;
};

void epochs_find(struct epochs *epochs, const struct trace *trace);
void epochs_free(struct epochs *epochs);

/* epochs_pairing returns the pairing of an access epoch with a target, or NULL if there is none. */
const struct pairing *epochs_pairing(const struct epochs *epochs, uint32_t access, uint32_t target);

/* epochs_of_op returns the access epoch that an operation is in, or NONE if it is in none. */
uint32_t epochs_of_op(const struct epochs *epochs, const struct trace *trace,
                      const struct operation *op);

#endif
