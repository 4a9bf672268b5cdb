/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_calls.c - see traced_calls.h, which has what the two libraries share.
 *
 * State: the other library's object, between begin and end, which one thread calls. Its functions
 * may run in any thread: enter is published last and taken back first.
 */
#include "mpi/traced/traced_calls.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#include "mpi/traced/traced.h"
#include "mpi/traced/traced_comms.h"
#include "mpi/traced/traced_messages.h"
#include "mpi/traced/traced_site.h"
#include "trace/record_parts.h"

static struct traced_calls *calls; /* NULL: the other library is not there */

static struct trace_record event(struct trace *tr, enum trace_kind kind, unsigned number)
{
    return (struct trace_record){.time = trace_now(tr),
                                 .kind = (uint16_t)kind,
                                 .what = (uint16_t)(TRACE_CALL_LAST + number),
                                 .peer = -1};
}

/* add_comm adds the processes with which a call can synchronize. It adds nothing for a communicator
 * that is not known, which is so at all its processes. */
static void add_comm(struct trace *tr, MPI_Comm comm, int peer, struct trace_record *entered)
{
    const struct traced_comm *known = traced_comms_find(tr, comm);

    if (known == NULL)
        return;
    entered->bytes = known->number;
    if (peer >= 0 && peer < known->size)
        entered->peer = peer;
}

static bool enter(unsigned number, const void *caller, const MPI_Comm *comm, int peer)
{
    struct trace *tr = mpi_trace;

    if (tr == NULL || trace_is_stopped(tr))
        return false;
    struct trace_record entered = event(tr, TRACE_ENTER, number);
    entered.id = traced_site(tr, caller);
    if (comm != NULL && trace_has_accesses(tr))
        add_comm(tr, *comm, peer, &entered);
    trace_add(tr, &entered);
    return true;
}

static void leave(unsigned number)
{
    struct trace *tr = mpi_trace;

    if (tr == NULL)
        return;
    const struct trace_record left = event(tr, TRACE_LEAVE, number);
    trace_add(tr, &left);
}

/* For dl_iterate_phdr: if object is this library, note where its instructions lie, and stop. */
static int find_text(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        const uintptr_t begin = object->dlpi_addr + part->p_vaddr;

        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) ||
            (uintptr_t)find_text - begin >= part->p_memsz)
            continue;
        calls->text = begin;
        calls->text_size = part->p_memsz;
        return 1;
    }
    return 0;
}

bool traced_calls_are_there(void)
{
    return dlsym(RTLD_DEFAULT, TRACED_CALLS_SYMBOL) != NULL;
}

void traced_calls_begin(struct trace *tr)
{
    calls = dlsym(RTLD_DEFAULT, TRACED_CALLS_SYMBOL);
    if (calls == NULL)
        return;
    for (unsigned i = 0; i < calls->n; i++)
        trace_add_name(tr, (uint16_t)(TRACE_CALL_LAST + i), calls->name[i]);
    (void)dl_iterate_phdr(find_text, NULL);
    calls->messages = traced_messages_begin();
    atomic_store_explicit(&calls->leave, leave, memory_order_relaxed);
    atomic_store_explicit(&calls->enter, enter, memory_order_release);
}

void traced_calls_end(void)
{
    if (calls == NULL)
        return;
    atomic_store_explicit(&calls->enter, NULL, memory_order_relaxed);
    traced_messages_end();
    /* leave stays, since calls of other threads may be open; it records nothing then */
    calls = NULL;
}
