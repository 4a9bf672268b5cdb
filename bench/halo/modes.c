/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * modes.c - see modes.h.
 *
 * When ghost cells may be overwritten (MPI 4.1, 12.5 and 12.7):
 * - fence, fence_assert: two fences a step. Puts of the next step reach this
 *   rank only after its opening fence, that is, after it has read the ghost
 *   cells: one buffer suffices. The asserts are those of Thakur, Gropp and
 *   Toonen's halo test.
 * - fence_one: one fence a step closes one epoch and opens the next, so puts of
 *   step s+1 may come while step s is read: two buffers in turn.
 * - pscw: the post of the next step says that the ghost cells were read.
 * - lock, lock_all: unlock and flush complete the puts but tell the target
 *   nothing. A flag goes to each neighbour after its data is complete there,
 *   carrying the step number by MPI_Accumulate with MPI_REPLACE (element-wise
 *   atomic; or by MPI_Put, or a barrier instead, as the notify option says), and
 *   each rank waits for its own four flags. A neighbour may be one step ahead,
 *   but no further, since it waits for this rank's flag too: two buffers.
 * - shm: the same scheme with memory copies and flags stored with release
 *   order.
 * - fence_msgs and so on: no one-sided call, but the messages that such a step can't do without
 * over a network, sent by the host.
 * - writev: the same scheme with process_vm_writev, a call for each strip and one for each
 *   flag behind them, the least that lock and lock_all do where the kernel writes. What a
 *   rank gives itself is copied.
 * - barriers: memory copies between two barriers on one counter in shared memory,
 *   the least that two fences without asserts can do.
 */
#define _GNU_SOURCE 1
#include "bench/halo/modes.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "bench/common/place.h"
#include "bench/halo/notified.h"

/* Flag loads between two calls that let the MPI library make progress. */
#define SPINS_PER_PROGRESS 64

/* Looks at the counter before the processor is left to others: who runs on another one may be about
 * to come. Four ranks on two processors, a step with 0, 5, 10, 20, 40: 5.4, 4.5, 4.6, 4.8, 5.9 us.
 */
#define LOOKS_PER_BARRIER 5

static MPI_Aint ghost_disp(const struct halo *h, int side, unsigned buffer)
{
    size_t slot = buffer * SIDES + (size_t)halo_opposite(side);

    return h->data.disp[h->nbr[side]] + (MPI_Aint)(slot * h->slot);
}

static int put_strip(struct halo *h, int side, unsigned buffer)
{
    return MPI_Put(h->send + (size_t)side * h->slot, (int)h->size, MPI_BYTE, h->nbr[side],
                   ghost_disp(h, side, buffer), (int)h->size, MPI_BYTE, h->data.win);
}

static int put_strips(struct halo *h, unsigned buffer)
{
    int rc = MPI_SUCCESS;

    for (int d = 0; d < SIDES && !rc; d++)
        rc = put_strip(h, d, buffer);
    h->ghost = (unsigned char *)h->data.base + buffer * SIDES * h->slot;
    return rc;
}

static int nothing(struct halo *h)
{
    (void)h;
    return MPI_SUCCESS;
}

/* The first size bytes of all strips at once. */
static int exchange(struct halo *h, size_t size)
{
    MPI_Request req[2 * SIDES];
    int rc = MPI_SUCCESS;

    for (int d = 0; d < SIDES && !rc; d++)
        rc = MPI_Irecv(h->recv + (size_t)d * h->slot, (int)size, MPI_BYTE, h->nbr[d],
                       halo_opposite(d), h->comm, &req[d]);
    for (int d = 0; d < SIDES && !rc; d++)
        rc = MPI_Isend(h->send + (size_t)d * h->slot, (int)size, MPI_BYTE, h->nbr[d], d, h->comm,
                       &req[SIDES + d]);
    if (!rc)
        rc = MPI_Waitall(2 * SIDES, req, h->ignore);
    h->ghost = h->recv;
    return rc;
}

static int isend_step(struct halo *h)
{
    return exchange(h, h->size);
}

/* All ranks meet, and the data goes. */
static int fence_msgs_step(struct halo *h)
{
    int rc = MPI_Barrier(h->comm);

    return rc ? rc : exchange(h, h->size);
}

