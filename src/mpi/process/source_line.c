/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * source_line.c - see source_line.h.
 *
 * addr2line runs in a process of its own, without the libraries that are preloaded here. A limit of
 * 5 seconds ends it whatever happens, so that a pipe to it is read to its end in bounded time.
 *
 * State: the addresses that were asked for, each with the pipe from which its answer comes, or with
 * the answer. Nobody forgets an address: there are as many as calls of MPI that have waited long,
 * and beyond ASKED_MOST of them the lines of further ones are not looked for. Locks: one around all
 * of it, which is tried only. Neighbour: call_site.c, which finds the address.
 */
#define _GNU_SOURCE 1
#include "mpi/process/source_line.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FIRST_WAIT_MS: how long the first call for an address waits for the answer. */
enum { ASKED_MOST = 64, LINE_MAX_BYTES = 256, FIRST_WAIT_MS = 200 };

static struct asked {
    char *path;
    uintptr_t offset;
    FILE *from;                /* NULL: the answer has come */
    char line[LINE_MAX_BYTES]; /* "": there is none */
} asked[ASKED_MOST];
static unsigned nasked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* start starts addr2line. NULL: that is impossible, or the shell would not understand the path. */
static FILE *start(const char *path, uintptr_t offset)
{
    char command[1024];

    if (strchr(path, '\'') != NULL || strlen(path) > sizeof command / 2)
        return NULL;
    snprintf(command, sizeof command,
             "LD_PRELOAD= timeout 5 addr2line -e '%s' 0x%lx 2>/dev/null </dev/null", path,
             (unsigned long)offset);
    return popen(command, "re");
}

/* read_line reads a line such as app.c:41, or "??:0" where there is no debug information, and drops
 * the folders, and what some versions write behind the number. */
static bool read_line(FILE *from, char *text, size_t len)
{
    char line[1024];

    if (fgets(line, sizeof line, from) == NULL)
        return false;
    line[strcspn(line, " \n")] = '\0';
    const char *slash = strrchr(line, '/'), *name = slash != NULL ? slash + 1 : line;
    const char *number = strrchr(name, ':');
    if (name[0] == '?' || number == NULL || number[1] < '1' || number[1] > '9')
        return false;
    snprintf(text, len, "%s", name);
    return true;
}

bool source_line_ask(const char *path, uintptr_t offset, char *text, size_t len)
{
    FILE *from = start(path, offset);

    if (from == NULL)
        return false;
    const bool found = read_line(from, text, len);
    pclose(from);
    return found;
}

/* look takes the answer of a, if it comes within wait_ms. */
static void look(struct asked *a, int wait_ms)
{
    if (a->from == NULL)
        return;
    struct pollfd fd = {.fd = fileno(a->from), .events = POLLIN};
    if (poll(&fd, 1, wait_ms) <= 0)
        return;
    if (!read_line(a->from, a->line, sizeof a->line))
        a->line[0] = '\0';
    pclose(a->from);
    a->from = NULL;
}

/* find_asked returns the entry of an address, and begins to ask for a new one. NULL: there is no
 * room, or no memory. Called with the lock. */
static struct asked *find_asked(const char *path, uintptr_t offset)
{
    for (unsigned i = 0; i < nasked; i++)
        if (asked[i].offset == offset && strcmp(asked[i].path, path) == 0) {
            look(&asked[i], 0);
            return &asked[i];
        }
    char *copy = nasked < ASKED_MOST ? strdup(path) : NULL;
    if (copy == NULL)
        return NULL;
    struct asked *a = &asked[nasked++];
    *a = (struct asked){.path = copy, .offset = offset, .from = start(path, offset)};
    look(a, FIRST_WAIT_MS);
    return a;
}

bool source_line_recall(const char *path, uintptr_t offset, char *text, size_t len)
{
    bool found = false;

    if (pthread_mutex_trylock(&lock) != 0)
        return false;
    const struct asked *a = find_asked(path, offset);
    if (a != NULL && a->line[0] != '\0') {
        snprintf(text, len, "%s", a->line);
        found = true;
    }
    pthread_mutex_unlock(&lock);
    return found;
}
