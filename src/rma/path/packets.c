/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * packets.c - the ways to a target that does what packets ask for, and to one whose window memory
 * the network reaches by itself. All are functions of src/rma/origin (pair_ops.h). Packets through
 * shared memory and over the network have the same functions; the two tables only differ in the
 * name, which is the word of MPIRMA_PATH. No state, no locks.
 */
#include "rma/origin/outstanding.h"
#include "rma/origin/pair_ops.h"
#include "rma/origin/passive_epoch.h"
#include "rma/origin/rdma.h"
#include "rma/path/path.h"

const struct path_ops path_packets = {
    .name = "shm-packets",
    .operate = origin_operate,
    .flush = origin_flush,
    .unlock = origin_lock_end,
};

const struct path_ops path_net_packets = {
    .name = "net-packets",
    .operate = origin_operate,
    .flush = origin_flush,
    .unlock = origin_lock_end,
};

const struct path_ops path_rdma = {
    .name = "rdma",
    .operate = origin_rdma_operate,
    .flush = origin_flush,
    .unlock = origin_lock_end,
};