/* A word that the data may come, and the data. */
static int pscw_msgs_step(struct halo *h)
{
    int rc = exchange(h, 0);

    return rc ? rc : exchange(h, h->size);
}

/* One neighbour after the other: the data, and an answer. Then a notice for all. */
static int lock_msgs_step(struct halo *h)
{
    int rc = MPI_SUCCESS;

    for (int d = 0; d < SIDES && !rc; d++) {
        int to = h->nbr[d], from = h->nbr[halo_opposite(d)];

        rc = MPI_Sendrecv(h->send + (size_t)d * h->slot, (int)h->size, MPI_BYTE, to, d,
                          h->recv + (size_t)halo_opposite(d) * h->slot, (int)h->size, MPI_BYTE,
                          from, d, h->comm, MPI_STATUS_IGNORE);
        if (!rc)
            rc = MPI_Sendrecv(NULL, 0, MPI_BYTE, from, d, NULL, 0, MPI_BYTE, to, d, h->comm,
                              MPI_STATUS_IGNORE);
    }
    return rc ? rc : exchange(h, 0);
}

/* The data, an answer, a notice; each for all neighbours at once. */
static int lock_all_msgs_step(struct halo *h)
{
    int rc = exchange(h, h->size);

    if (!rc)
        rc = exchange(h, 0);
    return rc ? rc : exchange(h, 0);
}

static int fence_assert_step(struct halo *h)
{
    int rc = MPI_Win_fence(MPI_MODE_NOPRECEDE, h->data.win);

    if (!rc)
        rc = put_strips(h, 0);
    if (!rc)
        rc = MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED, h->data.win);
    return rc;
}

static int fence_step(struct halo *h)
{
    int rc = MPI_Win_fence(0, h->data.win);

    if (!rc)
        rc = put_strips(h, 0);
    if (!rc)
        rc = MPI_Win_fence(0, h->data.win);
    return rc;
}

static int fence_one_begin(struct halo *h)
{
    return MPI_Win_fence(MPI_MODE_NOPRECEDE, h->data.win);
}

static int fence_one_step(struct halo *h)
{
    int rc = put_strips(h, (unsigned)(h->step & 1));

    if (!rc)
        rc = MPI_Win_fence(0, h->data.win);
    return rc;
}

static int fence_end(struct halo *h)
{
    return MPI_Win_fence(MPI_MODE_NOSUCCEED, h->data.win);
}

static int pscw_step(struct halo *h)
{
    int rc = MPI_Win_post(h->nbr_group, 0, h->data.win);

    if (!rc)
        rc = MPI_Win_start(h->nbr_group, 0, h->data.win);
    if (!rc)
        rc = put_strips(h, 0);
    if (!rc)
        rc = MPI_Win_complete(h->data.win);
    if (!rc)
        rc = MPI_Win_wait(h->data.win);
    return rc;
}

/* Tell the neighbour on this side that its ghost cells have arrived. */
static int send_flag(struct halo *h, int side)
{
    MPI_Aint disp = h->flag.disp[h->nbr[side]] + halo_opposite(side) * HALO_FLAG_STRIDE;

    if (h->notify == NOTIFY_PUT)
        return MPI_Put(&h->step, 1, MPI_UINT64_T, h->nbr[side], disp, 1, MPI_UINT64_T, h->flag.win);
    return MPI_Accumulate(&h->step, 1, MPI_UINT64_T, h->nbr[side], disp, 1, MPI_UINT64_T,
                          MPI_REPLACE, h->flag.win);
}

static bool flag_arrived(const struct halo *h, int side)
{
    const _Atomic uint64_t *flag = (const void *)(h->flag.base + side * HALO_FLAG_STRIDE);

    return atomic_load_explicit(flag, memory_order_acquire) >= h->step;
}

/* Wait for the flags of all sides; hosts that emulate one-sided calls with
 * messages move only inside MPI calls, hence MPI_Iprobe. */
static int wait_flags(struct halo *h, bool progress)
{
    for (int side = 0; side < SIDES; side++) {
        int spins = 0;

        while (!flag_arrived(h, side)) {
            int arrived, rc;

            if (h->yield)
                place_relax(true);
            if (!progress || (++spins < SPINS_PER_PROGRESS && !h->yield))
                continue;
            spins = 0;
            rc = MPI_Win_sync(h->flag.win);
            if (!rc)
                rc = MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, h->comm, &arrived, MPI_STATUS_IGNORE);
            if (rc)
                return rc;
        }
    }
    return MPI_SUCCESS;
}

