/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * boot.c - gathers records for a boot that has no better way (boot.h).
 *
 * The records are then one block from malloc, which is their handle. No state, no locks. Neighbour:
 * boot_mpi.c, the boot of real processes.
 */
#include "boot/boot.h"

#include <stdlib.h>

#include "base/err.h"

static void release(struct boot_records *recs)
{
    free(recs->handle);
}

int boot_gather(struct boot *boot, const void *mine, size_t len, struct boot_records *out)
{
    if (boot->gather)
        return boot->gather(boot, mine, len, out);
    void *all = malloc((size_t)boot->nproc * len);
    if (!all)
        return MRMA_ERR_NO_MEM;
    int err = boot->allgather(boot, mine, all, len);
    if (err) {
        free(all);
        return err;
    }
    *out = (struct boot_records){.all = all, .release = release, .handle = all};
    return MRMA_SUCCESS;
}

int boot_gather_into(struct boot *boot, const void *mine, size_t len, void *room,
                     struct boot_records *out)
{
    if (boot->gather)
        return boot->gather(boot, mine, len, out);
    const int err = boot->allgather(boot, mine, room, len);
    if (!err)
        *out = (struct boot_records){.all = room};
    return err;
}

/* If all digests are the same, the highest is also the lowest. A digest of 0 equals no other. */
void boot_digest_words(const struct boot *boot, bool missing, uint64_t words[BOOT_DIGEST_WORDS])
{
    words[0] = missing;
    words[1] = boot->digest;
    words[2] = ~boot->digest;
}

bool boot_alike(struct boot *boot, const uint64_t words[BOOT_DIGEST_WORDS])
{
    boot->alike = !words[0] && words[1] && words[1] == ~words[2];
    return words[0] != 0;
}

void boot_release(struct boot_records *recs)
{
    if (recs->release)
        recs->release(recs);
    *recs = (struct boot_records){.all = NULL};
}
