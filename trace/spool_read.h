/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spool_read.h - the files that the traced processes have left, checked record by record.
 *
 * The files are mapped privately. A record that cannot be right (an unknown kind or call, a time
 * before its predecessor's or after its successor's, a list of ranks of no call) is reported by
 * file and offset, and its kind is overwritten in memory by SPOOL_DAMAGED: who walks the records
 * skips that kind and may believe all others. Records that stand for several (trace/spool_pack.h)
 * are replaced by these. A file whose header is wrong is reported and left
 * out.
 */
#ifndef MRMA_TRACE_SPOOL_READ_H
#define MRMA_TRACE_SPOOL_READ_H

#include <stdbool.h>
#include <time.h>

#include "trace/spool.h"
#include "util.h"

enum { SPOOL_DAMAGED = TRACE_KINDS };

struct spool_file {
    char *path;
    void *map;
    size_t mapped;                 /* bytes */
    const struct spool_head *head; /* at the map's begin */
    struct trace_record *record;   /* behind the header, or unpacked in memory of their own */
    bool unpacked;                 /* which record is then */
    size_t n;                      /* records up to the end, damaged ones included */
    uint64_t first, last;          /* times of the first and last good record; 0 without any */
};

struct spool {
    char *dir;               /* DIR/spool */
    struct spool_file *file; /* by rank, then by thread */
    size_t n, cap;
    uint32_t nproc;
    uint64_t damaged;  /* records left out */
    unsigned left_out; /* files left out */
};

/* spool_open maps and checks all files of DIR/spool. It returns false, with a message, where there
 * is no usable one. */
bool spool_open(struct spool *spool, const char *dir);
void spool_close(struct spool *spool);

/* spool_text returns the text of the TRACE_TEXT records from record[at] on, which may be empty; the
 * caller frees it. Letters that cannot be printed are replaced. */
char *spool_text(const struct spool_file *file, size_t at);

/* spool_is_there returns whether DIR has a folder of such files, and one of them is newer than a
 * file's time of change. */
bool spool_is_there(const char *dir);
bool spool_is_newer(const char *dir, const struct timespec *than);

#endif
