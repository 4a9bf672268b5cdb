/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * packets.c - the ways to a target that does what packets ask for, and to one whose window memory
 * the network reaches by itself. All are functions of src/rma/origin (issue.h). Packets through
 * shared memory and over the network have the same functions; the two tables only differ in the
 * name, which is the word of MPIRMA_PATH. No state, no locks.
 */
#include "rma/origin/issue.h"
#include "rma/path/path.h"

const struct path_ops path_packets = {
    .name = "shm-packets",
    .operate = issue_operate,
    .flush = issue_flush,
    .unlock = issue_lock_end,
};

const struct path_ops path_net_packets = {
    .name = "net-packets",
    .operate = issue_operate,
    .flush = issue_flush,
    .unlock = issue_lock_end,
};

const struct path_ops path_rdma = {
    .name = "rdma",
    .operate = issue_rdma,
    .flush = issue_flush,
    .unlock = issue_lock_end,
};
