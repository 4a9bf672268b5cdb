/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * carrier_openmpi.c - carrier.h on Open MPI.
 *
 * Of Open MPI's components for one-sided communication, only osc/sm makes shared windows. The
 * others refuse communicators of one process, or look for a network each time that a window is
 * made. Which components there are is settled when Open MPI is initialised, by the MCA parameter
 * "osc": from the environment, where mpiexec --mca puts it, else from a file. Under this library no
 * window of the host's own moves data, so for as long as initialisation takes all components but sm
 * are left out, whatever the parameter says. (They are left out by name, since Open MPI cannot be
 * initialised where a component that is asked for by name does not exist.) What the application
 * starts afterwards finds the environment as it was.
 *
 * With MPIRMA_DISABLE nothing is changed: then the host's windows are in use.
 *
 * Locks: one around what the environment was before. Neighbours: init.c and session.c, which
 * initialise the host; win.c, which makes windows.
 */
#include "mpi/host/carrier.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "mpi/host/host.h"

#define PARAMETER "OMPI_MCA_osc"

/* All but sm, of any release. */
static const char selection[] = "^monitoring,portals4,pt2pt,rdma,ucx";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned initialising; /* calls that are on their way */
static bool changed;          /* by the first of them */
static char *before;          /* the parameter before the first of them; NULL: it was not set */

void carrier_before_init(void)
{
    pthread_mutex_lock(&lock);
    if (initialising++ == 0) {
        const char *now = getenv(PARAMETER);

        before = now != NULL ? strdup(now) : NULL;
        changed = now == NULL || before != NULL; /* else it could not be put back */
        if (changed)
            setenv(PARAMETER, selection, 1);
    }
    pthread_mutex_unlock(&lock);
}

void carrier_after_init(void)
{
    pthread_mutex_lock(&lock);
    if (initialising > 0 && --initialising == 0) {
        if (before != NULL)
            setenv(PARAMETER, before, 1);
        else if (changed)
            unsetenv(PARAMETER);
        free(before);
        before = NULL;
    }
    pthread_mutex_unlock(&lock);
}

/* The parameter when the host was initialised, as its tools interface tells. */
static void ask_parameter(char *buf, int len)
{
    int level, index, count;
    MPI_T_cvar_handle handle;

    snprintf(buf, (size_t)len, "unknown");
    if (PMPI_T_init_thread(MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
        return;
    if (PMPI_T_cvar_get_index("osc", &index) == MPI_SUCCESS &&
        PMPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
        if (count <= len)
            PMPI_T_cvar_read(handle, buf);
        PMPI_T_cvar_handle_free(&handle);
    }
    PMPI_T_finalize();
}

int carrier_make(MPI_Comm self, MPI_Win *carrier, char *msg, size_t len)
{
    char text[MPI_MAX_ERROR_STRING] = "", selected[4096];
    MPI_Win made;
    void *base;
    int n, rc = mpi_host.Win_allocate_shared(0, 1, MPI_INFO_NULL, self, &base, &made);

    if (rc == MPI_SUCCESS) {
        *carrier = made;
        return MRMA_SUCCESS;
    }
    PMPI_Error_string(rc, text, &n);
    ask_parameter(selected, sizeof selected);
    snprintf(
        msg, len,
        "the host refused the window of one process that carries the handle: %s. It takes Open "
        "MPI's component osc/sm; the selection in force is osc=\"%.100s\": add sm to it (" PARAMETER
        ", mpiexec --mca osc, or a file of MCA parameters)",
        text, selected);
    return MRMA_ERR_OTHER;
}
