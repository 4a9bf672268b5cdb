/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * split_type.c - MPI_Comm_split_type (MPI 4.1, 7.4.2), replaced so that its nodes are those of
 * windows.
 *
 * A program that splits by MPI_COMM_TYPE_SHARED expects to share memory in the communicator that it
 * gets. So this split, and splits by a type of hardware, follow what this library calls a node
 * (sys/node.h), and the pretended nodes of MPIRMA_RANKS_PER_NODE, as windows over the communicator
 * do (rma/create/node_targets.c). All other types, and intercommunicators, are the host's.
 *
 * A process may give MPI_UNDEFINED, whatever type the others give, so no process knows alone
 * whether this library or the host does the split. Therefore all processes first tell each other,
 * in one all-gather, and come to the same decision. Before that they find out whether all have the
 * library (agree_library.h).
 *
 * hwloc finds the hardware, from the processing units on which the calling thread may run. In a
 * guided split, by one type, a process belongs to the object that has all its processing units, or
 * to none. An unguided split takes the first level that divides the communicator, from the node
 * down to the core; so a program that splits again and again finally gets MPI_COMM_NULL. No state,
 * no locks.
 *
 * Neighbours: topo.c, which knows the hardware; node.c, which knows the node.
 */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/err.h"
#include "boot/boot_mpi.h"
#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/host/agree_library.h"
#include "mpi/process/errhan.h"
#include "mpi/process/state.h"
#include "sys/node.h"
#include "sys/topo.h"

#define RESOURCE_KEY "mpi_hw_resource_type"
#define RESOURCE_NODE "mpi_shared_memory" /* as the standard names it */
#define RESOURCE_URI "hwloc://"

/* From the large to the small; the node comes first, the others are hwloc's. */
static const char *const levels[] = {RESOURCE_NODE, "Package", "NUMANode", "L3Cache", "Core"};
enum { LEVELS = sizeof levels / sizeof levels[0] };

enum kind { KIND_NONE, KIND_HOST, KIND_ONE, KIND_UNGUIDED };

/* What a process tells the others. */
struct split_record {
    struct node_id node;
    int32_t pretended;      /* number of its node, if nodes are pretended */
    int32_t kind;           /* enum kind */
    int32_t err;            /* enum mrma_err */
    int32_t object[LEVELS]; /* object by level; KIND_ONE has only one. -1: it is in none */
};

/* read_resource returns whether info has a value of mpi_hw_resource_type that this library knows.
 * *type is hwloc's name for it, or NULL for the node. */
static bool read_resource(MPI_Info info, char *text, const char **type)
{
    int there = 0;

    if (info != MPI_INFO_NULL)
        PMPI_Info_get(info, RESOURCE_KEY, MPI_MAX_INFO_VAL, text, &there);
    if (!there)
        return false;
    *type =
        strncmp(text, RESOURCE_URI, strlen(RESOURCE_URI)) == 0 ? text + strlen(RESOURCE_URI) : text;
    if (strcmp(text, RESOURCE_NODE) == 0)
        *type = NULL;
    return *type == NULL || topo_is_type(*type);
}

static void tell_split(struct split_record *mine, int split_type, MPI_Info info)
{
    char text[MPI_MAX_INFO_VAL + 1];
    const char *type = NULL;

    if (split_type == MPI_UNDEFINED) {
        mine->kind = KIND_NONE;
    } else if (split_type == HOST_COMM_TYPE_HW_UNGUIDED) {
        mine->kind = KIND_UNGUIDED;
        topo_objects(levels + 1, LEVELS - 1, mine->object + 1);
    } else if (split_type == MPI_COMM_TYPE_SHARED ||
               ((split_type == HOST_COMM_TYPE_HW_GUIDED ||
                 split_type == HOST_COMM_TYPE_RESOURCE_GUIDED) &&
                read_resource(info, text, &type))) {
        mine->kind = KIND_ONE;
        if (type != NULL)
            topo_objects(&type, 1, mine->object);
    } else {
        mine->kind = KIND_HOST;
    }
}

static bool together(const struct split_record *a, const struct split_record *b, int level)
{
    return node_same(&a->node, &b->node) && a->pretended == b->pretended && a->object[level] >= 0 &&
           a->object[level] == b->object[level];
}

/* dividing_level returns the first level with an object that has some of the n processes, but not
 * all. -1: there is none. */
static int dividing_level(const struct split_record *all, int n)
{
    for (int level = 0; level < LEVELS; level++) {
        int inside = 0, with_first = 0;
        for (int i = 0; i < n; i++) {
            inside += all[i].kind != KIND_NONE && all[i].object[level] >= 0;
            with_first += all[i].kind != KIND_NONE && together(&all[0], &all[i], level);
        }
        if (inside > 0 && with_first < n)
            return level;
    }
    return -1;
}

