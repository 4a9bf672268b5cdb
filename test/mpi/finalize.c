/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * finalize.c - windows that are freed late or never, and MPI_Abort in an epoch.
 *
 * finalize MODE, where MODE says what happens to windows of every flavour:
 *   late   they are freed as the last thing before MPI_Finalize, in reverse order
 *   never  they are left to MPI_Finalize, after their epochs were closed
 *   past   they are freed, and MPI_Finalize is called in the host itself, past the library, as by a
 *          program that has looked it up there
 *   abort  rank 1 calls MPI_Abort while all others are in epochs, some asleep in them
 * finalize.sh runs the last one and looks for what is left behind.
 */
#include "mtcomm.h"

#include <dlfcn.h>
#include <unistd.h>

static struct mt_win w[MT_KINDS];
static bool have[MT_KINDS];

static void use(enum mt_kind kind)
{
    int right = (w[kind].rank + 1) % w[kind].size,
        left = (w[kind].rank - 1 + w[kind].size) % w[kind].size;
    int64_t v = w[kind].rank + 1000, seen;

    mt_sync(&w[kind]);
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w[kind].win));
    MT_OK(MPI_Put(&v, 1, MPI_INT64_T, right, mt_disp(&w[kind], right, 0), 1, MPI_INT64_T,
                  w[kind].win));
    MT_OK(MPI_Win_unlock(right, w[kind].win));
    mt_sync(&w[kind]);
    memcpy(&seen, w[kind].base, sizeof seen);
    CHECK(seen == left + 1000, "%s: %ld", mt_kind_name(kind), (long)seen);
}

/* The call of rank 0 or of a later rank in the aborted epoch is fulfilled, or it says that rank 1
 * is lost: MPI_Abort ends rank 1 before the launcher ends the others, and whoever waits for rank
 * 1's lock may see that first (MPI 4.1, section 11.4.2, leaves it open). In that case the process
 * waits here for its end. */
static void in_aborted_epoch(int rc)
{
    int class = MPI_SUCCESS;

    if (rc == MPI_SUCCESS) {
        return;
    }
    MT_OK(MPI_Error_class(rc, &class));
    CHECK(class == MPI_ERR_OTHER, "lost rank 1: %s", mt_class_name(class));
    for (;;) {
        pause();
    }
}

/* Never returns: rank 1 aborts while rank 0 holds a lock that others wait for. */
static void abort_in_epoch(void)
{
    int64_t v = 1;

    MT_FOR_KINDS(kind)
    {
        if (have[kind] && (w[kind].rank == 0 || kind == MT_ALLOCATE)) { /* one goes on */
            in_aborted_epoch(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w[kind].win));
        }
    }
    if (mt_rank == 1) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (mt_rank == 0) { /* lets the others through, and stays in the locks of the other windows */
        in_aborted_epoch(MPI_Put(&v, 1, MPI_INT64_T, 0, mt_disp(&w[MT_ALLOCATE], 0, 0), 1,
                                 MPI_INT64_T, w[MT_ALLOCATE].win));
    }
    in_aborted_epoch(MPI_Win_unlock(0, w[MT_ALLOCATE].win));
    if (mt_rank > 1) { /* most often held by rank 0 for good: asleep in the call */
        in_aborted_epoch(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w[MT_CREATE_ALLOC_MEM].win));
    }
    for (;;) {
        pause();
    }
}

/* The host's MPI_Finalize. The library has no MPI_Get_version, so the object that has it is the
 * host's. */
static int (*finalize_of_host(void))(void)
{
    int (*finalize)(void) = NULL;
    void *version = dlsym(RTLD_DEFAULT, "PMPI_Get_version"), *host = NULL;
    Dl_info info;

    if (CHECK(version && dladdr(version, &info) != 0, "where is PMPI_Get_version?"))
        host = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (host)
        *(void **)&finalize = dlsym(host, "MPI_Finalize");
    CHECK(finalize != NULL, "no MPI_Finalize in the host");
    return finalize ? finalize : MPI_Finalize;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "late";
    int (*finalize)(void) = MPI_Finalize;

    MT_INIT(argc, argv);
    mt_section("mode %s", mode);
    if (strcmp(mode, "past") == 0)
        finalize = finalize_of_host();
    MT_FOR_KINDS(kind)
    {
        have[kind] = mt_win_make(&w[kind], kind, 100000, 1, MPI_COMM_WORLD);
        if (have[kind]) {
            use(kind);
        }
    }
    if (strcmp(mode, "abort") == 0) {
        abort_in_epoch();
    }
    CHECK(strcmp(mode, "late") == 0 || strcmp(mode, "never") == 0 || strcmp(mode, "past") == 0,
          "mode %s, expected late, never, past or abort", mode);
    for (int kind = MT_KINDS - 1; strcmp(mode, "never") != 0 && kind >= 0; kind--) {
        if (have[kind]) {
            mt_win_free(&w[kind]);
        }
    }
    return mt_finish_by(finalize);
}
