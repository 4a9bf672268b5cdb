/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_memory.c - what the processes of a node ask for together in one creation is held against
 * what the node has: MPI_ERR_NO_MEM at all of them where each one's part would fit alone, and where
 * the sum of the sizes is more than any address. No page is touched.
 */
#include "mtest.h"

#include <stdint.h>

#define MIB ((MPI_Aint)1 << 20)

/* Bytes that the kernel says are there; rank 0's view, so that all ask for the same. */
static MPI_Aint available(void)
{
    char line[128];
    long kib = 0;
    long long bytes;
    FILE *f = fopen("/proc/meminfo", "r");

    while (f != NULL && kib == 0 && fgets(line, sizeof line, f) != NULL)
        (void)sscanf(line, "MemAvailable: %ld kB", &kib);
    if (f != NULL)
        fclose(f);
    bytes = (long long)kib * 1024;
    MPI_Bcast(&bytes, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    return (MPI_Aint)bytes;
}

enum kind { ALLOCATE, POPULATED, SHARED, NONCONTIG, KINDS };
static const char *const kind_name[KINDS] = {"MPI_Win_allocate", "populated MPI_Win_allocate",
                                             "MPI_Win_allocate_shared", "alloc_shared_noncontig"};

static int make(enum kind kind, MPI_Aint size, void **base, MPI_Win *win)
{
    MPI_Info info;
    int rc;

    MPI_Info_create(&info);
    if (kind == POPULATED)
        MPI_Info_set(info, "mpirma_populate", "true");
    if (kind == NONCONTIG)
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
    rc = kind < SHARED ? MPI_Win_allocate(size, 1, info, MPI_COMM_WORLD, base, win)
                       : MPI_Win_allocate_shared(size, 1, info, MPI_COMM_WORLD, base, win);
    MPI_Info_free(&info);
    return rc;
}

static void refused(enum kind kind, const char *what, MPI_Aint size)
{
    MPI_Win win = MPI_WIN_NULL;
    void *base = NULL;

    mt_section("%s, %s: %lld bytes", kind_name[kind], what, (long long)size);
    CHECK_ERR(make(kind, size, &base, &win), MPI_ERR_NO_MEM);
    CHECK(win == MPI_WIN_NULL && base == NULL, "a refused call has set its results");
    if (win != MPI_WIN_NULL)
        MPI_Win_free(&win);
}

static void works(enum kind kind, MPI_Aint size)
{
    MPI_Win win = MPI_WIN_NULL;
    void *base = NULL;

    mt_section("%s of %lld bytes", kind_name[kind], (long long)size);
    if (MT_OK(make(kind, size, &base, &win)))
        MT_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    const MPI_Aint there = available();
    const bool last = mt_rank == mt_size - 1;
    const int kinds = argc > 1 ? SHARED : KINDS; /* over pretended nodes nothing is shared */

    for (int kind = 0; kind < kinds; kind++) {
        works(kind, MIB);
        refused(kind, "each would fit alone", there / 4 * 3);
        refused(kind, "one has most", last ? there / 8 * 7 : there / 2);
        works(kind, 32 * MIB);
    }
    for (int kind = SHARED; kind < kinds; kind++) {
        if (mt_size == 4)
            refused(kind, "the sum is 0 in 64 bits", (MPI_Aint)1 << 62);
        refused(kind, "the highest sizes", INT64_MAX);
        refused(kind, "the last one's begins behind all", last ? 1 : INT64_MAX);
    }
    return MT_FINISH();
}
