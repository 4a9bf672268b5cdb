/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alive_probe.c - is a peer that does not answer still there?
 *
 * A software provider that cannot connect says "try again" whether the peer is busy
 * or has ended, and for as long as one asks. Where addresses are of the Internet, a TCP connection
 * to a port tells that the peer has for this (alive_socket.c): the kernel answers as long as the
 * process lives, busy or not, and refuses at once when it has ended. The connection says nothing
 * and is reset, so that it never takes a place in a queue there. One question to a peer is under
 * way at a time. A process that has no descriptor left asks with the one that it has kept for this.
 * Over hardware a PROBE message asks, too, whose error comes back as a completion; and the network
 * of that port may be another one, that leads nowhere: there only a peer that has answered before
 * is lost when no answer comes. So each is asked once when it is heard for the first time. Of one
 * that has never answered a warning says that it may be gone, and it is waited for.
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

#define REACH_AFTER UINT64_C(200000000)      /* a message waits so long: ask */
#define REACH_AGAIN UINT64_C(1000000000)     /* after a good answer */
#define REACH_PATIENCE UINT64_C(20000000000) /* without any answer */

struct nm_reach {
    int fd;
    uint64_t since;
};

/* A socket to ask with; -1: not now. */
static int get_socket(struct nmofi *nm)
{
    const int fd = nm_life_socket(nm);
    if (fd >= 0 || nm->spare_used)
        return fd;
    nm->spare_used = true;
    return nm->spare;
}

/* The spare one is disconnected, and what it has to say of its last question taken from it. */
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

/* Does this answer, or that none came, tell that the peer has gone? */
static bool tells_end(const struct nmofi_link *link, int error)
{
    if (error == ECONNREFUSED || error == ECONNRESET)
        return true;
    return (link->nm->software || link->answered) &&
           (error == EHOSTUNREACH || error == ENETUNREACH || error == ETIMEDOUT ||
            error == EHOSTDOWN);
}

/* No answer, of which nobody knows what it means: said once, if nothing is heard all the time. */
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

/* The answer, or that there was no asking. */
static void answered(struct nmofi_link *link, int error, uint64_t now)
{
    const uint64_t since = link->reach->since;
    nm_reach_end(link);
    link->reach_at = now + REACH_AGAIN;
    link->answered |= !error;
    if (tells_end(link, error)) {
        (void)nm_send_bare(link, NM_RESET); /* should it live: it is not waited for any more */
        nm_link_break(link, "%s", strerror(error));
    } else if (error) {
        silent(link, since, now);
    }
}

/* Asks by this socket. Returns EINPROGRESS if the answer is to come; else what it is, or -1 if
 * there is no asking now. */
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

/* The peer has just been heard: of the answer only that there is one matters. */
static void learn(struct nmofi_link *link, int error, uint64_t now)
{
    nm_reach_end(link);
    link->reach_at = now + REACH_AGAIN;
    link->answered |= !error;
}

/* Not with the descriptor that is kept for those who wait. */
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
