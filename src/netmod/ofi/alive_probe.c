/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alive_probe.c - finds out whether a peer that does not answer is still there.
 *
 * A software provider that cannot connect says "try again", for as long as it is asked, whether the
 * peer is busy or has ended. Where addresses are Internet addresses, a TCP connection to a port
 * that the peer has for this (alive_socket.c) tells the difference: the kernel answers as long as
 * the process lives, busy or not, and refuses at once when the process has ended. The connection
 * says nothing and is reset, so that it never takes a place in a queue there. One question to a
 * peer is under way at a time. A process that has no descriptor left asks with the one that it has
 * kept for this. Over hardware a PROBE message asks, too, and its error comes back as a completion.
 * The port may be on another network, which leads nowhere; so over hardware a missing answer means
 * that the peer is lost only if the peer has answered before. For this reason each peer is asked
 * once when it is heard for the first time. If a peer that has never answered does not answer, a
 * warning says that it may be gone, and the process goes on waiting for it.
 *
 * A host that is off or cut away is lost after the kernel's connection timeout,
 * REACH_PATIENCE at most.
 *
 * Locks: as nmofi.h says. Neighbours: alive_socket.c, whose socket answers; msg.c and ofi_vc.c,
 * which ask.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "netmod/ofi/alive_socket.h"
#include "netmod/ofi/ofi.h"

#define REACH_AFTER \
    UINT64_C(200000000)                      /* the peer is asked when a message has waited so
                                                long */
#define REACH_AGAIN UINT64_C(1000000000)     /* after a good answer */
#define REACH_PATIENCE UINT64_C(20000000000) /* without any answer */

struct nm_reach {
    int fd;
    uint64_t since;
};

/* get_socket returns a socket to ask with; -1: there is none now. */
static int get_socket(struct nmofi *nm)
{
    const int fd = nm_life_socket(nm);
    if (fd >= 0 || nm->spare_used)
        return fd;
    nm->spare_used = true;
    return nm->spare;
}

/* put_socket gives a socket back. The spare one is disconnected, and the pending error of its last
 * question is taken from it. */
