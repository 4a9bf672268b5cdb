/*
 * barrier_comm.c - see barrier_comm.h.
 *
 * A list that only grows: entries of freed communicators are used again. One mutex guards
 * changes; who looks takes no lock, for the handle is written last and cleared first, and a
 * communicator in use cannot be freed meanwhile. The host tells that one is freed by the
 * delete call-back of an attribute, which no other communicator inherits.
 */
#include "mpi/barrier_comm.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "mpi/engine_get.h"

_Atomic unsigned barrier_nattended;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct barrier_comm *) comms;

/* NULL: unknown. */
static struct barrier_comm *find(MPI_Comm comm)
{
    struct barrier_comm *c = atomic_load_explicit(&comms, memory_order_acquire); /* pairs with take */

    while (c != NULL && atomic_load_explicit(&c->handle, memory_order_acquire) != comm)
        c = c->next;
    return c;
}

struct barrier_comm *barrier_comm_find(MPI_Comm comm)
{
    struct barrier_comm *c = find(comm);

    return c != NULL && atomic_load_explicit(&c->attended, memory_order_acquire) ? c : NULL;
}

/* MPI_Comm_delete_attr_function. */
static int on_comm_freed(MPI_Comm comm, int keyval, void *value, void *extra)
{
    struct barrier_comm *c = value;

    (void)keyval, (void)extra;
    if (atomic_exchange_explicit(&c->attended, false, memory_order_relaxed))
        atomic_fetch_sub_explicit(&barrier_nattended, 1, memory_order_relaxed);
    if (c->group != MPI_GROUP_NULL)
        PMPI_Group_free(&c->group);
    if (c->own != MPI_COMM_NULL && comm != MPI_COMM_WORLD) /* that is the end of everything */
        PMPI_Comm_free(&c->own);
    atomic_store_explicit(&c->handle, BARRIER_NO_COMM, memory_order_release);
    return MPI_SUCCESS;
}

static int watch(MPI_Comm comm, struct barrier_comm *c)
{
    int keyval;
    int rc = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_comm_freed, &keyval, NULL);

    if (rc != MPI_SUCCESS)
        return MRMA_ERR_OTHER;
    rc = PMPI_Comm_set_attr(comm, keyval, c);
    PMPI_Comm_free_keyval(&keyval);
    return rc == MPI_SUCCESS ? MRMA_SUCCESS : MRMA_ERR_OTHER;
}

/* An unused entry, on the list. Called with the lock. */
static struct barrier_comm *take(void)
{
    struct barrier_comm *c = find(BARRIER_NO_COMM);

    if (c != NULL || (c = calloc(1, sizeof *c)) == NULL)
        return c;
    atomic_init(&c->handle, BARRIER_NO_COMM);
    c->next = atomic_load_explicit(&comms, memory_order_relaxed);
    atomic_store_explicit(&comms, c, memory_order_release); /* pairs with find */
    return c;
}

/* The lock is held, but not while calling the host, which may call back. */
static int add(MPI_Comm comm, struct barrier_comm **out)
{
    struct barrier_comm *c;
    int err;

    pthread_mutex_lock(&lock);
    c = find(comm);
    if (c != NULL || (c = take()) == NULL) {
        pthread_mutex_unlock(&lock);
        *out = c;
        return c != NULL ? MRMA_SUCCESS : MRMA_ERR_NO_MEM;
    }
    c->group = MPI_GROUP_NULL;
    c->own = MPI_COMM_NULL;
    c->refused = false;
    c->world = NULL;
    atomic_store_explicit(&c->handle, comm, memory_order_release); /* pairs with find */
    pthread_mutex_unlock(&lock);
    err = PMPI_Comm_group(comm, &c->group) == MPI_SUCCESS ? watch(comm, c) : MRMA_ERR_OTHER;
    if (err != MRMA_SUCCESS) {
        if (c->group != MPI_GROUP_NULL)
            PMPI_Group_free(&c->group);
        atomic_store_explicit(&c->handle, BARRIER_NO_COMM, memory_order_release);
    }
    *out = c;
    return err;
}

/* Has comm the processes of MPI_COMM_WORLD, and do its barriers come before or after creations? */
static bool is_world(MPI_Comm comm)
{
    int up = 0, result = MPI_UNEQUAL;

    PMPI_Initialized(&up);
    if (!up || mpi_state.threads || comm == MPI_COMM_WORLD ||
        PMPI_Comm_compare(comm, MPI_COMM_WORLD, &result) != MPI_SUCCESS)
        return false;
    return result != MPI_UNEQUAL;
}

int barrier_comm_prepare(MPI_Comm comm, struct barrier_comm **out)
{
    int err = MRMA_SUCCESS;

    *out = find(comm);
    if (*out != NULL)
        return MRMA_SUCCESS;
    err = add(comm, out);
    if (err == MRMA_SUCCESS && is_world(comm))
        err = add(MPI_COMM_WORLD, &(*out)->world);
    return err;
}

static void attend(struct barrier_comm *c)
{
    if (!atomic_exchange_explicit(&c->attended, true, memory_order_release)) /* pairs with barrier_comm_find */
        atomic_fetch_add_explicit(&barrier_nattended, 1, memory_order_relaxed);
}

void barrier_comm_attend(struct barrier_comm *c, enum win_attended attended)
{
    if (attended != WIN_UNATTENDED)
        attend(c);
    if (attended == WIN_ATTENDED_WORLD)
        attend(c->world);
}

/* By a group, since a dup would run copy call-backs of the user. */
static int make_own(struct barrier_comm *c, MPI_Comm comm)
{
    int rc = PMPI_Comm_create(comm, c->group, &c->own);

    PMPI_Group_free(&c->group);
    return rc;
}

/* Has everybody got it? Without this, who has not would wait in the host's barrier for those who
 * wait in ours. */
static bool agree(MPI_Comm comm, bool made)
{
    int mine = made, all = 0;

    return PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all;
}

/* What the host says of refusals comes back here, not to the user's error handler. */
static bool open_quietly(struct barrier_comm *c, MPI_Comm comm)
{
    MPI_Errhandler handler;
    const bool quiet = PMPI_Comm_get_errhandler(comm, &handler) == MPI_SUCCESS;
    bool made;

    if (quiet)
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    made = agree(comm, make_own(c, comm) == MPI_SUCCESS);
    if (quiet) {
        PMPI_Comm_set_errhandler(comm, handler);
        PMPI_Errhandler_free(&handler);
    }
    return made;
}

bool barrier_comm_open(struct barrier_comm *c)
{
    if (c->own != MPI_COMM_NULL || c->refused)
        return !c->refused;
    c->refused = !open_quietly(c, atomic_load_explicit(&c->handle, memory_order_relaxed));
    if (c->refused) {
        c->own = MPI_COMM_NULL; /* not freed where it is there: that is collective */
        log_msg(engine_messages(), LOG_LEVEL_WARN,
                "MPI_Barrier: the host refused a communicator; packets are left to the agent thread");
        return false;
    }
    PMPI_Comm_set_errhandler(c->own, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(c->own, &c->rank);
    PMPI_Comm_size(c->own, &c->size);
    return true;
}