/* color_of returns the lowest rank of the same object, or MPI_UNDEFINED. */
static int color_of(const struct split_record *all, int n, int rank, int level)
{
    if (level < 0 || all[rank].kind == KIND_NONE)
        return MPI_UNDEFINED;
    for (int i = 0; i < n; i++)
        if (all[i].kind != KIND_NONE && together(&all[i], &all[rank], level))
            return i;
    return MPI_UNDEFINED;
}

/* agree finds out what kind of split it is. MRMA_ERR_ARG if the processes do not agree. */
static int agree(const struct split_record *all, int n, enum kind *kind)
{
    *kind = KIND_NONE;
    for (int i = 0; i < n; i++) {
        if (all[i].err != MRMA_SUCCESS)
            return all[i].err;
        if (all[i].kind == KIND_NONE)
            continue;
        if (*kind != KIND_NONE && (int)*kind != all[i].kind)
            return MRMA_ERR_ARG;
        *kind = (enum kind)all[i].kind;
    }
    return MRMA_SUCCESS;
}

/* KIND_ONE and KIND_UNGUIDED. */
static int split(MPI_Comm comm, const struct split_record *all, enum kind kind, int key,
                 MPI_Info info, MPI_Comm *newcomm)
{
    int n, rank, level = 0, rc;

    PMPI_Comm_size(comm, &n);
    PMPI_Comm_rank(comm, &rank);
    if (kind == KIND_UNGUIDED)
        level = dividing_level(all, n);
    rc = PMPI_Comm_split(comm, color_of(all, n, rank, level), key, newcomm);
    if (rc == MPI_SUCCESS && kind == KIND_UNGUIDED && info != MPI_INFO_NULL &&
        *newcomm != MPI_COMM_NULL)
        rc = PMPI_Info_set(info, RESOURCE_KEY, levels[level]);
    return rc;
}

/* msg describes the error in mine, or is "". */
static int exchange(MPI_Comm comm, const struct split_record *mine, int type, int key,
                    MPI_Info info, const char *msg, MPI_Comm *newcomm)
{
    struct split_record *all;
    enum kind kind;
    int n, rc, err;

    PMPI_Comm_size(comm, &n);
    all = malloc((size_t)n * sizeof *all);
    if (all == NULL)
        return comm_fail(comm, "MPI_Comm_split_type", MRMA_ERR_NO_MEM,
                         "no memory for the records of all processes");
    rc = PMPI_Allgather(mine, sizeof *mine, MPI_BYTE, all, sizeof *all, MPI_BYTE, comm);
    if (rc == MPI_SUCCESS) {
        err = agree(all, n, &kind);
        if (err != MRMA_SUCCESS)
            rc = comm_fail(comm, "MPI_Comm_split_type", err,
                           msg[0] != '\0'
                               ? msg
                               : "the processes do not give the same type, or one of them refuses");
        else if (kind == KIND_ONE || kind == KIND_UNGUIDED)
            rc = split(comm, all, kind, key, info, newcomm);
        else
            rc = mpi_host.Comm_split_type(comm, type, key, info, newcomm);
    }
    free(all);
    return rc;
}

MRMA_PUBLIC int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                                     MPI_Comm *newcomm)
{
    struct split_record mine = {.node = node_self()};
    char msg[256] = "", absent[512];
    struct boot_mpi bm;
    struct conf conf;
    int inter = 0;

    if (engine_disabled() || comm == MPI_COMM_NULL ||
        (PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter))
        return mpi_host.Comm_split_type(comm, type, key, info, newcomm);
    if (boot_mpi_init(&bm, comm, (struct boot_mpi_host){mpi_host.Test, mpi_host.Wait}) !=
        MRMA_SUCCESS)
        return comm_fail(comm, "MPI_Comm_split_type", MRMA_ERR_COMM,
                         "the host tells no rank or size of the communicator");
    mine.err = conf_load(&conf, getenv, msg, sizeof msg);
    if (mine.err == MRMA_SUCCESS) {
        bm.report = (struct boot_report){
            .log = engine_messages(), .call = "MPI_Comm_split_type", .seconds = conf.hang_report};
        if (conf.ranks_per_node > 0)
            mine.pretended = bm.boot.rank / conf.ranks_per_node;
    }
    if (meet_all(comm, MEET_BEFORE_SPLIT, &bm.boot, &bm.report, absent, sizeof absent) !=
        MRMA_SUCCESS)
        return comm_fail_as(comm, REPORT_ALWAYS, "MPI_Comm_split_type", MRMA_ERR_OTHER, absent);
    tell_split(&mine, type, info);
    return exchange(comm, &mine, type, key, info, msg, newcomm);
}
MRMA_EXPORT_MPI(Comm_split_type);
