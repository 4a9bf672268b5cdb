/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provider_env.c - the variables that providers read from the environment while they are opened;
 * some are read only when libfabric is first used in this process.
 *
 * FI_UNIVERSE_SIZE: ofi_rxm has one completion queue, with room for all sends that the connections
 * of so many processes may have under way (128 each). It fails to enable an endpoint where that is
 * more than the card's queues may have: 32767 entries on software RoCE, some four million on cards.
 * So it is told the size of the job: raised for a small job, so that there is room for children
 * that the job may spawn, and limited for a large one, so that the endpoint can be enabled.
 *
 * FI_OFI_RXM_USE_SRX: one queue of receive buffers for all peers takes less memory than a queue for
 * each. Without it ofi_rxm uses a connection that it has freed if a message comes while its
 * endpoint is closed. FI_OFI_RXM_MSG_RX_SIZE: that queue gets 512 buffers of 16 KiB; ofi_rxm would
 * take 4096, which is 64 MiB in each process. Where the user has refused the one queue this
 * variable is not set, since each peer would have so many buffers, and the completion queue would
 * be too long.
 *
 * FI_MR_CACHE_MONITOR: verbs, cxi and efa keep memory registered beyond an operation, and must know
 * when it is unmapped. By default libfabric overwrites the beginnings of munmap and its kind for
 * that, and so does UCX, which MPICH and Open MPI use: whichever comes second disables the first,
 * and then puts go from and to pages that are no longer the program's. With the kernel's
 * userfaultfd several threads block one another for ever. So providers are told to keep no memory
 * registered.
 *
 * Locks: none, since nobody else has the netmod yet. Neighbours: select_provider.c, which has them
 * set; fabric.c, which takes them out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "netmod/ofi/ofi.h"

bool nm_shares_buffers(void)
{
    static const char *const no[] = {"0", "no", "n", "false", "off"}; /* as libfabric reads them */
    const char *value = getenv("FI_OFI_RXM_USE_SRX");
    for (size_t i = 0; value && i < sizeof no / sizeof no[0]; i++)
        if (strcasecmp(value, no[i]) == 0)
            return false;
    return true;
}

void nm_add_variables(struct nmofi *nm)
{
    enum { LEAST_UNIVERSE = 64, MOST_UNIVERSE = 16384 };
    char universe[48];
    const char *const variables[] = {universe, "FI_OFI_RXM_USE_SRX=1",
                                     "FI_MR_CACHE_MONITOR=disabled", "FI_OFI_RXM_MSG_RX_SIZE=512"};
    const unsigned all = sizeof variables / sizeof variables[0],
                   n = nm_shares_buffers() ? all : all - 1;
    unsigned processes = nm->opts.universe;
    if (processes < LEAST_UNIVERSE)
        processes = LEAST_UNIVERSE;
    else if (processes > MOST_UNIVERSE)
        processes = MOST_UNIVERSE;
    snprintf(universe, sizeof universe, "FI_UNIVERSE_SIZE=%u", processes);
    if (!environment_add(&nm->environment, variables, n))
        log_msg(nm->opts.log, LOG_LEVEL_WARN,
                "libfabric: no memory for the variables that its providers read");
}
