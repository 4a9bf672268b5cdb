/*
 * barrier_refused.c - MPI_Barrier where the host refuses the library the communicator that it wants for it, to
 * the last rank only or to all: nobody waits for another way of synchronizing than the others', and what
 * comes to who waits is served.
 *
 * The host's function is found here first.
 */
#define _GNU_SOURCE 1
#include "mtest.h"

#include <dlfcn.h>

static bool refuse;
static int asked; /* how often the library has */

__attribute__((visibility("default"))) int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *created)
{
    int (*host)(MPI_Comm, MPI_Group, MPI_Comm *);
    int rc;

    *(void **)&host = dlsym(RTLD_NEXT, "PMPI_Comm_create");
    rc = host(comm, group, created);
    asked++;
    if (!refuse)
        return rc;
    *created = MPI_COMM_NULL; /* collective, so it could not be freed here alone */
    return MPI_ERR_OTHER;
}

static void barriers(const char *whom, bool here)
{
    const int64_t one = 1;
    const int last = mt_size - 1;
    int64_t sum = 0;
    struct mt_win w;
    MPI_Comm comm;

    mt_section("refused to %s", whom);
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    refuse = here;
    asked = 0;
    if (mt_win_make(&w, MT_CREATE_MALLOC, sizeof sum, 1, comm)) {
        for (int i = 0; i < 20; i++) {
            if (mt_rank == 0) { /* the others are in the barrier */
                MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, w.win));
                MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, last, 0, 1, MPI_INT64_T, MPI_SUM, w.win));
                MT_OK(MPI_Win_unlock(last, w.win));
            }
            MT_OK(MPI_Barrier(comm));
        }
        CHECK(asked == 1, "asked %d times", asked);
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, w.win));
        MT_OK(MPI_Get(&sum, 1, MPI_INT64_T, last, 0, 1, MPI_INT64_T, w.win));
        MT_OK(MPI_Win_unlock(last, w.win));
        CHECK(sum == 20, "%lld of 20 sums", (long long)sum);
        mt_win_free(&w);
    }
    MT_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    barriers("nobody", false);
    barriers("the last rank", mt_rank == mt_size - 1);
    barriers("all", true);
    barriers("nobody again", false);
    return MT_FINISH();
}
