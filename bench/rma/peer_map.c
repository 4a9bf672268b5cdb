/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_map.c - see peer_map.h.
 */
#define _GNU_SOURCE 1
#include "bench/rma/peer_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/common/host.h"
#include "bench/common/place.h"

#define PAGE 4096

struct record {
    long pid;
    long fd;
    uint64_t private;
};

/* Create (rank 1) or open (rank 0) the file; -1 with the reason. */
static int open_file(int rank, const struct record *peer, size_t bytes, char *reason, size_t len)
{
    char path[64];
    int fd;

    if (rank == 1) {
        fd = memfd_create("bench", MFD_CLOEXEC);
        if (fd >= 0 && ftruncate(fd, (off_t)bytes)) {
            close(fd);
            fd = -1;
        }
        if (fd < 0)
            snprintf(reason, len, "memfd of %zu bytes: %s", bytes, strerror(errno));
        return fd;
    }
    snprintf(path, sizeof(path), "/proc/%ld/fd/%ld", peer->pid, peer->fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        snprintf(reason, len, "%s: %s", path, strerror(errno));
    return fd;
}

static int map_file(struct peer_map *m, int fd, size_t bytes, char *reason, size_t len)
{
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);

    if (at == MAP_FAILED) {
        snprintf(reason, len, "mmap of %zu bytes: %s", bytes, strerror(errno));
        return -1;
    }
    m->control = (struct peer_control *)at;
    m->data = at + PAGE;
    return 0;
}

int peer_map_open(struct peer_map *m, MPI_Comm pair, size_t size, char *reason, size_t len)
{
    _Static_assert(sizeof(struct peer_control) <= PAGE, "control fits into its page");
    struct record mine = {.pid = getpid(), .fd = -1}, peer = {.fd = -1};
    void *private = NULL;
    int rank, fd = -1;

    *m = (struct peer_map){.size = size};
    MPI_Comm_rank(pair, &rank);
    bool failed = posix_memalign(&private, PAGE, size) != 0;

    if (failed)
        snprintf(reason, len, "no memory for %zu bytes", size);
    else
        memset(private, 1, size);
    m->private = private;
    mine.private = (uint64_t)(uintptr_t) private;
    if (rank == 1 && !failed) {
        fd = open_file(rank, NULL, PAGE + size, reason, len);
        failed = fd < 0;
        mine.fd = fd;
    }
    MPI_Sendrecv(&mine, sizeof(mine), MPI_BYTE, 1 - rank, 0, &peer, sizeof(peer), MPI_BYTE,
                 1 - rank, 0, pair, MPI_STATUS_IGNORE);
    if (rank == 0 && !failed && peer.fd >= 0) {
        fd = open_file(rank, &peer, PAGE + size, reason, len);
        failed = fd < 0;
    }
    if (!failed && fd >= 0)
        failed = map_file(m, fd, PAGE + size, reason, len) != 0;
    failed = host_any_failed(pair, failed, reason, len);
    if (fd >= 0)
        close(fd);
    if (failed) {
        peer_map_close(m);
        return -1;
    }
    m->pid = (pid_t)peer.pid;
    m->remote = (char *)(uintptr_t)peer.private;
    return 0;
}

void peer_map_close(struct peer_map *m)
{
    if (m->control)
        munmap(m->control, PAGE + m->size);
    free(m->private);
    m->control = NULL;
    m->private = NULL;
}

void peer_map_turns(const struct peer_map *m, int rank, long n, bool yields)
{
    _Atomic uint64_t *turn = &m->control->turn;
    uint64_t me = (uint64_t)rank;

    for (long i = 0; i < n; i++) {
        while (atomic_load_explicit(turn, memory_order_acquire) != me)
            if (yields)
                place_relax(true);
        atomic_store_explicit(turn, 1 - me, memory_order_release);
    }
}
