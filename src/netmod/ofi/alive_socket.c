/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alive_socket.c - the socket by which others see that this process lives and can be connected to.
 *
 * It listens on the endpoint's address, or where that is no Internet address on an address of this
 * machine, on a port of its own, which struct nmofi_name carries. Nobody ever accepts connections
 * from it: with TCP_DEFER_ACCEPT the kernel answers a process that connects (alive_probe.c), and
 * keeps that connection out of the queue until data come, which never happens. So the process
 * answers for as long as it lives, whatever it does: busy, stopped, without an agent. The
 * provider's own socket would not do, since its queue may be full. A child does not answer for a
 * parent that has died: a program that this process starts never has the socket, which is closed by
 * exec from its creation on, and a child of fork closes it (nmofi_fork_child).
 *
 * A process that has no descriptor left cannot accept connections, and its provider tries again for
 * ever. Such a process gives up the socket, so that peers that wait for it learn that it cannot be
 * reached. Its own waits for peers to which it has no connection end then, too, since these peers
 * have given it up.
 *
 * Locks: as nmofi.h says. Neighbours: alive_probe.c, which asks others; cq.c, which tells when
 * polls are in vain.
 */
#define _GNU_SOURCE 1 /* accept4 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "netmod/ofi/alive_socket.h"
#include "netmod/ofi/ofi.h"

enum {
    DEFER_SECONDS = 30, /* a process that connects resets the connection at once */
    LINK_LOCAL_NET = 169 << 8 | 254
};
#define VAIN_LOOK UINT64_C(1000000) /* time between looks while polls find nothing */
#define SHORT_PATIENCE \
    UINT64_C(1000000000) /* how long a process may lack a descriptor while somebody connects */

union address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

static in_port_t *port_of(union address *a)
{
    return a->any.sa_family == AF_INET ? &a->in.sin_port : &a->in6.sin6_port;
}

/* address_of makes the socket address of another process, or of this one, and returns its
 * length. */
static socklen_t address_of(const struct nmofi_name *name, union address *a)
{
    const size_t len = name->format == FI_SOCKADDR_IN6 ? sizeof a->in6 : sizeof a->in;
    memset(a, 0, sizeof *a);
    if (name->life_ip) {
        a->in.sin_family = AF_INET;
        a->in.sin_addr.s_addr = name->life_ip;
        return (socklen_t)sizeof a->in;
    }
    memcpy(a, name->bytes, name->len < len ? name->len : len);
    return (socklen_t)len;
}

bool nm_life_has_port(const struct nmofi_name *name)
{
    return name->life != 0;
}

int nm_life_socket(const struct nmofi *nm)
{
    const struct linger reset = {.l_onoff = 1, .l_linger = 0};
    const int family = nm->name.format == FI_SOCKADDR_IN6 ? AF_INET6 : AF_INET;
    const int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    return fd;
}

int nm_life_connect(int fd, const struct nmofi_name *name)
{
    union address a;
    const socklen_t len = address_of(name, &a);
    *port_of(&a) = htons((in_port_t)name->life);
    return connect(fd, &a.any, len) == 0 ? 0 : errno;
}

/* find_listener finds the provider's own listening socket among all sockets of this process: its
 * address is the endpoint's. */
static int find_listener(const struct nmofi *nm)
{
    union address mine, a;
    const socklen_t len = address_of(&nm->name, &mine);
    DIR *dir = opendir("/proc/self/fd");
    int found = -1;
    for (struct dirent *entry; dir && found < 0 && (entry = readdir(dir)) != NULL;) {
        const int fd = atoi(entry->d_name);
        int listens = 0;
        socklen_t alen = sizeof a, ilen = sizeof listens;
        memset(&a, 0, sizeof a);
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &ilen) == 0 && listens &&
            getsockname(fd, &a.any, &alen) == 0 && alen == len && memcmp(&a, &mine, len) == 0)
            found = fd;
    }
    if (dir)
        closedir(dir);
    return found;
}

static int listen_on(int fd, struct nmofi_name *name)
{
    const int defer = DEFER_SECONDS;
    union address a;
    socklen_t len = address_of(name, &a);
    *port_of(&a) = 0;
    if (bind(fd, &a.any, len) ||
        setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer, sizeof defer) ||
        listen(fd, SOMAXCONN) || getsockname(fd, &a.any, &len))
        return errno;
    name->life = ntohs(*port_of(&a));
    return 0;
}

static bool is_internet(const struct nmofi *nm)
{
    return nm->name.format == FI_SOCKADDR_IN || nm->name.format == FI_SOCKADDR_IN6;
}

/* own_address returns an address of this machine on an interface that others may reach, or on the
 * interface that was asked for; 0: there is none. */
