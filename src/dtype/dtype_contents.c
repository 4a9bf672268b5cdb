/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_contents.c - reading the envelope and contents of a datatype.
 *
 * The large-count functions are weak references, so one source serves hosts with and without them.
 * They are used for every type where present: the small-count ones refuse types made by a
 * large-count constructor. A weak reference stays null where the program loads MPI after this
 * library, as an interpreter does, so the functions are looked up then.
 *
 * The arguments stay in the arrays that the host has filled, since they can be as large as the
 * data; only short arrays that are in another order are copied.
 *
 * No state, no locks. Neighbour: dtype_flatten.c.
 */
#define _GNU_SOURCE 1 /* RTLD_DEFAULT */
#include "dtype/dtype_contents.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "dtype/dtype_dialect.h"

/* MPI 4.0 functions; null when the host is older. */
extern int PMPI_Type_get_envelope_c(MPI_Datatype type, MPI_Count *nints, MPI_Count *naddrs,
                                    MPI_Count *ncounts, MPI_Count *ntypes, int *combiner)
    __attribute__((weak));
extern int PMPI_Type_get_contents_c(MPI_Datatype type, MPI_Count max_ints, MPI_Count max_addrs,
                                    MPI_Count max_counts, MPI_Count max_types, int ints[],
                                    MPI_Aint addrs[], MPI_Count counts[], MPI_Datatype types[])
    __attribute__((weak));

typedef __typeof__(PMPI_Type_get_envelope_c) envelope_fn;
typedef __typeof__(PMPI_Type_get_contents_c) contents_fn;

static envelope_fn *large_envelope(void)
{
    envelope_fn *found = PMPI_Type_get_envelope_c;

    if (!found)
        *(void **)&found = dlsym(RTLD_DEFAULT, "PMPI_Type_get_envelope_c");
    return found;
}

static contents_fn *large_contents(void)
{
    contents_fn *found = PMPI_Type_get_contents_c;

    if (!found)
        *(void **)&found = dlsym(RTLD_DEFAULT, "PMPI_Type_get_contents_c");
    return found;
}

/* The arguments as the host returned them, before they are put in order. */
struct raw {
    int combiner;
    MPI_Count nints, naddrs, ncounts, ntypes;
    int *ints;
    MPI_Aint *addrs;
    MPI_Count *counts;
};

