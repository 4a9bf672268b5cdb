/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_region.c - see traced_region.h.
 *
 * A name is recorded once, and has a number from then on. The names are in lists by their hash,
 * which only grow: a look-up takes no lock, and adding a name takes the lock. Its record is added
 * before it is in a list, so that no thread records a number without a name.
 *
 * Neighbours: record.h; calls/trace_region.c, which knows what is open in each thread.
 */
#include "mpi/traced/traced_region.h"

#include <mpi-rma.h>

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/process/state.h"
#include "trace/record_parts.h"

static_assert(MPIRMA_MAX_REGION_NAME == TRACE_REGION_NAME_MAX, "the header and the format agree");

enum { LISTS = 512 };

struct named {
    struct named *next;
    uint64_t number;
    char name[TRACE_REGION_NAME_MAX];
};

static _Atomic(struct named *) list[LISTS];
static uint64_t nnames; /* by the lock */
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

static void say_once(atomic_flag *said, const char *what)
{
    if (!atomic_flag_test_and_set(said))
        log_msg(engine_messages(), LOG_LEVEL_WARN, "MPIRMA_TRACE: %s", what);
}

/* copy_name cuts no character of UTF-8 in two. */
static void copy_name(char *to, const char *name)
{
    size_t n = strnlen(name, TRACE_REGION_NAME_MAX);

    if (n == TRACE_REGION_NAME_MAX)
        for (n--; n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80;)
            n--;
    memcpy(to, name, n);
    to[n] = '\0';
}

static unsigned list_of(const char *name)
{
    uint32_t hash = 2166136261u;

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash % LISTS;
}

static const struct named *find(unsigned at, const char *name)
{
    /* Pairs with the store in add. */
    const struct named *named = atomic_load_explicit(&list[at], memory_order_acquire);

    while (named != NULL && strcmp(named->name, name) != 0)
        named = named->next;
    return named;
}

/* add adds a name. NULL: there is no room for one more. */
static const struct named *add(struct trace *tr, unsigned at, const char *name)
{
    const uint64_t now = trace_now(tr);
    struct named *named = nnames < TRACE_REGION_NAMES ? malloc(sizeof *named) : NULL;

    if (named == NULL)
        return NULL;
    named->number = nnames++;
    strcpy(named->name, name); /* copy_name has made it */
    named->next = atomic_load_explicit(&list[at], memory_order_relaxed);
    trace_add(tr, &(struct trace_record){
                      .time = now, .kind = TRACE_REGION_NAME, .peer = -1, .id = named->number});
    trace_add_text(tr, now, name);
    /* Pairs with the load in find. */
    atomic_store_explicit(&list[at], named, memory_order_release);
    return named;
}

static const struct named *find_or_add(struct trace *tr, const char *name)
{
    const unsigned at = list_of(name);
    const struct named *named = find(at, name);

    if (named != NULL)
        return named;
    pthread_mutex_lock(&adding);
    named = find(at, name);
    if (named == NULL)
        named = add(tr, at, name);
    pthread_mutex_unlock(&adding);
    return named;
}

bool traced_region_begin(struct trace *tr, const char *name, unsigned depth)
{
    static atomic_flag too_deep = ATOMIC_FLAG_INIT, too_many = ATOMIC_FLAG_INIT;
    char copy[TRACE_REGION_NAME_MAX];

    if (trace_is_stopped(tr))
        return false;
    if (depth > TRACE_REGIONS_DEEP) {
        say_once(&too_deep, "there are too many regions one in another; the inner ones are not "
                            "recorded");
        return false;
    }
    copy_name(copy, name);
    const struct named *named = find_or_add(tr, copy);
    if (named == NULL) {
        say_once(&too_many, "there are too many names of regions; further ones are not recorded");
        return false;
    }
    trace_add(tr, &(struct trace_record){.time = trace_now(tr),
                                         .kind = TRACE_REGION_BEGIN,
                                         .peer = -1,
                                         .arg = depth,
                                         .id = named->number});
    return true;
}

void traced_region_end(struct trace *tr, unsigned depth)
{
    trace_add(tr, &(struct trace_record){
                      .time = trace_now(tr), .kind = TRACE_REGION_END, .peer = -1, .arg = depth});
}
