/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * procfile.c - see procfile.h.
 */
#include "base/procfile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_FIELD = 2 };

void procfile_text(const char *path, char *text, size_t len)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, len - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
}

/* The command's name stands in parentheses, and may have blanks and parentheses of its own. */
bool procfile_stat(const char *path, int field, uint64_t *value)
{
    char text[1024];
    procfile_text(path, text, sizeof text);
    const char *at = strrchr(text, ')');
    for (int i = NAME_FIELD; at && i < field; i++)
        at = strchr(at + 1, ' ');
    if (!at)
        return false;
    *value = strtoull(at, NULL, 10);
    return true;
}