static uint32_t own_address(const char *interface)
{
    struct ifaddrs *list = NULL;
    uint32_t found = 0;
    (void)getifaddrs(&list);
    for (const struct ifaddrs *it = list; it; it = it->ifa_next) {
        const struct sockaddr_in *in = (const void *)it->ifa_addr;
        if (!in || in->sin_family != AF_INET || !(it->ifa_flags & IFF_UP))
            continue;
        const uint32_t ip = ntohl(in->sin_addr.s_addr);
        const bool reachable = ip >> 24 != IN_LOOPBACKNET && ip >> 16 != LINK_LOCAL_NET;
        const bool wanted = interface && strcmp(it->ifa_name, interface) == 0;
        if (wanted || (reachable && !found))
            found = in->sin_addr.s_addr;
        if (wanted)
            break;
    }
    freeifaddrs(list);
    return found;
}

/* choose_address chooses where to listen if the endpoint's own address will not do. False: there is
 * no such address. */
static bool choose_address(struct nmofi *nm)
{
    if (is_internet(nm))
        return true;
    nm->name.life_ip = nm->opts.loopback ? htonl(INADDR_LOOPBACK) : own_address(nm->opts.interface);
    return nm->name.life_ip;
}

static int open_sockets(struct nmofi *nm)
{
    nm->life = nm_life_socket(nm);
    nm->spare = nm->life < 0 ? -1 : nm_life_socket(nm);
    return nm->spare < 0 ? errno : listen_on(nm->life, &nm->name);
}

int nm_life_open(struct nmofi *nm)
{
    const int failed = choose_address(nm) ? open_sockets(nm) : EADDRNOTAVAIL;
    if (failed && nm->over_tcp)
        return log_fail(nm->opts.log, MRMA_ERR_OTHER,
                        "no socket by which others see that this process lives: %s",
                        strerror(failed));
    if (failed) { /* the hardware has other means */
        log_msg(nm->opts.log, LOG_LEVEL_INFO,
                "network: no socket by which others see that this process lives: %s",
                strerror(failed));
        nm_life_end(nm);
        return MRMA_SUCCESS;
    }
    nm->listener = nm->software && is_internet(nm) ? find_listener(nm) : -1;
    if (nm->listener >= 0)
        (void)fcntl(nm->listener, F_SETFD, FD_CLOEXEC);
    return MRMA_SUCCESS;
}

void nm_life_end(struct nmofi *nm)
{
    if (nm->life >= 0)
        close(nm->life);
    if (nm->spare >= 0)
        close(nm->spare);
    nm->life = nm->spare = nm->listener = -1;
}

static bool has_descriptor(const struct nmofi *nm)
{
    const int fd = nm_life_socket(nm);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || (errno != EMFILE && errno != ENFILE);
}

void nm_life_break(struct nmofi_link *link)
{
    nm_link_break(link, "there was no file descriptor left to take its connection with");
}

static void give_up(struct nmofi *nm)
{
    struct rlimit limit = {0};
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    log_msg(
        nm->opts.log, LOG_LEVEL_ERROR,
        "network: this process has no file descriptor left to take a connection with: the limit "
        "is %llu (ulimit -n); those that wait for it are told that it cannot be reached",
        (unsigned long long)limit.rlim_cur);
    close(nm->life);
    nm->life = -1;
    nm->gave_up = true;
    LIST_EACH (it, &nm->links) {
        struct nmofi_link *link = LIST_ENTRY(it, struct nmofi_link, node);
        if (!link->from && link != nm->own)
            nm_life_break(link);
    }
}

/* send_away accepts and closes what connects to the provider's socket, with the descriptor that has
 * become free. */
static void send_away(const struct nmofi *nm)
{
    int fd;
    while ((fd = accept4(nm->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
        close(fd);
}

static uint64_t short_since(const struct nmofi *nm)
{
    return atomic_load_explicit(&nm->short_since, memory_order_relaxed);
}

/* set_short notes since when a descriptor is lacking (0: none is). Until there is one the
 * provider's listener is readable, and with it the descriptor on which threads block: these sleep
 * for short times instead, as if something waited to be sent. */
static void set_short(struct nmofi *nm, uint64_t since)
{
    if ((since != 0) == (short_since(nm) != 0))
        return;
    atomic_store_explicit(&nm->short_since, since, memory_order_relaxed);
    ch3_channel_unsent(&nm->channel, since ? 1 : -1);
}

void nm_life_in_vain(struct nmofi *nm)
{
    if (nm->listener < 0)
        return;
    const uint64_t now = clock_monotonic_ns();
    if (now < nm->vain_look_at)
        return;
    nm->vain_look_at = now + VAIN_LOOK;
    struct pollfd pending = {.fd = nm->listener, .events = POLLIN};
    if (poll(&pending, 1, 0) <= 0 || has_descriptor(nm)) {
        set_short(nm, 0);
        return;
    }
    set_short(nm, now);
    if (now - short_since(nm) < SHORT_PATIENCE)
        return;
    if (!nm->gave_up)
        give_up(nm);
    send_away(nm);
}

void nmofi_fork_child(struct nmofi *nm)
{
    nm_life_end(nm);
}