/* All data is complete at the neighbours: notify them, wait to be notified. */
static int notify(struct halo *h)
{
    int rc = MPI_SUCCESS;

    if (h->notify == NOTIFY_BARRIER)
        return MPI_Barrier(h->comm);
    for (int d = 0; d < SIDES && !rc; d++)
        rc = send_flag(h, d);
    if (!rc)
        rc = MPI_Win_flush_all(h->flag.win);
    if (!rc)
        rc = wait_flags(h, true);
    return rc;
}

static int flags_begin(struct halo *h)
{
    return MPI_Win_lock_all(0, h->flag.win);
}

static int flags_end(struct halo *h)
{
    return MPI_Win_unlock_all(h->flag.win);
}

static int lock_step(struct halo *h)
{
    unsigned buffer = (unsigned)(h->step & 1);
    int rc = MPI_SUCCESS;

    for (int d = 0; d < SIDES && !rc; d++) {
        rc = MPI_Win_lock(MPI_LOCK_SHARED, h->nbr[d], 0, h->data.win);
        if (!rc)
            rc = put_strip(h, d, buffer);
        if (!rc)
            rc = MPI_Win_unlock(h->nbr[d], h->data.win);
    }
    h->ghost = (unsigned char *)h->data.base + buffer * SIDES * h->slot;
    return rc ? rc : notify(h);
}

static int lock_all_begin(struct halo *h)
{
    int rc = flags_begin(h);

    return rc ? rc : MPI_Win_lock_all(0, h->data.win);
}

static int lock_all_step(struct halo *h)
{
    int rc = put_strips(h, (unsigned)(h->step & 1));

    if (!rc)
        rc = MPI_Win_flush_all(h->data.win);
    if (!rc)
        rc = notify(h);
    if (!rc)
        rc = MPI_Win_sync(h->data.win);
    return rc;
}

static int lock_all_end(struct halo *h)
{
    int rc = MPI_Win_unlock_all(h->data.win);

    return rc ? rc : flags_end(h);
}

static void copy_strips(struct halo *h, unsigned buffer)
{
    size_t first = buffer * SIDES * h->slot;

    for (int d = 0; d < SIDES; d++)
        memcpy(h->peer_data[d] + first + (size_t)halo_opposite(d) * h->slot,
               h->send + (size_t)d * h->slot, h->size);
    h->ghost = (unsigned char *)h->data.base + first;
}

/* MPI 4.1, 12.7: with the unified model and MPI_Win_sync, stores and loads by
 * several processes are ordered; the flags carry the release. */
static int shm_step(struct halo *h)
{
    copy_strips(h, (unsigned)(h->step & 1));

    int rc = MPI_Win_sync(h->data.win);

    if (rc)
        return rc;
    for (int d = 0; d < SIDES; d++) {
        _Atomic uint64_t *flag = (void *)(h->peer_flag[d] + halo_opposite(d) * HALO_FLAG_STRIDE);

        atomic_store_explicit(flag, h->step, memory_order_release);
    }
    rc = wait_flags(h, false);
    return rc ? rc : MPI_Win_sync(h->data.win);
}

/* An MPI error whose text says what the kernel said. */
static int system_error(const char *call)
{
    char text[MPI_MAX_ERROR_STRING];
    int code = MPI_ERR_OTHER;

    snprintf(text, sizeof(text), "%s: %s", call, strerror(errno));
    MPI_Add_error_class(&code);
    MPI_Add_error_string(code, text);
    return code;
}

/* To an address in the neighbour of this side. */
static int write_to(const struct halo *h, int side, char *to, const void *from, size_t size)
{
    if (h->nbr[side] == h->rank) {
        memcpy(to, from, size);
        return MPI_SUCCESS;
    }
    for (size_t done = 0; done < size;) {
        struct iovec here = {(char *)(uintptr_t)from + done, size - done};
        struct iovec there = {to + done, size - done};
        ssize_t n = process_vm_writev(h->nbr_pid[side], &here, 1, &there, 1, 0);

        if (n <= 0)
            return system_error("process_vm_writev");
        done += (size_t)n;
    }
    return MPI_SUCCESS;
}

