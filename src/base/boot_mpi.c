/*
 * boot_mpi.c - boot.h on MPI_Allgather and MPI_Allreduce of the host.
 *
 * Every exchange but the first is the plain collective. The first is always an
 * allgather of fixed blocks (a word that says whether the process refuses, and
 * room for the record), so a process that refuses for whatever reason meets the
 * others in one and the same collective, and all of them leave it with the error
 * of the lowest rank that refused. After that the communicator is not used any
 * more: further exchanges give the same error at once.
 *
 * Errors inside the collectives go to the error handler of the communicator, as
 * the host does it; what returns here as an error is MRMA_ERR_OTHER.
 * No locks: a value belongs to the thread that creates the window.
 */
#include "base/boot_mpi.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

struct first_block {
    int64_t refused; /* enum mrma_err */
    unsigned char record[BOOT_MPI_FIRST_BYTES];
};
static_assert(sizeof(struct first_block) == BOOT_MPI_FIRST_BYTES + 8, "no padding on the way");

/* Who refused? MRMA_SUCCESS, or the error of the lowest such rank. */
static int refusal(struct boot_mpi *bm, const struct first_block *blocks)
{
    for (int i = 0; i < bm->boot.nproc; i++) {
        if (blocks[i].refused != MRMA_SUCCESS) {
            bm->refused_by = i;
            return (int)blocks[i].refused;
        }
    }
    return MRMA_SUCCESS;
}

static int first_exchange(struct boot_mpi *bm, const void *mine, void *all, size_t len)
{
    struct first_block *blocks, own;
    int err = MRMA_ERR_OTHER;

    bm->begun = true;
    if (len > BOOT_MPI_FIRST_BYTES)
        return MRMA_ERR_INTERN;
    memset(&own, 0, sizeof own);
    own.refused = bm->refused;
    if (len > 0)
        memcpy(own.record, mine, len);
    blocks = malloc((size_t)bm->boot.nproc * sizeof *blocks);
    if (blocks == NULL)
        return MRMA_ERR_NO_MEM;
    if (PMPI_Allgather(&own, sizeof own, MPI_BYTE, blocks, sizeof own, MPI_BYTE, bm->comm) == MPI_SUCCESS)
        err = refusal(bm, blocks);
    for (int i = 0; err == MRMA_SUCCESS && len > 0 && i < bm->boot.nproc; i++)
        memcpy((char *)all + (size_t)i * len, blocks[i].record, len);
    free(blocks);
    return err;
}

static int boot_mpi_allgather(struct boot *boot, const void *mine, void *all, size_t len)
{
    struct boot_mpi *bm = boot->handle;

    if (!bm->begun)
        return bm->verdict = first_exchange(bm, mine, all, len);
    if (bm->verdict != MRMA_SUCCESS)
        return bm->verdict;
    if (PMPI_Allgather(mine, (int)len, MPI_BYTE, all, (int)len, MPI_BYTE, bm->comm) != MPI_SUCCESS)
        return MRMA_ERR_OTHER;
    return MRMA_SUCCESS;
}

/* The first exchange, when the caller asks for a maximum. */
static int first_max(struct boot_mpi *bm, int mine, int *max)
{
    int *all = malloc((size_t)bm->boot.nproc * sizeof *all), err;

    if (all == NULL)
        return MRMA_ERR_NO_MEM;
    err = first_exchange(bm, &mine, all, sizeof mine);
    if (err == MRMA_SUCCESS) {
        *max = all[0];
        for (int i = 1; i < bm->boot.nproc; i++)
            if (all[i] > *max)
                *max = all[i];
    }
    free(all);
    return err;
}

static int boot_mpi_allmax(struct boot *boot, int mine, int *max)
{
    struct boot_mpi *bm = boot->handle;
    int result;

    if (!bm->begun)
        return bm->verdict = first_max(bm, mine, max);
    if (bm->verdict != MRMA_SUCCESS)
        return bm->verdict;
    if (PMPI_Allreduce(&mine, &result, 1, MPI_INT, MPI_MAX, bm->comm) != MPI_SUCCESS)
        return MRMA_ERR_OTHER;
    *max = result;
    return MRMA_SUCCESS;
}

int boot_mpi_init(struct boot_mpi *bm, MPI_Comm comm)
{
    memset(bm, 0, sizeof *bm);
    bm->comm = comm;
    bm->refused_by = -1;
    bm->boot.allgather = boot_mpi_allgather;
    bm->boot.allmax = boot_mpi_allmax;
    bm->boot.handle = bm;
    if (PMPI_Comm_rank(comm, &bm->boot.rank) != MPI_SUCCESS)
        return MRMA_ERR_COMM;
    if (PMPI_Comm_size(comm, &bm->boot.nproc) != MPI_SUCCESS)
        return MRMA_ERR_COMM;
    return MRMA_SUCCESS;
}

void boot_mpi_refuse(struct boot_mpi *bm, int err)
{
    assert(err != MRMA_SUCCESS);
    bm->refused = err;
}

int boot_mpi_leave(struct boot_mpi *bm)
{
    if (!bm->begun)
        bm->verdict = first_exchange(bm, NULL, NULL, 0);
    return bm->refused;
}
