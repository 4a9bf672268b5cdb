/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * packets.c - two ways to a target: to one that does what packets ask for, and to one whose window
 * memory the network reaches by itself. Both are functions of src/rma/origin (issue.h). No state,
 * no locks.
 */
#include "rma/origin/issue.h"
#include "rma/path/path.h"

const struct path_ops path_packets = {
    .name = "packets",
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
