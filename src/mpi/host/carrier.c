/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * carrier.c - see carrier.h.
 *
 * Of Open MPI's components for one-sided communication, only osc/sm makes shared windows. The
 * others refuse communicators of one process, or look for a network each time that a window is
 * made. Which components there are is settled when Open MPI is initialised, by the MCA parameter
 * "osc": from the environment, where mpiexec --mca puts it, else from a file. Under this library no
 * window of the host moves data. So during initialisation all components but sm are left out,
 * whatever the parameter says. (They are left out by name, since Open MPI cannot be initialised if
 * a component that is asked for by name does not exist.) Programs that the application starts
 * afterwards find the environment as it was. With MPIRMA_DISABLE nothing is changed, since the
 * host's windows are in use then.
 *
 * Every window of MPICH duplicates its communicator, and a process has a fixed number of context
 * ids for communicators. MPI_Win_allocate_shared of MPICH ends the process in an assertion when
 * none is left, where MPI_Comm_dup returns an error. So a communicator is made and freed first, on
 * every host but Open MPI.
 *
 * Locks: one around what the environment was before. Neighbours: init.c and session.c, which
 * initialise the host; win.c, which makes windows; host_kind.c.
 */
#include "mpi/host/carrier.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "mpi/host/host.h"
#include "mpi/host/host_kind.h"

#define PARAMETER "OMPI_MCA_osc"

/* All but sm, of any release. */
static const char selection[] = "^monitoring,portals4,pt2pt,rdma,ucx";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned initialising; /* how many calls are on their way */
static bool changed;          /* the first of them has changed the environment */
static char *before;          /* the parameter before the first of them; NULL: it was not set */

void carrier_before_init(void)
{
    pthread_mutex_lock(&lock);
    if (initialising++ == 0) {
        const char *now = getenv(PARAMETER);

        before = now != NULL ? strdup(now) : NULL;
        /* If the parameter cannot be put back it is left as it is. */
        changed = host_is_openmpi() && (now == NULL || before != NULL);
        if (changed)
            setenv(PARAMETER, selection, 1);
    }
    pthread_mutex_unlock(&lock);
}

void carrier_after_init(void)
{
    pthread_mutex_lock(&lock);
    if (initialising > 0 && --initialising == 0) {
        if (changed && before != NULL)
            setenv(PARAMETER, before, 1);
        else if (changed)
            unsetenv(PARAMETER);
        free(before);
        before = NULL;
    }
    pthread_mutex_unlock(&lock);
}

/* ask_parameter reads the value that the parameter had when the host was initialised, which the
 * host's tools interface tells. */
static void ask_parameter(char *buf, int len)
{
    int level, index, count;
    MPI_T_cvar_handle handle;

    snprintf(buf, (size_t)len, "unknown");
    if (mpi_host.T_init_thread(MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
        return;
    if (PMPI_T_cvar_get_index("osc", &index) == MPI_SUCCESS &&
        PMPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
        if (count <= len)
            PMPI_T_cvar_read(handle, buf);
        PMPI_T_cvar_handle_free(&handle);
    }
    PMPI_T_finalize();
}

static int refused_by_openmpi(const char *reason, char *msg, size_t len)
{
    enum {
        LEN = 4096
    }; /* room for the longest of Open MPI's parameters; a thread may have little stack */
    char *selected = malloc(LEN);

    if (selected != NULL)
        ask_parameter(selected, LEN);
    snprintf(
        msg, len,
        "the host refused the window of one process that carries the handle: %s. It takes Open "
        "MPI's component osc/sm; the selection in force is osc=\"%.100s\": add sm to it (" PARAMETER
        ", mpiexec --mca osc, or a file of MCA parameters)",
        reason, selected != NULL ? selected : "unknown");
    free(selected);
    return MRMA_ERR_OTHER;
}

static int refused(int rc, char *msg, size_t len)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n;

    mpi_host.Error_string(rc, text, &n);
    if (host_is_openmpi())
        return refused_by_openmpi(text, msg, len);
    snprintf(msg, len,
             "the host gives no further communicator, and each window takes one of its context "
             "ids: free windows or communicators that are not needed any more. The host says: %s",
             text);
    return MRMA_ERR_OTHER;
}

int carrier_make(MPI_Comm self, MPI_Win *carrier, char *msg, size_t len)
{
    MPI_Comm probe;
    MPI_Win made;
    void *base;
    int rc = host_is_openmpi() ? MPI_SUCCESS : PMPI_Comm_dup(self, &probe);

    if (rc == MPI_SUCCESS && !host_is_openmpi())
        PMPI_Comm_free(&probe);
    if (rc == MPI_SUCCESS)
        rc = mpi_host.Win_allocate_shared(0, 1, MPI_INFO_NULL, self, &base, &made);
    if (rc != MPI_SUCCESS)
        return refused(rc, msg, len);
    *carrier = made;
    return MRMA_SUCCESS;
}
