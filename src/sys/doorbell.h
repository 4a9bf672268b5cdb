/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * doorbell.h - a descriptor that other processes of the node can make readable.
 *
 * A datagram socket in the abstract namespace, named by a random id: nothing in a
 * file system, gone with its process, and whoever has the id can ring. So a thread
 * can block in poll(2) on the doorbell and on other descriptors together, which it
 * can't on a futex. Abstract names belong to a network namespace, so processes are on
 * one node only if they share it. A ring carries nothing but "look again"; one from
 * a stranger costs a look.
 *
 * No state outside the struct, no locks. Neighbour: event.h, which rings.
 */
#ifndef MRMA_SYS_DOORBELL_H
#define MRMA_SYS_DOORBELL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"

struct doorbell {
    int fd; /* -1: none */
    uint64_t id;
};

/* MRMA_ERR_OTHER (logged): no descriptor or no name to be had; fd is -1 then. */
int doorbell_open(const struct log *log, struct doorbell *out);
void doorbell_close(struct doorbell *bell);

/* By the owner: take all rings that have come, so that the descriptor is quiet. */
void doorbell_empty(const struct doorbell *bell);

/* A ringer is a socket that a process holds from its start, so that it can ring when its program
 * has used up all descriptors. -1: none (the error is in errno). The caller closes it. */
int doorbell_ringer(void);

/* By anybody: three system calls. false: it did not ring, since this process has neither a
 * descriptor to spare nor a ringer (-1). That nobody has the name any more is no error. */
bool doorbell_ring(uint64_t id, int ringer);

#endif
