/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtgen.h - random derived datatypes together with their own type maps.
 *
 * A generated type consists of a given number of "units": one predefined type,
 * or a struct of several (mixed). Two types of the same unit and the same number
 * of units have the same signature, whatever their layouts: one describes the
 * origin, the other the target. The map (where each unit lies) is built beside
 * the MPI calls from the standard's definitions (MPI 4.1, 5.1), so that it is an
 * oracle that shares no code with any datatype engine.
 *
 * No entry overlaps another, also when instances follow each other.
 */
#ifndef MRMA_TEST_DTGEN_H
#define MRMA_TEST_DTGEN_H

#include "mtcomm.h"

/* What a type is made of: a few predefined pieces. */
struct dt_unit {
    MPI_Datatype type;
    const char *name;
    bool basic;  /* one predefined type, so fit for accumulates */
    int npieces; /* bytes that carry data */
    int disp[4];
    int len[4];
    int extent;
    int size; /* sum of len */
    bool owned;
};
#define DT_UNITS 9
/* Make unit number which (0 .. DT_UNITS-1); dt_unit_free at the end. */
struct dt_unit dt_unit_make(int which);
void dt_unit_free(struct dt_unit *unit);

struct dt_type {
    MPI_Datatype type; /* committed; MPI_DATATYPE_NULL after dt_free */
    MPI_Aint *at;      /* displacement of each unit, in type map order */
    int units;
    MPI_Aint extent;
    MPI_Aint lo, hi;       /* lowest byte touched and one past the highest, one instance */
    bool stride_minus_one; /* a vector of stride -1 is in it */
    char text[200];        /* how it was made; cut where it is longer */
};

/* A random type of exactly `units` units of at most `span` bytes, committed. */
struct dt_type dt_random(struct mt_rng *rng, const struct dt_unit *unit, int units, MPI_Aint span);
void dt_free(struct dt_type *t); /* MPI_Type_free if not done yet, and the map */

/* Bytes before and after the buffer address that count instances touch. */
void dt_span(const struct dt_type *t, int count, MPI_Aint *lo, MPI_Aint *hi);

/* Between count instances at buf and packed bytes; by the map alone. */
void dt_pack(const struct dt_type *t, const struct dt_unit *unit, int count, const void *buf,
             void *packed);
void dt_unpack(const struct dt_type *t, const struct dt_unit *unit, int count, void *buf,
               const void *packed);

#endif
