/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * grid.c - see grid.h.
 */
#define _GNU_SOURCE 1
#include "bench/halo/grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/common/host.h"

#define PAGE 4096

const char *const halo_notify_name[] = {"accumulate", "put", "barrier", NULL};

static const char *const side_name[SIDES] = {"west", "east", "north", "south"};

static void torus(struct halo *h)
{
    int x, y;

    h->py = 1;
    for (int f = 1; f * f <= h->nprocs; f++)
        if (h->nprocs % f == 0)
            h->py = f;
    h->px = h->nprocs / h->py;
    x = h->rank % h->px;
    y = h->rank / h->px;
    h->nbr[WEST] = y * h->px + (x + h->px - 1) % h->px;
    h->nbr[EAST] = y * h->px + (x + 1) % h->px;
    h->nbr[NORTH] = (y + h->py - 1) % h->py * h->px + x;
    h->nbr[SOUTH] = (y + 1) % h->py * h->px + x;
}

void halo_grid_init(struct halo *h, MPI_Comm comm, bool yield, enum halo_notify notify)
{
    int distinct[SIDES], n = 0;
    MPI_Group all;

    memset(h, 0, sizeof(*h));
    h->comm = comm;
    h->yield = yield;
    h->notify = notify;
    h->ignore = MPI_STATUSES_IGNORE;
    MPI_Comm_rank(comm, &h->rank);
    MPI_Comm_size(comm, &h->nprocs);
    torus(h);
    for (int d = 0; d < SIDES; d++) {
        int i = 0;

        while (i < n && distinct[i] != h->nbr[d])
            i++;
        if (i == n)
            distinct[n++] = h->nbr[d];
    }
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, n, distinct, &h->nbr_group);
    MPI_Group_free(&all);
}

void halo_grid_free(struct halo *h)
{
    MPI_Group_free(&h->nbr_group);
}

static int find_peers(struct halo *h, char *reason, size_t len)
{
    int rc = MPI_SUCCESS, unit;
    MPI_Aint size;

    for (int d = 0; d < SIDES && !rc; d++) {
        rc = MPI_Win_shared_query(h->data.win, h->nbr[d], &size, &unit, &h->peer_data[d]);
        if (!rc)
            rc = MPI_Win_shared_query(h->flag.win, h->nbr[d], &size, &unit, &h->peer_flag[d]);
    }
    if (!rc)
        rc = MPI_Win_shared_query(h->flag.win, 0, &size, &unit, &h->counter);
    h->counter += SIDES * HALO_FLAG_STRIDE;
    h->barriers = 0;
    if (rc)
        host_error_text("MPI_Win_shared_query", rc, reason, len);
    return rc;
}

/* The neighbours' parts and processes, from themselves. */
static int ask_peers(struct halo *h, char *reason, size_t len)
{
    struct part {
        char *data, *flag;
        pid_t pid;
    } mine = {h->data.base, h->flag.base, getpid()}, theirs = mine;
    int rc = MPI_SUCCESS;

    for (int d = 0; d < SIDES && !rc; d++) {
        rc = MPI_Sendrecv(&mine, sizeof(mine), MPI_BYTE, h->nbr[halo_opposite(d)], d, &theirs,
                          sizeof(theirs), MPI_BYTE, h->nbr[d], d, h->comm, MPI_STATUS_IGNORE);
        h->peer_data[d] = theirs.data;
        h->peer_flag[d] = theirs.flag;
        h->nbr_pid[d] = theirs.pid;
    }
    if (rc)
        host_error_text("MPI_Sendrecv", rc, reason, len);
    return rc;
}

static int open_windows(struct halo *h, int kind, char *reason, size_t len)
{
    MPI_Info info; /* a number for each side of two buffers: notified.c */

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpirma_notifications", "8");
    const int failed_first = winmem_open_info(&h->data, (enum winmem_kind)kind, 2 * SIDES * h->slot,
                                              info, h->comm, reason, len);
    MPI_Info_free(&info);
    if (failed_first)
        return -1;
    if (winmem_open(&h->flag, (enum winmem_kind)kind, (SIDES + 1) * HALO_FLAG_STRIDE, h->comm,
                    reason, len)) {
        winmem_close(&h->data);
        return -1;
    }
    bool failed = (kind == WINMEM_SHARED && find_peers(h, reason, len)) ||
                  (kind == WINMEM_MALLOC && ask_peers(h, reason, len));

    if (host_any_failed(h->comm, failed, reason, len)) {
        winmem_close(&h->flag);
        winmem_close(&h->data);
        return -1;
    }
    return 0;
}

