/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * winmem.c - see winmem.h.
 */
#define _GNU_SOURCE 1
#include "bench/common/winmem.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common/host.h"

#define PAGE 4096

const char *const winmem_name[WINMEM_KINDS + 1] = {"malloc", "alloc_mem", "allocate",
                                                   "shared", "dynamic",   NULL};
const char *const winmem_title[WINMEM_KINDS] = {
    "MPI_Win_create on malloc", "MPI_Win_create on MPI_Alloc_mem", "MPI_Win_allocate",
    "MPI_Win_allocate_shared", "MPI_Win_create_dynamic, malloc attached"};

/* Memory for the kinds that bring their own. NULL with the reason. */
static char *own_memory(enum winmem_kind kind, size_t size, char *reason, size_t len)
{
    void *mem = NULL;

    if (kind == WINMEM_ALLOC_MEM) {
        int rc = MPI_Alloc_mem((MPI_Aint)size, MPI_INFO_NULL, &mem);

        if (rc) {
            host_error_text("MPI_Alloc_mem", rc, reason, len);
            return NULL;
        }
    } else if (posix_memalign(&mem, PAGE, size)) {
        snprintf(reason, len, "no memory for %zu bytes", size);
        return NULL;
    }
    return mem;
}

static void free_memory(enum winmem_kind kind, char *mem)
{
    if (kind == WINMEM_ALLOC_MEM)
        MPI_Free_mem(mem);
    else if (kind == WINMEM_MALLOC || kind == WINMEM_DYNAMIC)
        free(mem);
}

static int create(struct winmem *w, MPI_Info info, char *reason, size_t len)
{
    const char *name = "MPI_Win_create";
    MPI_Aint size = (MPI_Aint)w->size;
    int rc;

    if (w->kind == WINMEM_ALLOCATE) {
        name = "MPI_Win_allocate";
        rc = MPI_Win_allocate(size, 1, info, w->comm, &w->base, &w->win);
    } else if (w->kind == WINMEM_SHARED) {
        name = "MPI_Win_allocate_shared";
        rc = MPI_Win_allocate_shared(size, 1, info, w->comm, &w->base, &w->win);
    } else if (w->kind == WINMEM_DYNAMIC) {
        name = "MPI_Win_create_dynamic";
        rc = MPI_Win_create_dynamic(info, w->comm, &w->win);
    } else {
        rc = MPI_Win_create(w->base, size, 1, info, w->comm, &w->win);
    }
    if (rc)
        host_error_text(name, rc, reason, len);
    return rc;
}

/* The displacements of all ranks' memory; attaches it on a dynamic window. */
static int publish(struct winmem *w, char *reason, size_t len)
{
    int nprocs, rc = MPI_SUCCESS;
    MPI_Aint mine = 0;

    MPI_Comm_size(w->comm, &nprocs);
    w->disp = calloc((size_t)nprocs, sizeof(*w->disp));
    if (!w->disp) {
        snprintf(reason, len, "no memory for %d displacements", nprocs);
        return -1;
    }
    if (w->kind != WINMEM_DYNAMIC)
        return 0;
    rc = MPI_Win_attach(w->win, w->base, (MPI_Aint)w->size);
    if (rc)
        host_error_text("MPI_Win_attach", rc, reason, len);
    MPI_Get_address(w->base, &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, w->disp, 1, MPI_AINT, w->comm);
    return rc ? -1 : 0;
}

int winmem_open(struct winmem *w, enum winmem_kind kind, size_t size, MPI_Comm comm, char *reason,
                size_t len)
{
    return winmem_open_info(w, kind, size, MPI_INFO_NULL, comm, reason, len);
}

int winmem_open_info(struct winmem *w, enum winmem_kind kind, size_t size, MPI_Info info,
                     MPI_Comm comm, char *reason, size_t len)
{
    bool own = kind == WINMEM_MALLOC || kind == WINMEM_ALLOC_MEM || kind == WINMEM_DYNAMIC;

    *w = (struct winmem){.win = MPI_WIN_NULL, .comm = comm, .kind = kind, .size = size};
    if (own)
        w->base = own_memory(kind, size, reason, len);
    if (host_any_failed(comm, own && !w->base, reason, len))
        goto no_memory;
    if (own)
        memset(w->base, 0, size);
    if (host_any_failed(comm, create(w, info, reason, len) != 0, reason, len))
        goto no_memory;
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    if (!own)
        memset(w->base, 0, size);
    if (host_any_failed(comm, publish(w, reason, len) != 0, reason, len)) {
        winmem_close(w);
        return -1;
    }
    return 0;
no_memory:
    if (own && w->base)
        free_memory(kind, w->base);
    w->base = NULL;
    return -1;
}

void winmem_close(struct winmem *w)
{
    if (w->kind == WINMEM_DYNAMIC) {
        MPI_Barrier(w->comm);
        MPI_Win_detach(w->win, w->base);
    }
    MPI_Win_free(&w->win);
    free_memory(w->kind, w->base);
    free(w->disp);
    w->base = NULL;
    w->disp = NULL;
}
