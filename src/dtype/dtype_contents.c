/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_contents.c - reading the envelope and contents of a datatype.
 *
 * The large-count functions are reached through weak references, so one source
 * serves hosts with and without them. They are used for every type where
 * present: the small-count ones refuse types made by a large-count constructor.
 */
#include "dtype/dtype_contents.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* MPI 4.0 functions; null when the host is older. */
extern int PMPI_Type_get_envelope_c(MPI_Datatype type, MPI_Count *nints, MPI_Count *naddrs,
                                    MPI_Count *ncounts, MPI_Count *ntypes, int *combiner)
    __attribute__((weak));
extern int PMPI_Type_get_contents_c(MPI_Datatype type, MPI_Count max_ints, MPI_Count max_addrs,
                                    MPI_Count max_counts, MPI_Count max_types, int ints[],
                                    MPI_Aint addrs[], MPI_Count counts[], MPI_Datatype types[])
    __attribute__((weak));

/* What the host returned, before it is put in order. */
struct raw {
    int combiner;
    MPI_Count nints, naddrs, ncounts, ntypes;
    int *ints;
    MPI_Aint *addrs;
    MPI_Count *counts;
};

static int read_envelope(MPI_Datatype type, struct raw *raw)
{
    int ni = 0, na = 0, nt = 0, rc;

    memset(raw, 0, sizeof(*raw));
    if (PMPI_Type_get_envelope_c) {
        rc = PMPI_Type_get_envelope_c(type, &raw->nints, &raw->naddrs, &raw->ncounts, &raw->ntypes,
                                      &raw->combiner);
        return rc == MPI_SUCCESS ? MRMA_SUCCESS : MRMA_ERR_TYPE;
    }
    rc = PMPI_Type_get_envelope(type, &ni, &na, &nt, &raw->combiner);
    raw->nints = ni;
    raw->naddrs = na;
    raw->ntypes = nt;
    return rc == MPI_SUCCESS ? MRMA_SUCCESS : MRMA_ERR_TYPE;
}

static int read_arguments(MPI_Datatype type, struct raw *raw, MPI_Datatype *types)
{
    int rc;

    if (PMPI_Type_get_contents_c)
        rc = PMPI_Type_get_contents_c(type, raw->nints, raw->naddrs, raw->ncounts, raw->ntypes,
                                      raw->ints, raw->addrs, raw->counts, types);
    else
        rc = PMPI_Type_get_contents(type, (int)raw->nints, (int)raw->naddrs, (int)raw->ntypes,
                                    raw->ints, raw->addrs, types);
    return rc == MPI_SUCCESS ? MRMA_SUCCESS : MRMA_ERR_TYPE;
}

/* Append n numbers, which are counts, or, where that is NULL, ints. */
static void put(int64_t *list, size_t *len, const MPI_Count *counts, const int *ints, MPI_Count n)
{
    for (MPI_Count i = 0; i < n; i++)
        list[(*len)++] = counts ? counts[i] : ints[i];
}

/* Large counts at the end of the list that are addresses in the small form. */
static MPI_Count trailing_addrs(const struct raw *raw)
{
    switch (raw->combiner) {
    case MPI_COMBINER_HVECTOR:
        return 1;
    case MPI_COMBINER_RESIZED:
        return 2;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
    case MPI_COMBINER_HINDEXED_BLOCK:
        return raw->counts[0];
    default:
        return 0;
    }
}

/* Arguments of a large-count constructor, in the small-count order. */
static void order_large(const struct raw *raw, struct dtype_contents *out)
{
    MPI_Count tail = trailing_addrs(raw);

    /* Where integers remain, they surround the counts: dimensions before, order after. */
    MPI_Count head = raw->combiner == MPI_COMBINER_DARRAY ? 3 : raw->nints ? 1 : 0;
    put(out->args, &out->nargs, NULL, raw->ints, head);
    put(out->args, &out->nargs, raw->counts, NULL, raw->ncounts - tail);
    put(out->args, &out->nargs, NULL, raw->ints + head, raw->nints - head);
    put(out->addrs, &out->naddrs, raw->counts + raw->ncounts - tail, NULL, tail);
}

