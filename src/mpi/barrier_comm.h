/*
 * barrier_comm.h - the communicators on which MPI_Barrier serves packets.
 *
 * All processes of a communicator must go through a barrier in the same way: ours and the
 * host's do not meet each other. So the choice is made where all of them take part and agree,
 * at the creation of a window, for the communicator that it is created on, and holds as long as
 * that lives: other threads' windows may come and go in the middle of a barrier. The exception is
 * MPI_COMM_WORLD, chosen by a window of all its processes on another communicator: without
 * MPI_THREAD_MULTIPLE such a creation comes before or after a barrier, and the same in all
 * processes, or the program would not end with any MPI.
 *
 * The barrier's own messages go over a communicator with the same processes, which is made at
 * the first such barrier and freed with the user's. Where the host refuses it, to all or to some only, all learn
 * that and leave their barriers to the host.
 */
#ifndef MRMA_MPI_BARRIER_COMM_H
#define MRMA_MPI_BARRIER_COMM_H

#include <mpi.h>

#include <stdbool.h>

#include "base/atomic.h"
#include "mpi/export.h"
#include "rma/rma.h"

struct barrier_comm {
    _Atomic(MPI_Comm) handle;   /* the user's; BARRIER_NO_COMM: unused */
    _Atomic bool attended;      /* all its processes know */
    MPI_Group group;            /* of the user's, to make own of it; then MPI_GROUP_NULL */
    MPI_Comm own;               /* MPI_COMM_NULL: not made yet. By the thread in the barrier */
    int rank, size;             /* in own */
    bool refused;               /* it could not be made: the host's barrier from then on */
    struct barrier_comm *world; /* that of MPI_COMM_WORLD, where a window of this one is one of all */
    struct barrier_comm *next;
};

/* No communicator, not even MPI_COMM_NULL. */
#define BARRIER_NO_COMM ((MPI_Comm)(intptr_t)0x5bd1e995)

extern MRMA_HIDDEN _Atomic unsigned barrier_nattended;

/* Is there any? */
static inline bool barrier_comms_attended(void)
{
    return unlikely(atomic_load_explicit(&barrier_nattended, memory_order_relaxed) != 0);
}

/* That of comm if it was chosen, else NULL. Nothing is asked of the host: comm may be invalid. */
struct barrier_comm *barrier_comm_find(MPI_Comm comm);

/* Make room for what a window on comm, an intracommunicator, may decide: local, once for each.
 * MRMA_ERR_NO_MEM, _OTHER. */
int barrier_comm_prepare(MPI_Comm comm, struct barrier_comm **out);

/* After the creation of a window on it, at all its processes with the same word. */
void barrier_comm_attend(struct barrier_comm *c, enum win_attended attended);

/* Make c->own: collective over its processes. False, at all of them: not to be had. */
bool barrier_comm_open(struct barrier_comm *c);

#endif
