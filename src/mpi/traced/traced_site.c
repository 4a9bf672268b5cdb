/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_site.c - see traced_site.h.
 *
 * A call from C returns into the program, which is seen by comparing the address with the object
 * that the thread has called from last. A call through the host's Fortran bindings returns into
 * these: then the stack is walked up to the first object that is no part of an MPI library, which
 * its file's name tells.
 *
 * State: the list of objects that were found. The list only grows, at its head: a reader follows it
 * without a lock, and if two objects had the same addresses, one after the other, it finds the
 * later one first. An address outside of all objects (of code that was made at run time) gets a
 * page of its own in the list, which is not recorded, so that the address is looked for only once.
 *
 * Locks: one for those who add. Neighbours: traced.c and traced_calls.c, which record calls.
 */
#include "mpi/traced/traced_site.h"

#include <execinfo.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "mpi/process/call_site.h"
#include "trace/record_parts.h"

enum { FRAMES_MAX = 32 };

struct object {
    struct object *next;
    uintptr_t begin, size, base;
    uint64_t build;
    bool is_mpi; /* the object is part of an MPI library; the program's call stands further up the
                    stack */
};

static _Atomic(struct object *) objects;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
static unsigned long long loaded; /* how many objects the linker had ever loaded; guarded by the
                                     lock */

static const struct object *find(uintptr_t address)
{
    const struct object *object = atomic_load_explicit(&objects, memory_order_acquire);

    while (object != NULL && address - object->begin >= object->size)
        object = object->next;
    return object;
}

/* add is called with the lock. Without memory the object stays unknown. */
static void add(struct object object)
{
    struct object *added = malloc(sizeof *added);

    if (added == NULL)
        return;
    object.next = atomic_load_explicit(&objects, memory_order_relaxed);
    *added = object;
    atomic_store_explicit(&objects, added, memory_order_release);
}

/* measure finds out where the object is in memory. */
static struct object measure(const struct dl_phdr_info *info)
{
    struct object object = {.base = info->dlpi_addr};
    uintptr_t low = UINTPTR_MAX, high = 0;

    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD)
            continue;
        low = part->p_vaddr < low ? part->p_vaddr : low;
        high = part->p_vaddr + part->p_memsz > high ? part->p_vaddr + part->p_memsz : high;
    }
    if (high <= low)
        return object;
    object.begin = info->dlpi_addr + low;
    object.size = high - low;
    for (unsigned i = 0; i < info->dlpi_phnum && object.build == 0; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_NOTE && part->p_vaddr >= low &&
            part->p_vaddr + part->p_memsz <= high)
            object.build =
                spool_build_id((const char *)info->dlpi_addr + part->p_vaddr, part->p_memsz);
    }
    return object;
}

/* The linker has no name for the program itself. If a library was loaded by a relative path, its
 * name is that path, which counts from the working directory of that time. */
static void path_of(const struct dl_phdr_info *info, char *path)
{
    const char *name = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";

    if ((*name == '/' && *info->dlpi_name) || realpath(name, path) == NULL) {
        strncpy(path, name, PATH_MAX - 1);
        path[PATH_MAX - 1] = '\0';
    }
}

/* see is called by dl_iterate_phdr, which goes on while it returns 0. */
static int see(struct dl_phdr_info *info, size_t size, void *trace)
{
    const bool counted = size >= offsetof(struct dl_phdr_info, dlpi_subs);
    struct object object;
    const struct object *known;
    static char path[PATH_MAX]; /* guarded by adding, which the caller holds */

    if (counted && info->dlpi_adds == loaded)
        return 1;
    object = measure(info);
    known = object.size ? find(object.begin) : NULL;
    if (object.size == 0 || (known != NULL && known->begin == object.begin &&
                             known->size == object.size && known->build == object.build))
        return 0;
    path_of(info, path);
    object.is_mpi = call_site_is_mpi(path);
    trace_add_object(trace,
                     &(struct trace_object){
                         .pages = (uint32_t)((object.size - 1) / TRACE_OBJECT_PAGE + 1),
                         .begin = object.begin,
                         .base = object.base,
                         .build = object.build,
                     },
                     path);
    add(object);
    return 0;
}

/* count is called by dl_iterate_phdr, and finds out how many objects were ever loaded. */
static int count(struct dl_phdr_info *info, size_t size, void *n)
{
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs))
        *(unsigned long long *)n = info->dlpi_adds;
    return 1;
}

void traced_site_objects(struct trace *tr)
{
    unsigned long long before = 0;

    pthread_mutex_lock(&adding);
    (void)dl_iterate_phdr(count, &before);
    (void)dl_iterate_phdr(see, tr);
    loaded = before; /* an object that came meanwhile is looked for again */
    pthread_mutex_unlock(&adding);
}

/* find_or_add returns the object of an address, and makes one up if the address is in none. NULL:
 * there is no memory. */
static const struct object *find_or_add(struct trace *tr, uintptr_t address)
{
    const struct object *object = find(address);

    if (object != NULL)
        return object;
    traced_site_objects(tr);
    pthread_mutex_lock(&adding);
    if (find(address) == NULL)
        add((struct object){.begin = address / TRACE_OBJECT_PAGE * TRACE_OBJECT_PAGE,
                            .size = TRACE_OBJECT_PAGE});
    pthread_mutex_unlock(&adding);
    return find(address);
}

/* up_the_stack returns the innermost address on the stack that is not in an MPI library; 0: there
 * is none. */
static __attribute__((noinline)) uintptr_t up_the_stack(struct trace *tr)
{
    void *frame[FRAMES_MAX];
    const int n = backtrace(frame, FRAMES_MAX);

    for (int i = 0; i < n; i++) {
        const struct object *object = find_or_add(tr, (uintptr_t)frame[i]);
        if (object != NULL && !object->is_mpi)
            return (uintptr_t)frame[i];
    }
    return 0;
}

uint64_t traced_site(struct trace *tr, const void *caller)
{
    static _Thread_local uintptr_t begin, size; /* of the object that was called from last */
    const uintptr_t address = (uintptr_t)caller;
    const struct object *object;

    if (likely(address - begin < size))
        return address;
    object = find_or_add(tr, address);
    if (object == NULL)
        return address;
    if (object->is_mpi)
        return up_the_stack(tr);
    begin = object->begin;
    size = object->size;
    return address;
}
