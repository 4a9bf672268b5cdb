/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment.c - adds variables to the environment for a while (environment.h).
 *
 *   this thread                          another, in getenv
 *   fill the array and its texts         p = environ (either array)
 *   environ = with        (release)      walk p to its NULL, reading the texts
 *
 * Both arrays stay as they are and allocated, so the walk is right in either; the release makes
 * what was filled visible to whoever finds the new one, through the address that it has read. If
 * two changes come at once, the compare-and-swap of the second fails, and the second copies again
 * from what the first has made.
 */
#define _GNU_SOURCE 1
#include "sys/environment.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* has returns whether the environment has the variable of that "NAME=VALUE". */
static bool has(char *const *environment, const char *variable)
{
    const size_t name = (size_t)(strchr(variable, '=') - variable) + 1;
    for (; environment && *environment; environment++)
        if (strncmp(*environment, variable, name) == 0)
            return true;
    return false;
}

/* copy_with returns a copy of before to which those of the variables are added that it lacks, in
 * one block; NULL: there is no memory. */
static char **copy_with(char **before, const char *const *variables, unsigned n)
{
    size_t count = 0, text = 0;
    while (before && before[count])
        count++;
    for (unsigned i = 0; i < n; i++)
        text += strlen(variables[i]) + 1;
    char **with = malloc((count + n + 1) * sizeof *with + text);
    if (!with)
        return NULL;
    if (count)
        memcpy(with, before, count * sizeof *with);
    char *end = (char *)(with + count + n + 1);
    for (unsigned i = 0; i < n; i++) {
        if (has(before, variables[i]))
            continue;
        with[count++] = end;
        end = stpcpy(end, variables[i]) + 1;
    }
    with[count] = NULL;
    return with;
}

static bool lacks_one(char *const *environment, const char *const *variables, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (!has(environment, variables[i]))
            return true;
    return false;
}

bool environment_add(struct environment *e, const char *const *variables, unsigned n)
{
    char **now = __atomic_load_n(&environ, __ATOMIC_ACQUIRE);
    while (lacks_one(now, variables, n)) {
        char **with = copy_with(now, variables, n);
        if (!with)
            return false;
        if (__atomic_compare_exchange_n(&environ, &now, with, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            *e = (struct environment){.before = now, .with = with};
            return true;
        }
        free(with); /* nobody has seen with; now is the array of the other change */
    }
    return true;
}

void environment_restore(struct environment *e)
{
    char **with = e->with;
    if (with && !e->restored)
        e->restored = __atomic_compare_exchange_n(&environ, &with, e->before, false,
                                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

void environment_free(struct environment *e)
{
    if (!e->restored)
        return;
    free(e->with);
    *e = (struct environment){0};
}
