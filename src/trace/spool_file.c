/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spool_file.c - see spool_file.h. Neighbours: record.c, whose threads own the files.
 */
#include "trace/spool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "trace/spool.h"

void spool_file_close(struct spool_file *file)
{
    if (file->piece)
        munmap(file->piece, SPOOL_PIECE);
    file->piece = NULL;
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

/* From there to end the file has room, all zeros: written, since the kernel makes many pages in one
 * call at less cost than each by itself when it is first touched. Errno, or 0. */
static int reserve(int fd, off_t from, off_t end)
{
    static const char zeros[1 << 14];
    struct iovec part[SPOOL_PIECE / sizeof zeros];

    while (from < end) {
        size_t left = (size_t)(end - from), n = 0;
        for (; left > 0; n++) {
            const size_t len = left < sizeof zeros ? left : sizeof zeros;
            part[n] = (struct iovec){(void *)(uintptr_t)zeros, len};
            left -= len;
        }
        const ssize_t done = pwritev(fd, part, (int)n, from);
        if (done < 0 && errno != EINTR)
            return errno;
        from += done > 0 ? done : 0;
    }
    return 0;
}

/* The piece that begins with the page of the next record. Errno, or 0. */
static int map_next(struct spool_file *file)
{
    const off_t page = (off_t)sysconf(_SC_PAGESIZE);
    const off_t end = file->offset + (off_t)file->used;
    const off_t first = end / page * page;
    const int full =
        reserve(file->fd, file->piece ? file->offset + SPOOL_PIECE : 0, first + SPOOL_PIECE);
    if (full)
        return full;
    void *at = mmap(NULL, SPOOL_PIECE, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, first);
    if (at == MAP_FAILED)
        return errno;
#ifdef MADV_POPULATE_WRITE
    /* Now, in one call, and not one by one by the records; an older kernel does that. */
    (void)madvise(at, SPOOL_PIECE, MADV_POPULATE_WRITE);
#endif
    /* A child of fork records nothing. Where the kernel does not know this, children must not call
     * MPI anyway. */
    (void)madvise(at, SPOOL_PIECE, MADV_DONTFORK);
    if (file->piece)
        munmap(file->piece, SPOOL_PIECE);
    file->piece = at;
    file->offset = first;
    file->used = (size_t)(end - first);
    return 0;
}

int spool_file_open(struct spool_file *file, const char *name)
{
    file->fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return file->fd < 0 ? errno : map_next(file);
}

void spool_file_set_head(int fd, size_t offset, uint64_t value, const struct log *log)
{
    if (pwrite(fd, &value, sizeof value, (off_t)offset) != sizeof value)
        log_msg(log, LOG_LEVEL_WARN, "MPIRMA_TRACE: the head of a file cannot be written: %s",
                strerror(errno));
}

/* The file ends where its records do. */
static void cut(const struct spool_file *file, const struct log *log)
{
    if (ftruncate(file->fd, file->offset + (off_t)file->used))
        log_msg(log, LOG_LEVEL_WARN, "MPIRMA_TRACE: a file keeps its unused part: %s",
                strerror(errno));
}

bool spool_file_grow(struct spool_file *file, const char *dir, const struct log *log)
{
    const int failed = map_next(file);
    if (!failed)
        return true;
    spool_file_set_head(file->fd, offsetof(struct spool_head, full), (uint64_t)failed, log);
    log_msg(log, LOG_LEVEL_ERROR,
            "MPIRMA_TRACE: no more space for the trace in %s: %s; this thread's events are not "
            "recorded from here on",
            dir, strerror(failed));
    cut(file, log);
    spool_file_close(file);
    return false;
}

void spool_file_finish(struct spool_file *file, const struct log *log)
{
    if (file->fd < 0)
        return;
    spool_file_set_head(file->fd, offsetof(struct spool_head, closed), 1, log);
    cut(file, log);
    spool_file_close(file);
}