static int writev_step(struct halo *h)
{
    size_t first = (h->step & 1) * SIDES * h->slot;
    int rc = MPI_SUCCESS;

    for (int d = 0; d < SIDES && !rc; d++)
        rc = write_to(h, d, h->peer_data[d] + first + (size_t)halo_opposite(d) * h->slot,
                      h->send + (size_t)d * h->slot, h->size);
    for (int d = 0; d < SIDES && !rc; d++)
        rc = write_to(h, d, h->peer_flag[d] + halo_opposite(d) * HALO_FLAG_STRIDE, &h->step,
                      sizeof(h->step));
    h->ghost = (unsigned char *)h->data.base + first;
    return rc ? rc : wait_flags(h, false);
}

/* All ranks are here. What a rank stored before it comes before what another loads behind it. */
static void counter_barrier(struct halo *h)
{
    _Atomic uint64_t *counter = (void *)h->counter;
    uint64_t all = ++h->barriers * (uint64_t)h->nprocs;

    atomic_fetch_add_explicit(counter, 1, memory_order_acq_rel);
    for (int looks = 0; atomic_load_explicit(counter, memory_order_acquire) < all; looks++)
        place_relax(h->yield && looks >= LOOKS_PER_BARRIER);
}

static int barriers_step(struct halo *h)
{
    counter_barrier(h);
    copy_strips(h, 0);
    counter_barrier(h);
    return MPI_SUCCESS;
}

const struct halo_mode halo_modes[HALO_MODES] = {
    [MODE_ISEND] = {"isend", "MPI_Irecv, MPI_Isend, MPI_Waitall (the reference)", nothing,
                    isend_step, nothing},
    [MODE_FENCE_ASSERT] = {"fence_assert", "fence with asserts, puts, fence with asserts", nothing,
                           fence_assert_step, nothing},
    [MODE_FENCE] = {"fence", "fence, puts, fence, no asserts", nothing, fence_step, fence_end},
    [MODE_FENCE_ONE] = {"fence_one", "puts, one fence a step, two buffers in turn", fence_one_begin,
                        fence_one_step, fence_end},
    [MODE_PSCW] = {"pscw", "post, start, puts, complete, wait", nothing, pscw_step, nothing},
    [MODE_LOCK] = {"lock", "lock, put, unlock for each neighbour, then notification", flags_begin,
                   lock_step, flags_end},
    [MODE_LOCK_ALL] = {"lock_all", "puts and flush in one lock_all epoch, then notification",
                       lock_all_begin, lock_all_step, lock_all_end},
    [MODE_NOTIFIED] = {"notified", "notified puts of mpi-rma.h in one lock_all epoch",
                       notified_begin, notified_step, notified_end},
    [MODE_FENCE_MSGS] = {"fence_msgs", "messages: all meet, then isend", nothing, fence_msgs_step,
                         nothing},
    [MODE_PSCW_MSGS] = {"pscw_msgs", "messages: a post to each neighbour, then isend", nothing,
                        pscw_msgs_step, nothing},
    [MODE_LOCK_MSGS] = {"lock_msgs", "messages: data and answer for each neighbour, then a notice",
                        nothing, lock_msgs_step, nothing},
    [MODE_LOCK_ALL_MSGS] = {"lock_all_msgs", "messages: isend, answers, notices", nothing,
                            lock_all_msgs_step, nothing},
    [MODE_WRITEV] = {"writev", "process_vm_writev for each neighbour, then for its flag", nothing,
                     writev_step, nothing},
    [MODE_SHM] = {"shm", "copies and flags in MPI_Win_allocate_shared memory", lock_all_begin,
                  shm_step, lock_all_end},
    [MODE_BARRIERS] = {"barriers", "copies between two bare barriers: what two fences need",
                       lock_all_begin, barriers_step, lock_all_end},
};

const char *const halo_mode_name[HALO_MODES + 1] = {
    "isend",    "fence_assert", "fence",      "fence_one", "pscw",      "lock",
    "lock_all", "notified",     "fence_msgs", "pscw_msgs", "lock_msgs", "lock_all_msgs",
    "writev",   "shm",          "barriers",   NULL};
