/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fork.c - tells the engine of this process when the process forks.
 *
 * The handlers of pthread_atfork have no argument, so this is here. They are set when the library
 * is loaded: handlers that are set later are called before these in the parent, and after these in
 * the child, where they find memory that is the child's own already. The handlers are removed when
 * the library is unloaded. Calls that run no handlers (vfork, and posix_spawn, which system and
 * popen use) end in exec, and need none. The mutex keeps the engine from the fork's beginning to
 * its end.
 *
 * Neighbours: engine_get.c, which says which engine; engine.h, what it does.
 */
#include "mpi/process/fork.h"

#include <pthread.h>
#include <stddef.h>

#include "engine/engine.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct engine *watching;

static void before(void)
{
    pthread_mutex_lock(&lock);
    if (watching != NULL)
        engine_fork_prepare(watching);
}

static void after_in_parent(void)
{
    if (watching != NULL)
        engine_fork_parent(watching);
    pthread_mutex_unlock(&lock);
}

static void after_in_child(void)
{
    if (watching != NULL)
        engine_fork_child(watching);
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void set_handlers(void)
{
    (void)pthread_atfork(before, after_in_parent, after_in_child);
}

void fork_watch(struct engine *engine)
{
    pthread_mutex_lock(&lock);
    watching = engine;
    pthread_mutex_unlock(&lock);
}
