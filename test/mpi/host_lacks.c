/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_lacks.c - an MPI library that is older than the program: it has no sessions and no large
 * counts.
 *
 * host_lacks.sh runs this over a copy of the host that lacks PMPI_Session_init and PMPI_Put_c. The
 * process starts; a call that needs one of them is an error that says so, before MPI_Init, too; on
 * windows of the library large counts work as ever, since they need nothing of the host.
 *
 * The functions are looked up when the program runs, as the mpi.h of this host may lack them.
 */
#define _GNU_SOURCE 1
#include "mtest.h"

#include <dlfcn.h>

typedef int session_init(MPI_Info info, MPI_Errhandler errhandler, void *session);
typedef int put_large(const void *oaddr, MPI_Count ocount, MPI_Datatype otype, int target,
                      MPI_Aint disp, MPI_Count tcount, MPI_Datatype ttype, MPI_Win win);

static void *function(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);

    if (found == NULL) {
        fprintf(stderr, "no %s in this process\n", name);
        exit(1);
    }
    return found;
}

static void on_our_window(put_large *put)
{
    const int32_t v = 100 + mt_rank;
    const int right = (mt_rank + 1) % mt_size, left = (mt_rank + mt_size - 1) % mt_size;
    int32_t *base;
    MPI_Win win;

    mt_section("a window of the library");
    MT_OK(MPI_Win_allocate(sizeof v, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(put(&v, sizeof v, MPI_BYTE, right, 0, sizeof v, MPI_BYTE, win));
    MT_OK(MPI_Win_fence(0, win));
    CHECK(*base == 100 + left, "%d from rank %d", *base, left);
    MT_OK(MPI_Win_free(&win));
}

/* A call that is no business of the library goes to the host. */
static void on_another(put_large *put)
{
    const char v = 0;

    mt_section("the host's own");
    CHECK_ERR(put(&v, 1, MPI_BYTE, 0, 0, 1, MPI_BYTE, MPI_WIN_NULL), MPI_ERR_OTHER);
}

int main(int argc, char **argv)
{
    void *session[4] = {NULL}; /* as large as any host's */
    session_init *init;
    put_large *put;
    int before;

    *(void **)&init = function("MPI_Session_init");
    *(void **)&put = function("MPI_Put_c");
    before = init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session);
    MT_INIT(argc, argv);
    mt_section("a session before MPI_Init");
    CHECK(before == MPI_ERR_OTHER, "MPI_Session_init: %d, expected MPI_ERR_OTHER", before);
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    on_our_window(put);
    on_another(put);
    return MT_FINISH();
}
