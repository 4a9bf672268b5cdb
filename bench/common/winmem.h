/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * winmem.h - windows by the kind of their memory.
 *
 * One kind per way in which MPI 4.1, 12.2 lets a window get its memory. The
 * displacement unit is 1 everywhere; the displacement of byte 0 of a rank's
 * part is disp[rank], which is 0 except for dynamic windows. Windows return
 * errors (MPI_ERRORS_RETURN), so that what a host cannot do becomes a reason
 * in the table and not the end of the run.
 */
#ifndef BENCH_COMMON_WINMEM_H
#define BENCH_COMMON_WINMEM_H

#include <mpi.h>
#include <stddef.h>

enum winmem_kind {
    WINMEM_MALLOC,    /* MPI_Win_create over malloc */
    WINMEM_ALLOC_MEM, /* MPI_Win_create over MPI_Alloc_mem */
    WINMEM_ALLOCATE,  /* MPI_Win_allocate */
    WINMEM_SHARED,    /* MPI_Win_allocate_shared */
    WINMEM_DYNAMIC,   /* MPI_Win_create_dynamic, malloc attached */
    WINMEM_KINDS
};

/* Short names ("malloc", ...), ending with NULL, and headings. */
extern const char *const winmem_name[WINMEM_KINDS + 1];
extern const char *const winmem_title[WINMEM_KINDS];

struct winmem {
    MPI_Win win;
    MPI_Comm comm; /* of the window; not owned */
    enum winmem_kind kind;
    size_t size;    /* bytes at every rank */
    char *base;     /* this rank's part, page aligned where we choose, zeroed */
    MPI_Aint *disp; /* per rank */
};

/* Collective. 0, or -1 on every rank with the reason in reason. */
int winmem_open(struct winmem *w, enum winmem_kind kind, size_t size, MPI_Comm comm, char *reason,
                size_t len);

/* winmem_open_info is winmem_open with hints for the window. */
int winmem_open_info(struct winmem *w, enum winmem_kind kind, size_t size, MPI_Info info,
                     MPI_Comm comm, char *reason, size_t len);

/* Collective; every epoch must be closed. */
void winmem_close(struct winmem *w);

#endif
