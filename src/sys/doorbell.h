/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * doorbell.h - a descriptor that other processes of the node can make readable.
 *
 * A datagram socket in the abstract namespace, named by a random id: it leaves nothing in a file
 * system, goes with its process, and can be rung by whoever has the id. So a thread can block in
 * poll(2) on the doorbell and on other descriptors together, which it can't on a futex. Abstract
 * names belong to a network namespace, so processes are on one node only if they share it. A ring
 * says only "look again", so a ring from a stranger costs no more than a look.
 *
 * No state outside the struct, no locks. Neighbour: futex_event.h, which rings.
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

/* doorbell_open makes the socket with a name that no other doorbell has, and sets *out;
 * doorbell_close ends it. Returns MRMA_SUCCESS, or MRMA_ERR_OTHER (logged) if no descriptor or no
 * name can be had; out->fd is -1 then. */
int doorbell_open(const struct log *log, struct doorbell *out);

/* doorbell_close closes the descriptor, if there is one, and sets it to -1. Rings that come later
 * are lost. */
void doorbell_close(struct doorbell *bell);

/* doorbell_empty takes all rings that have come, so that the descriptor is no longer readable. Only
 * the owner calls it. Never waits. */
void doorbell_empty(const struct doorbell *bell);

/* doorbell_ring_fd returns a socket with which this process can ring even when its program has used
 * up all descriptors, since it holds this socket from its start. The caller closes it. -1: none
 * could be had, and errno says why. */
int doorbell_ring_fd(void);

/* doorbell_ring makes the doorbell with this id readable, in three system calls; never waits.
 * doorbell_fd is what doorbell_ring_fd has returned, or -1. Returns false if it did not ring
 * because this process has no descriptor to spare and doorbell_fd is -1. If nobody has the name any
 * more, that is no error. */
bool doorbell_ring(uint64_t id, int doorbell_fd);

#endif
