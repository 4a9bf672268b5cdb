/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spool_process.c - see spool_file.h. No state, no locks.
 */
#include "trace/spool_file.h"

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where the process may run. Fails for machines with more processors than cpu_set_t has; then
 * nothing is recorded. */
static void put_processors(struct spool_head *head)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    head->cpus = (uint32_t)CPU_COUNT(&set);
    while (head->first_cpu < CPU_SETSIZE && !CPU_ISSET(head->first_cpu, &set))
        head->first_cpu++;
}

/* The last part of a path. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The name of the program; that of an interpreter's script, which is its first argument, behind
 * it. */
static void put_program(struct spool_head *head)
{
    char words[512] = "";
    const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, words, sizeof words - 2);

    if (fd >= 0)
        close(fd);
    const size_t first = strlen(words) + 1;
    const char *name = base_name(words);
    const char *script = n > 0 && (size_t)n > first ? words + first : "";
    const bool interpreted = strncmp(name, "python", 6) == 0 && *script != '\0' && *script != '-';
    snprintf(head->program, sizeof head->program, "%s", interpreted ? base_name(script) : name);
}

void spool_process_describe(struct spool_head *head)
{
    head->pid = (uint64_t)getpid();
    gethostname(head->hostname, sizeof head->hostname - 1);
    put_processors(head);
    put_program(head);
}