static int read_envelope(MPI_Datatype type, struct raw *raw)
{
    envelope_fn *const envelope = large_envelope();
    int ni = 0, na = 0, nt = 0, rc;

    memset(raw, 0, sizeof(*raw));
    if (envelope) {
        rc = envelope(type, &raw->nints, &raw->naddrs, &raw->ncounts, &raw->ntypes, &raw->combiner);
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
    contents_fn *const contents = large_contents();
    int rc;

    if (contents)
        rc = contents(type, raw->nints, raw->naddrs, raw->ncounts, raw->ntypes, raw->ints,
                      raw->addrs, raw->counts, types);
    else
        rc = PMPI_Type_get_contents(type, (int)raw->nints, (int)raw->naddrs, (int)raw->ntypes,
                                    raw->ints, raw->addrs, types);
    return rc == MPI_SUCCESS ? MRMA_SUCCESS : MRMA_ERR_TYPE;
}

/* trailing_addrs returns how many large counts at the end of the list are addresses in the small
 * form. */
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

/* order_array puts the arguments of an array type in order, whose integers surround the counts:
 * dimensions before, order after. */
static int order_array(const struct raw *raw, struct dtype_contents *out)
{
    const size_t head = raw->combiner == MPI_COMBINER_DARRAY ? 3 : 1;
    const size_t nints = (size_t)raw->nints, ncounts = (size_t)raw->ncounts;
    int64_t *args = malloc((nints + ncounts) * sizeof *args), *to = args;

    if (!args)
        return MRMA_ERR_NO_MEM;
    for (size_t i = 0; i < head; i++)
        *to++ = raw->ints[i];
    for (size_t i = 0; i < ncounts; i++)
        *to++ = raw->counts[i];
    for (size_t i = head; i < nints; i++)
        *to++ = raw->ints[i];
    out->memory[3] = args;
    out->args = (struct dtype_numbers){.at = args, .n = nints + ncounts, .wide = true};
    return MRMA_SUCCESS;
}

/* order_large puts the arguments of a large-count constructor into the small-count order. */
static int order_large(const struct raw *raw, struct dtype_contents *out)
{
    const size_t tail = (size_t)trailing_addrs(raw), first = (size_t)raw->ncounts - tail;

    if (raw->nints)
        return order_array(raw, out);
    out->args = (struct dtype_numbers){.at = raw->counts, .n = first, .wide = true};
    out->addrs = (struct dtype_numbers){.at = raw->counts + first, .n = tail, .wide = true};
    return MRMA_SUCCESS;
}

/* The *_INTEGER combiners of removed Fortran calls keep addresses as integers. Configure has found
 * their values; a host without these combiners never returns them. */
static void order_removed(const struct raw *raw, struct dtype_contents *out)
{
    size_t tail = 1;

    if (out->combiner == HOST_COMBINER_HVECTOR_INTEGER) {
        out->combiner = MPI_COMBINER_HVECTOR;
    } else if (out->combiner == HOST_COMBINER_HINDEXED_INTEGER) {
        out->combiner = MPI_COMBINER_HINDEXED;
        tail = (size_t)raw->ints[0];
    } else if (out->combiner == HOST_COMBINER_STRUCT_INTEGER) {
        out->combiner = MPI_COMBINER_STRUCT;
        tail = (size_t)raw->ints[0];
    } else {
        return;
    }
    out->args.n -= tail;
    out->addrs = (struct dtype_numbers){.at = raw->ints + out->args.n, .n = tail, .wide = false};
}

/* set_arg replaces a number that the host has given, in this library's memory. */
static void set_arg(struct dtype_contents *out, size_t i, int64_t value)
{
    const int narrow = (int)value;

    if (out->args.wide)
        memcpy((char *)out->args.at + i * sizeof value, &value, sizeof value);
    else
        memcpy((char *)out->args.at + i * sizeof narrow, &narrow, sizeof narrow);
}

/* translate replaces the constants in the arguments of array types by those of mpi.h. */
static int translate(struct dtype_contents *out)
{
    const bool distributed = out->combiner == MPI_COMBINER_DARRAY;
    const size_t dims_at = distributed ? 2 : 0;
    struct dtype_dialect dialect;
    int err;

    if (!distributed && out->combiner != MPI_COMBINER_SUBARRAY)
        return MRMA_SUCCESS;
    const size_t ndims = (size_t)dtype_arg(out, dims_at), first = dims_at + 1;
    const size_t order_at = first + (distributed ? 4 : 3) * ndims;
    if (dtype_dialect_is_order(dtype_arg(out, order_at)))
        return MRMA_SUCCESS;
    err = dtype_dialect_learn(&dialect);
    if (err != MRMA_SUCCESS)
        return err;
    set_arg(out, order_at, dtype_dialect_order(&dialect, dtype_arg(out, order_at)));
    for (size_t d = first + ndims; distributed && d < first + 2 * ndims; d++) {
        set_arg(out, d, dtype_dialect_distribution(&dialect, dtype_arg(out, d)));
        set_arg(out, d + ndims, dtype_dialect_darg(&dialect, dtype_arg(out, d + ndims)));
    }
    return MRMA_SUCCESS;
}

static int contents_order(MPI_Datatype type, struct raw *raw, struct dtype_contents *out)
{
    _Static_assert(sizeof(MPI_Aint) == sizeof(int64_t), "a wide number");
    _Static_assert(sizeof(MPI_Count) == sizeof(int64_t), "a wide number");
    int err = read_arguments(type, raw, out->types);

    if (err != MRMA_SUCCESS)
        return err;
    out->ntypes = (size_t)raw->ntypes;
    if (raw->ncounts > 0) {
        err = order_large(raw, out);
        return err == MRMA_SUCCESS ? translate(out) : err;
    }
    out->args = (struct dtype_numbers){.at = raw->ints, .n = (size_t)raw->nints, .wide = false};
    out->addrs = (struct dtype_numbers){.at = raw->addrs, .n = (size_t)raw->naddrs, .wide = true};
    order_removed(raw, out);
    return translate(out);
}

int dtype_contents_read(MPI_Datatype type, struct dtype_contents *out)
{
    struct raw raw;
    int err = read_envelope(type, &raw);

    *out = (struct dtype_contents){.combiner = raw.combiner};
    if (err != MRMA_SUCCESS || raw.combiner == MPI_COMBINER_NAMED)
        return err;

    out->types = malloc((size_t)raw.ntypes * sizeof(MPI_Datatype) + 1);
    out->memory[0] = raw.ints = malloc((size_t)raw.nints * sizeof(int) + 1);
    out->memory[1] = raw.addrs = malloc((size_t)raw.naddrs * sizeof(MPI_Aint) + 1);
    out->memory[2] = raw.counts = malloc((size_t)raw.ncounts * sizeof(MPI_Count) + 1);
    if (out->types && raw.ints && raw.addrs && raw.counts)
        err = contents_order(type, &raw, out);
    else
        err = MRMA_ERR_NO_MEM;
    if (err != MRMA_SUCCESS)
        dtype_contents_free(out);
    return err;
}

void dtype_numbers_drop(const struct dtype_numbers *numbers, size_t from, size_t i)
{
    const size_t width = numbers->wide ? sizeof(int64_t) : sizeof(int);
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)numbers->at;
    const uintptr_t first = (at + from * width + page - 1) / page * page;
    const uintptr_t end = (at + i * width) / page * page;

    /* These pages lie within an allocation of this library, which stays allocated; only their
     * contents are dropped. */
    if (first < end)
        madvise((void *)first, end - first, MADV_DONTNEED);
}

/* is_derived returns whether a type must be freed: named types and those of MPI_Type_create_f90_*
 * must not. */
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
    for (size_t i = 0; i < sizeof contents->memory / sizeof contents->memory[0]; i++)
        free(contents->memory[i]);
    free(contents->types);
    *contents = (struct dtype_contents){0};
}
