/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spool_dir.c - which names in the directory of a trace are its own (spool_file.h). No state, no
 * locks.
 */
#include "trace/spool_file.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

static const char *digits(const char *s)
{
    while (isdigit((unsigned char)*s))
        s++;
    return s;
}

static bool is_ours(const char *name)
{
    const char *dash = digits(name);
    const char *end = *dash == '-' ? digits(dash + 1) : dash;
    return dash > name && *dash == '-' && end > dash + 1 && !*end;
}

void spool_dir_clear(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    if (!dir)
        return;
    while ((entry = readdir(dir)) != NULL)
        if (is_ours(entry->d_name))
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
}
