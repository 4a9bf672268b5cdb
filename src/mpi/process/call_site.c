/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call_site.c - see call_site.h.
 *
 * The stack is walked from this library up to the first address that is in no library of MPI. What
 * lies before this library belongs to a tool that stands in front of backtrace(), as
 * AddressSanitizer does. No state, no locks.
 * Neighbour: source_line.c, which finds file and line.
 */
#include "mpi/process/call_site.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/process/source_line.h"

enum { FRAMES_MAX = 32 };

bool call_site_is_mpi(const char *path)
{
    static const char *const after[] = {".", "-", "_", "ch", "fort", "cxx"};
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;

    if (strncmp(name, "libmpi", 6) != 0)
        return false;
    for (size_t i = 0; i < sizeof after / sizeof *after; i++)
        if (strncmp(name + 6, after[i], strlen(after[i])) == 0)
            return true;
    return false;
}

/* An address in a file that is in memory; path is to be freed. */
struct place {
    char *path;
    uintptr_t offset; /* as addr2line takes it */
};

static bool is_of_mpi(const void *address)
{
    Dl_info info;

    return dladdr((const char *)address - 1, &info) != 0 && info.dli_fname != NULL &&
           call_site_is_mpi(info.dli_fname);
}

/* place_of finds the place of the instruction before a return address. False: it is in no file, or
 * in a library of MPI. */
static bool place_of(const void *address, struct place *at)
{
    const uintptr_t call = (uintptr_t)address - 1;
    Dl_info info;

    if (dladdr((const void *)call, &info) == 0 || info.dli_fname == NULL ||
        call_site_is_mpi(info.dli_fname))
        return false;
    const ElfW(Ehdr) *head = info.dli_fbase;
    at->offset = head->e_type == ET_EXEC ? call : call - (uintptr_t)info.dli_fbase;
    at->path = realpath(info.dli_fname, NULL);
    if (at->path == NULL) /* the program, as it was called */
        at->path = realpath("/proc/self/exe", NULL);
    return at->path != NULL;
}

/* stands_apart returns whether this library is an object of its own: one that was linked into the
 * program cannot be told from it. */
static bool stands_apart(void)
{
    Dl_info info;

    return dladdr((const void *)(uintptr_t)&call_site_say, &info) != 0 && info.dli_fname != NULL &&
           call_site_is_mpi(info.dli_fname);
}

/* name_call sets *call to the name of the function of MPI in which a return address lies, if it
 * lies in one. */
static void name_call(const void *address, const char **call)
{
    Dl_info info;

    if (dladdr((const char *)address - 1, &info) == 0 || info.dli_sname == NULL)
        return;
    const char *name = info.dli_sname + (info.dli_sname[0] == 'P');
    if (strncmp(name, "MPI_", 4) == 0 || strncmp(name, "MPIRMA_", 7) == 0)
        *call = name;
}

/* *call becomes the function that the program has called, the outermost function of MPI on the
 * stack; it is unchanged where none has a name. */
static bool find(struct place *at, const char **call)
{
    void *frame[FRAMES_MAX];
    const int n = stands_apart() ? backtrace(frame, FRAMES_MAX) : 0;
    int i = 0;

    while (i < n && !is_of_mpi(frame[i]))
        i++;
    for (; i < n; i++) {
        if (place_of(frame[i], at))
            return true;
        name_call(frame[i], call);
    }
    return false;
}

/* A function of source_line.h. */
typedef bool line_finder(const char *path, uintptr_t offset, char *text, size_t len);

static void say_place(const struct place *at, line_finder *line, char *text, size_t len)
{
    const char *slash = strrchr(at->path, '/');

    if (!line(at->path, at->offset, text, len))
        snprintf(text, len, "%s+0x%lx", slash != NULL ? slash + 1 : at->path,
                 (unsigned long)at->offset);
}

void call_site_say(char *text, size_t len)
{
    const char *call = NULL;
    struct place at;

    text[0] = '\0';
    if (!find(&at, &call))
        return;
    say_place(&at, source_line_ask, text, len);
    free(at.path);
}

void call_site_say_call(char *text, size_t len)
{
    const char *call = NULL;
    char site[256];
    struct place at;

    text[0] = '\0';
    if (!find(&at, &call))
        return;
    say_place(&at, source_line_recall, site, sizeof site);
    free(at.path);
    snprintf(text, len, "%s%s%s", call != NULL ? call : "", call != NULL ? " at " : "", site);
}
