/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * save_file.c - a file written whole or not at all (save_file.h). No state, no locks.
 */
#include "base/save_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool save_file_is_stream(const char *name)
{
    struct stat st;

    return strncmp(name, "/dev/", 5) == 0 || strncmp(name, "/proc/", 6) == 0 ||
           (stat(name, &st) == 0 && !S_ISREG(st.st_mode));
}

int save_file_write(int fd, const char *text, size_t len)
{
    while (len > 0) {
        const ssize_t n = write(fd, text, len);

        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0) {
            text += n;
            len -= (size_t)n;
        }
    }
    return 0;
}

/* write_and_close also closes the descriptor, since some file systems report errors only then. */
static int write_and_close(int fd, const char *text, size_t len)
{
    const int err = save_file_write(fd, text, len);

    return close(fd) == 0 || err != 0 ? err : errno;
}

static int save_beside(const char *name, const char *text, size_t len)
{
    char *part;
    int fd, err;

    if (asprintf(&part, "%s.%ld.part", name, (long)getpid()) < 0)
        return ENOMEM;
    fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    err = fd < 0 ? errno : write_and_close(fd, text, len);
    if (err == 0 && rename(part, name) != 0)
        err = errno;
    if (err != 0 && fd >= 0)
        unlink(part);
    free(part);
    return err;
}

int save_file(const char *name, const char *text, size_t len)
{
    char *real;
    int fd, err;

    if (!save_file_is_stream(name)) {
        real = realpath(name, NULL);
        err = save_beside(real != NULL ? real : name, text, len);
        free(real);
        return err;
    }
    fd = open(name, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
    return fd < 0 ? errno : write_and_close(fd, text, len);
}
