/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spool_read.c - see spool_read.h. It finds the files, maps them and checks their headers;
 * spool_check.c checks the records.
 */
#include "spool_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spool_check.h"
#include "trace/spool_pack.h"

enum { RANKS_MAX = 1 << 24 };

bool spool_is_there(const char *dir)
{
    char *path = text("%s/spool", dir);
    struct stat info;
    bool there = stat(path, &info) == 0 && S_ISDIR(info.st_mode);

    free(path);
    return there;
}

bool spool_is_newer(const char *dir, const struct timespec *than)
{
    char *path = text("%s/spool", dir);
    DIR *stream = opendir(path);
    bool newer = false;

    for (struct dirent *entry; stream && !newer && (entry = readdir(stream));) {
        struct stat info;

        if (entry->d_name[0] == '.' || fstatat(dirfd(stream), entry->d_name, &info, 0) != 0)
            continue;
        newer = info.st_mtim.tv_sec > than->tv_sec ||
                (info.st_mtim.tv_sec == than->tv_sec && info.st_mtim.tv_nsec > than->tv_nsec);
    }
    if (stream)
        closedir(stream);
    free(path);
    return newer;
}

/* head_wrong returns what is wrong with a header, or NULL if nothing is. */
static const char *head_wrong(const struct spool_head *head)
{
    if (head->magic == __builtin_bswap64(SPOOL_MAGIC))
        return "was written by a machine of the other byte order";
    if (head->magic != SPOOL_MAGIC)
        return "is no file of a traced process";
    if (head->version != SPOOL_VERSION)
        return "has another version of the format";
    if (head->record_size != sizeof(struct trace_record))
        return "has records of another size";
    if (head->nproc == 0 || head->nproc > RANKS_MAX || head->rank >= head->nproc)
        return "has a header with an impossible rank";
    if (head->thread_kind != SPOOL_APPLICATION && head->thread_kind != SPOOL_AGENT)
        return "has a header with an unknown kind of thread";
    if (!memchr(head->hostname, 0, SPOOL_TEXT) || !memchr(head->host_mpi, 0, SPOOL_TEXT) ||
        !memchr(head->program, 0, sizeof head->program))
        return "has a header with a name that does not end";
    return NULL;
}

/* map_file maps path into *file. It returns false, with *why set, where the file cannot be used. */
static bool map_file(struct spool_file *file, const char *path, const char **why)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &info) != 0) {
        *why = strerror(errno);
        if (fd >= 0)
            close(fd);
        return false;
    }
    *why = !S_ISREG(info.st_mode)                               ? "is no regular file"
           : (uint64_t)info.st_size < sizeof(struct spool_head) ? "ends within its header"
                                                                : NULL;
    if (*why) {
        close(fd);
        return false;
    }
    file->mapped = (size_t)info.st_size;
    file->map = mmap(NULL, file->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    close(fd);
    if (file->map == MAP_FAILED) {
        *why = strerror(errno);
        return false;
    }
    file->head = file->map;
    file->record = (struct trace_record *)((char *)file->map + sizeof(struct spool_head));
    *why = head_wrong(file->head);
    if (*why)
        munmap(file->map, file->mapped);
    return !*why;
}

static int by_rank_and_thread(const void *a, const void *b)
{
    const struct spool_head *x = ((const struct spool_file *)a)->head;
    const struct spool_head *y = ((const struct spool_file *)b)->head;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void drop(struct spool *spool, size_t at, const char *why)
{
    say("%s %s: left out", spool->file[at].path, why);
    munmap(spool->file[at].map, spool->file[at].mapped);
    free(spool->file[at].path);
    spool->n--;
    memmove(&spool->file[at], &spool->file[at + 1], (spool->n - at) * sizeof *spool->file);
    spool->left_out++;
}

/* The files of one job agree in its size, and no two have the same rank and thread. */
static void check_together(struct spool *spool)
{
    sort(spool->file, spool->n, sizeof *spool->file, by_rank_and_thread);
    for (size_t i = 0; i < spool->n;) {
        struct spool_file *file = &spool->file[i];

        if (i == 0)
            spool->nproc = file->head->nproc;
        if (file->head->nproc != spool->nproc)
            drop(spool, i, "is of a job with another number of processes");
        else if (i > 0 && by_rank_and_thread(file - 1, file) == 0)
            drop(spool, i, "has the rank and thread of another file");
        else
            i++;
    }
}

/* unpack puts all records that the file's records stand for in the place of these. */
static void unpack(struct spool_file *file)
{
    struct trace_record all[SPOOL_UNPACKED_MAX], *record;
    uint64_t before = 0;
    size_t n = 0;

    for (size_t i = 0; i < file->n; i++)
        n += spool_unpack(&file->record[i], &before, all);
    if (n == file->n)
        return;
    record = zalloc(n, sizeof *record);
    before = 0;
    n = 0;
    for (size_t i = 0; i < file->n; i++) {
        const unsigned some = spool_unpack(&file->record[i], &before, all);

        memcpy(&record[n], all, some * sizeof *record);
        n += some;
    }
    file->record = record;
    file->unpacked = true;
    file->n = n;
}

bool spool_open(struct spool *spool, const char *dir)
{
    *spool = (struct spool){.dir = text("%s/spool", dir)};
    DIR *stream = opendir(spool->dir);

    if (!stream) {
        say("%s: %s", spool->dir, strerror(errno));
        spool_close(spool);
        return false;
    }
    for (struct dirent *entry; (entry = readdir(stream));) {
        struct spool_file file = {0};
        const char *why;

        if (entry->d_name[0] == '.')
            continue;
        file.path = text("%s/%s", spool->dir, entry->d_name);
        if (!map_file(&file, file.path, &why)) {
            say("%s: %s; left out", file.path, why);
            free(file.path);
            spool->left_out++;
            continue;
        }
        spool->file = grow(spool->file, spool->n, &spool->cap, sizeof file);
        spool->file[spool->n++] = file;
    }
    closedir(stream);
    check_together(spool);
    for (size_t i = 0; i < spool->n; i++) {
        progress("checking the files of the processes", i, spool->n);
        spool->damaged += spool_check(&spool->file[i], spool->nproc);
        unpack(&spool->file[i]);
    }
    progress_end();
    if (spool->n > 0)
        return true;
    say("%s: no usable file of a traced process", spool->dir);
    spool_close(spool);
    return false;
}

enum { TEXT_PIECES = 4096 / TRACE_TEXT_MAX + 1 }; /* no path is longer */

char *spool_text(const struct spool_file *file, size_t at)
{
    char *all = text("%s", "");
    unsigned pieces = 0;

    for (; at < file->n && pieces < TEXT_PIECES; at++) {
        const struct trace_text *r = (const struct trace_text *)&file->record[at];

        if (r->kind == TRACE_WRITE) /* the time that the trace needed for itself */
            continue;
        if (r->kind != TRACE_TEXT)
            break;
        char *longer = text("%s%.*s", all, (int)r->length, r->text);
        free(all);
        all = longer;
        pieces++;
    }
    for (char *c = all; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    return all;
}

void spool_close(struct spool *spool)
{
    for (size_t i = 0; i < spool->n; i++) {
        if (spool->file[i].unpacked)
            free(spool->file[i].record);
        munmap(spool->file[i].map, spool->file[i].mapped);
        free(spool->file[i].path);
    }
    free(spool->file);
    free(spool->dir);
    *spool = (struct spool){0};
}