static void put_socket(struct nmofi *nm, int fd)
{
    const struct sockaddr none = {.sa_family = AF_UNSPEC};
    int error;
    socklen_t len = sizeof error;
    if (fd != nm->spare) {
        close(fd);
        return;
    }
    (void)connect(fd, &none, sizeof none);
    (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
    nm->spare_used = false;
}

void nm_reach_end(struct nmofi_link *link)
{
    if (!link->reach)
        return;
    put_socket(link->nm, link->reach->fd);
    free(link->reach);
    link->reach = NULL;
}

/* tells_end returns whether this answer, or the lack of one, means that the peer has gone. */
static bool tells_end(const struct nmofi_link *link, int error)
{
    if (error == ECONNREFUSED || error == ECONNRESET)
        return true;
    return (link->nm->software || link->answered) &&
           (error == EHOSTUNREACH || error == ENETUNREACH || error == ETIMEDOUT ||
            error == EHOSTDOWN);
}

/* silent is called when no answer came and nobody knows what that means: it logs this once, if
 * nothing was heard of the peer all the time. */
static void silent(struct nmofi_link *link, uint64_t since, uint64_t now)
{
    const uint64_t heard = link->from ? link->from->heard : 0;
    char at[NMOFI_TEXT] = "";
    if (!link->silent_since || link->silent_heard != heard) {
        link->silent_since = since;
        link->silent_heard = heard;
    }
    if (link->silence_told || now - link->silent_since < REACH_PATIENCE)
        return;
    link->silence_told = true;
    nm_addr_text(link->nm, &link->peer->name, at, sizeof at);
    log_msg(link->nm->opts.log, LOG_LEVEL_WARN,
            "process %016llx at %s is waited for, and nothing has come from it or its machine for "
            "%d s. Its machine may be off; but it has never answered such questions, whose way may "
            "lead nowhere, so that the process may as well be busy: the wait goes on",
            (unsigned long long)link->uid, at, (int)((now - link->silent_since) / 1000000000));
}

/* answered deals with the answer, or with the fact that asking was impossible. */
static void answered(struct nmofi_link *link, int error, uint64_t now)
{
    const uint64_t since = link->reach->since;
    nm_reach_end(link);
    link->reach_at = now + REACH_AGAIN;
    link->answered |= !error;
    if (tells_end(link, error)) {
        /* in case it lives, it learns that nobody waits for it any more */
        (void)nm_send_bare(link, NM_RESET);
        nm_link_break(link, "%s", strerror(error));
    } else if (error) {
        silent(link, since, now);
    }
}

/* begin asks by this socket. Returns EINPROGRESS if the answer comes later; else the answer, or -1
 * if asking is impossible now. */
static int begin(struct nmofi_link *link, int fd, uint64_t now)
{
    struct nm_reach *reach = fd < 0 ? NULL : malloc(sizeof *reach);
    if (fd >= 0 && !reach)
        put_socket(link->nm, fd);
    if (!reach) {
        link->reach_at = now + REACH_AGAIN;
        return -1;
    }
    *reach = (struct nm_reach){.fd = fd, .since = now};
    link->reach = reach;
    return nm_life_connect(fd, &link->peer->name);
}

static void ask(struct nmofi_link *link, uint64_t now)
{
    const int error = begin(link, get_socket(link->nm), now);
    if (error >= 0 && error != EINPROGRESS)
        answered(link, error, now);
}

/* EINPROGRESS: not yet. */
static int answer(const struct nm_reach *reach)
{
    struct pollfd fd = {.fd = reach->fd, .events = POLLOUT};
    int error = 0;
    socklen_t len = sizeof error;
    if (poll(&fd, 1, 0) == 0)
        return EINPROGRESS;
    return getsockopt(fd.fd, SOL_SOCKET, SO_ERROR, &error, &len) ? errno : error;
}

static void look(struct nmofi_link *link, uint64_t now)
{
    const int error = answer(link->reach);
    if (error != EINPROGRESS)
        answered(link, error, now);
    else if (now - link->reach->since > REACH_PATIENCE)
        answered(link, ETIMEDOUT, now);
}

void nm_reach_poll(struct nmofi_link *link, uint64_t now)
{
    if (link->reach)
        look(link, now);
    else if (link->peer && nm_life_has_port(&link->peer->name) &&
             now - link->stalled_since > REACH_AFTER && now >= link->reach_at)
        ask(link, now);
}

bool nm_reach_ask(struct nmofi_link *link, uint64_t now)
{
    if (!nm_life_has_port(&link->peer->name))
        return false;
    if (link->reach)
        look(link, now);
    else if (now >= link->reach_at)
        ask(link, now);
    return true;
}

/* learn is called when the peer has just been heard: it only matters that there is an answer. */
static void learn(struct nmofi_link *link, int error, uint64_t now)
{
    nm_reach_end(link);
    link->reach_at = now + REACH_AGAIN;
    link->answered |= !error;
}

/* It does not use the descriptor that is kept for threads that wait. */
void nm_reach_greeted(struct nmofi_link *link)
{
    const uint64_t now = clock_monotonic_ns();
    if (link->nm->software || link->reach || !link->peer || !nm_life_has_port(&link->peer->name))
        return;
    const int error = begin(link, nm_life_socket(link->nm), now);
    if (error >= 0 && error != EINPROGRESS)
        learn(link, error, now);
}

void nm_reach_heard(struct nmofi_link *link)
{
    if (!link->reach)
        return;
    const uint64_t now = clock_monotonic_ns();
    const int error = answer(link->reach);
    if (error != EINPROGRESS || now - link->reach->since > REACH_AGAIN)
        learn(link, error, now);
}
