/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notified.c - see notified.h.
 *
 * A neighbour may be one step ahead, but no further, since it waits for this rank's strip: two
 * buffers in turn, and this rank has read one when it sends the strips of the next step. The number
 * of a notification says buffer and side, for notifications of two steps may be seen in any order.
 * The strips may be changed when the puts are complete here, for which a local flush waits.
 */
#define _GNU_SOURCE 1
#include "bench/halo/notified.h"

#include <mpi-rma.h>

#include "bench/common/host.h"

static __typeof__(MPIRMA_Put_notify) *put_notify;
static __typeof__(MPIRMA_Notify_wait) *notify_wait;
static __typeof__(MPIRMA_Notify_read) *notify_read;

int notified_begin(struct halo *h)
{
    MPI_Count value;

    host_function("MPIRMA_Put_notify", &put_notify);
    host_function("MPIRMA_Notify_wait", &notify_wait);
    host_function("MPIRMA_Notify_read", &notify_read);
    if (!put_notify || !notify_wait || !notify_read ||
        notify_read(h->data.win, MPI_ANY_SOURCE, 0, &value))
        return MPI_ERR_UNSUPPORTED_OPERATION;
    return MPI_Win_lock_all(0, h->data.win);
}

int notified_step(struct halo *h)
{
    const int number = (int)(h->step & 1) * SIDES;
    const size_t first = (size_t)number * h->slot;
    int rc = MPI_SUCCESS;

    for (int d = 0; d < SIDES && !rc; d++) {
        const int there = halo_opposite(d), to = h->nbr[d];
        const MPI_Aint disp = h->data.disp[to] + (MPI_Aint)(first + (size_t)there * h->slot);

        rc = put_notify(h->send + (size_t)d * h->slot, (int)h->size, MPI_BYTE, to, disp,
                        (int)h->size, MPI_BYTE, h->data.win, number + there);
    }
    for (int d = 0; d < SIDES && !rc; d++)
        rc = notify_wait(h->data.win, MPI_ANY_SOURCE, number + d, 1);
    h->ghost = (unsigned char *)h->data.base + first;
    return rc ? rc : MPI_Win_flush_local_all(h->data.win);
}

int notified_end(struct halo *h)
{
    return MPI_Win_unlock_all(h->data.win);
}
