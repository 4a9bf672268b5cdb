/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reach.c - is a peer that does not answer still there?
 *
 * A software provider that cannot connect says "try again" whether the peer is busy
 * or has ended, and for as long as one asks. Where addresses are of the Internet, a TCP connection
 * to the peer's port tells: the kernel accepts it as long as the process lives, busy
 * or not, and refuses it at once when it has ended. The connection says nothing and is
 * closed; the peer's provider drops it.
 * Elsewhere a PROBE message asks the hardware, whose error comes back as a completion.
 *
 * A host that is off or cut away is lost after the kernel's connection timeout,
 * REACH_PATIENCE at most.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "netmod/ofi/ofi.h"

#define REACH_AFTER UINT64_C(200000000)      /* a message waits so long: ask */
#define REACH_AGAIN UINT64_C(1000000000)     /* after a good answer */
#define REACH_PATIENCE UINT64_C(20000000000) /* without any answer */

struct nm_reach {
    int fd;
    uint64_t since;
};

static bool internet(const struct nmofi_link *link)
{
    const uint32_t format = link->nm->name.format;
    return link->nm->software && (format == FI_SOCKADDR_IN || format == FI_SOCKADDR_IN6);
}

void nm_reach_end(struct nmofi_link *link)
{
    if (!link->reach)
        return;
    close(link->reach->fd);
    free(link->reach);
    link->reach = NULL;
}

/* The answer, or that there was no asking. */
static void answered(struct nmofi_link *link, int error, uint64_t now)
{
    nm_reach_end(link);
    link->reach_at = now + REACH_AGAIN;
    if (error == ECONNREFUSED || error == ECONNRESET || error == EHOSTUNREACH ||
        error == ENETUNREACH || error == ETIMEDOUT || error == EHOSTDOWN)
        nm_link_break(link, "%s", strerror(error));
}

static void ask(struct nmofi_link *link, uint64_t now)
{
    const struct nmofi_name *name = &link->peer->name;
    struct nm_reach *reach = malloc(sizeof *reach);
    if (!reach)
        return;
    *reach = (struct nm_reach){.fd = socket(name->format == FI_SOCKADDR_IN ? AF_INET : AF_INET6,
                                            SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0),
                               .since = now};
    if (reach->fd < 0) {
        free(reach);
        link->reach_at = now + REACH_AGAIN;
        return;
    }
    link->reach = reach;
    if (connect(reach->fd, (const struct sockaddr *)(const void *)name->bytes,
                (socklen_t)name->len) == 0)
        answered(link, 0, now);
    else if (errno != EINPROGRESS)
        answered(link, errno, now);
}

static void look(struct nmofi_link *link, uint64_t now)
{
    struct pollfd fd = {.fd = link->reach->fd, .events = POLLOUT};
    int error = 0;
    socklen_t len = sizeof error;
    if (poll(&fd, 1, 0) == 0) {
        if (now - link->reach->since > REACH_PATIENCE)
            answered(link, ETIMEDOUT, now);
        return;
    }
    if (getsockopt(fd.fd, SOL_SOCKET, SO_ERROR, &error, &len))
        error = errno;
    answered(link, error, now);
}

void nm_reach_poll(struct nmofi_link *link, uint64_t now)
{
    if (link->reach)
        look(link, now);
    else if (link->peer && internet(link) && now - link->stalled_since > REACH_AFTER &&
             now >= link->reach_at)
        ask(link, now);
}

bool nm_reach_ask(struct nmofi_link *link, uint64_t now)
{
    if (!internet(link))
        return false;
    if (link->reach)
        look(link, now);
    else if (now >= link->reach_at)
        ask(link, now);
    return true;
}