/* The *_INTEGER combiners of removed Fortran calls keep addresses as integers. Configure has found
 * their values; a host that has none of them gives none. */
static void order_removed(struct dtype_contents *out)
{
    size_t tail = 1;

    if (out->combiner == HOST_COMBINER_HVECTOR_INTEGER) {
        out->combiner = MPI_COMBINER_HVECTOR;
    } else if (out->combiner == HOST_COMBINER_HINDEXED_INTEGER) {
        out->combiner = MPI_COMBINER_HINDEXED;
        tail = (size_t)out->args[0];
    } else if (out->combiner == HOST_COMBINER_STRUCT_INTEGER) {
        out->combiner = MPI_COMBINER_STRUCT;
        tail = (size_t)out->args[0];
    } else {
        return;
    }
    out->nargs -= tail;
    for (size_t i = 0; i < tail; i++)
        out->addrs[out->naddrs++] = out->args[out->nargs + i];
}

static int contents_order(MPI_Datatype type, struct raw *raw, struct dtype_contents *out)
{
    int err = read_arguments(type, raw, out->types);

    if (err != MRMA_SUCCESS)
        return err;
    out->ntypes = (size_t)raw->ntypes;
    if (raw->ncounts > 0) {
        order_large(raw, out);
        return MRMA_SUCCESS;
    }
    put(out->args, &out->nargs, NULL, raw->ints, raw->nints);
    for (MPI_Count i = 0; i < raw->naddrs; i++)
        out->addrs[out->naddrs++] = raw->addrs[i];
    order_removed(out);
    return MRMA_SUCCESS;
}

int dtype_contents_read(MPI_Datatype type, struct dtype_contents *out)
{
    struct raw raw;
    int err = read_envelope(type, &raw);

    *out = (struct dtype_contents){.combiner = raw.combiner};
    if (err != MRMA_SUCCESS || raw.combiner == MPI_COMBINER_NAMED)
        return err;

    size_t nargs = (size_t)(raw.nints + raw.naddrs + raw.ncounts), ntypes = (size_t)raw.ntypes;
    out->memory = malloc(2 * nargs * sizeof(int64_t) + ntypes * sizeof(MPI_Datatype) + 1);
    raw.ints = malloc((size_t)raw.nints * sizeof(int) + 1);
    raw.addrs = malloc((size_t)raw.naddrs * sizeof(MPI_Aint) + 1);
    raw.counts = malloc((size_t)raw.ncounts * sizeof(MPI_Count) + 1);
    if (out->memory && raw.ints && raw.addrs && raw.counts) {
        out->args = out->memory;
        out->addrs = out->args + nargs;
        out->types = (MPI_Datatype *)(out->addrs + nargs);
        err = contents_order(type, &raw, out);
    } else {
        err = MRMA_ERR_NO_MEM;
    }
    free(raw.counts);
    free(raw.addrs);
    free(raw.ints);
    if (err != MRMA_SUCCESS)
        dtype_contents_free(out);
    return err;
}

/* Named types and those of MPI_Type_create_f90_* are not handed out for freeing. */
static bool is_derived(MPI_Datatype type)
{
    struct raw raw;

    if (read_envelope(type, &raw) != MRMA_SUCCESS)
        return false;
    return raw.combiner != MPI_COMBINER_NAMED && raw.combiner != MPI_COMBINER_F90_REAL &&
           raw.combiner != MPI_COMBINER_F90_COMPLEX && raw.combiner != MPI_COMBINER_F90_INTEGER;
}

void dtype_contents_free(struct dtype_contents *contents)
{
    for (size_t i = 0; i < contents->ntypes; i++) {
        if (is_derived(contents->types[i]))
            PMPI_Type_free(&contents->types[i]);
    }
    free(contents->memory);
    *contents = (struct dtype_contents){0};
}
