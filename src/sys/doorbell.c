/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * doorbell.c - a descriptor that other processes can make readable (doorbell.h).
 *
 * Each ring makes a socket for its one datagram, since a datagram counts against the sending socket
 * until it is received: rings to many sleepers that take no notice would use up a socket that all
 * share. A shared socket, the doorbell_fd, is used only when no other can be had. When a process
 * rings, the sleeper is deep asleep, so its wake-up costs more than the socket.
 *
 * No state, no locks. Neighbour: futex_event.c, which rings.
 */
#define _GNU_SOURCE 1 /* SOCK_CLOEXEC */
#include "sys/doorbell.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"

/* name_of makes the socket name of id. It has no terminating zero, so the length is part of it. */
static socklen_t name_of(uint64_t id, struct sockaddr_un *name)
{
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    int len = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "mpi-rma-%016llx",
                       (unsigned long long)id);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
}

static int bind_to_random(struct doorbell *bell)
{
    enum { ATTEMPTS = 16 };
    for (int i = 0; i < ATTEMPTS; i++) {
        struct sockaddr_un name;
        if (getrandom(&bell->id, sizeof bell->id, 0) != sizeof bell->id)
            return errno;
        socklen_t len = name_of(bell->id, &name);
        if (bind(bell->fd, (const struct sockaddr *)&name, len) == 0)
            return 0;
        if (errno != EADDRINUSE)
            return errno;
    }
    return EADDRINUSE;
}

int doorbell_open(const struct log *log, struct doorbell *out)
{
    struct doorbell bell = {.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    int failed = bell.fd < 0 ? errno : bind_to_random(&bell);
    out->fd = -1;
    if (failed) {
        doorbell_close(&bell);
        return log_fail(log, MRMA_ERR_OTHER, "cannot make a socket to be woken by: %s",
                        strerror(failed));
    }
    *out = bell;
    return MRMA_SUCCESS;
}

void doorbell_close(struct doorbell *bell)
{
    if (bell->fd >= 0)
        close(bell->fd);
    bell->fd = -1;
}

void doorbell_empty(const struct doorbell *bell)
{
    char byte;
    while (recv(bell->fd, &byte, sizeof byte, MSG_DONTWAIT) >= 0)
        ;
}

int doorbell_ring_fd(void)
{
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

bool doorbell_ring(uint64_t id, int doorbell_fd)
{
    struct sockaddr_un name;
    const socklen_t len = name_of(id, &name);
    const int own = doorbell_ring_fd(), fd = own >= 0 ? own : doorbell_fd;
    if (fd < 0)
        return false;
    /* If the queue is full the doorbell has been rung already. */
    (void)sendto(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&name, len);
    if (own >= 0)
        close(own);
    return true;
}