int halo_grid_open(struct halo *h, int kind, size_t size, char *reason, size_t len)
{
    size_t unit = size >= PAGE ? PAGE : 64;
    void *send = NULL, *recv = NULL;

    h->size = size;
    h->slot = (size + unit - 1) / unit * unit;
    h->step = 0;
    h->has_window = false;
    bool failed = posix_memalign(&send, PAGE, SIDES * h->slot) ||
                  posix_memalign(&recv, PAGE, SIDES * h->slot);

    h->send = send;
    h->recv = recv;
    if (failed)
        snprintf(reason, len, "no memory for strips of %zu bytes", size);
    if (host_any_failed(h->comm, failed, reason, len))
        goto fail;
    memset(h->send, 0, SIDES * h->slot);
    memset(h->recv, 0, SIDES * h->slot);
    if (kind >= 0) {
        if (open_windows(h, kind, reason, len))
            goto fail;
        h->has_window = true;
    }
    halo_grid_fill(h);
    return 0;
fail:
    free(h->send);
    free(h->recv);
    return -1;
}

void halo_grid_close(struct halo *h)
{
    if (h->has_window) {
        winmem_close(&h->flag);
        winmem_close(&h->data);
    }
    free(h->send);
    free(h->recv);
}

/* The eight bytes at word `place` of the strip that rank sent in direction
 * side in that step. */
static uint64_t content(int rank, int side, uint64_t step, uint64_t place)
{
    uint64_t sender = (uint64_t)rank * SIDES + (uint64_t)side + 1;
    uint64_t z =
        step * 0x9e3779b97f4a7c15u + sender * 0xd1b54a32d192ed03u + place * 0x8cb92ba72f3d8dd7u;

    z = (z ^ (z >> 32)) * 0xbf58476d1ce4e5b9u;
    return z ^ (z >> 29);
}

static void set_word(unsigned char *strip, size_t place, uint64_t value)
{
    memcpy(strip + place * sizeof(value), &value, sizeof(value));
}

static void stamp_strips(struct halo *h)
{
    size_t last = h->size / sizeof(uint64_t) - 1;

    for (int d = 0; d < SIDES; d++) {
        set_word(h->send + (size_t)d * h->slot, 0, content(h->rank, d, h->step, 0));
        set_word(h->send + (size_t)d * h->slot, last, content(h->rank, d, h->step, last));
    }
}

void halo_grid_stamp(struct halo *h)
{
    h->step++;
    stamp_strips(h);
}

void halo_grid_fill(struct halo *h)
{
    h->step++;
    h->filled = h->step;
    for (int d = 0; d < SIDES; d++)
        for (size_t i = 0; i < h->size / sizeof(uint64_t); i++)
            set_word(h->send + (size_t)d * h->slot, i, content(h->rank, d, h->step, i));
}

/* Keep which byte is wrong. */
static void mismatch(struct halo *h, const char *mode, int side, size_t place, uint64_t want)
{
    const unsigned char *got = h->ghost + (size_t)side * h->slot + place * sizeof(want);
    unsigned char expected[sizeof(want)];
    size_t byte = 0;

    if (h->wrong[0])
        return;
    memcpy(expected, &want, sizeof(want));
    while (byte + 1 < sizeof(want) && got[byte] == expected[byte])
        byte++;
    snprintf(h->wrong, sizeof(h->wrong),
             "rank %d: step %llu of %s: byte %zu from the %s neighbour (rank %d) is 0x%02x: "
             "expected 0x%02x",
             h->rank, (unsigned long long)h->step, mode, place * sizeof(want) + byte,
             side_name[side], h->nbr[side], got[byte], expected[byte]);
}

void halo_grid_check(struct halo *h, const char *mode, bool all)
{
    size_t last = h->size / sizeof(uint64_t) - 1;

    for (int side = 0; side < SIDES; side++) {
        const unsigned char *strip = h->ghost + (size_t)side * h->slot;

        for (size_t i = 0; i <= last; i += all ? 1 : last) {
            uint64_t step = i == 0 || i == last ? h->step : h->filled;
            uint64_t want = content(h->nbr[side], halo_opposite(side), step, i);

            if (memcmp(strip + i * sizeof(want), &want, sizeof(want)))
                mismatch(h, mode, side, i, want);
        }
    }
}
