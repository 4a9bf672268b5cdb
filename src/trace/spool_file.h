/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spool_file.h - a file of a trace that one thread writes (spool.h), mapped by pieces.
 *
 * Behind used bytes the mapped piece and the rest of the file hold zeros, which a reader takes for
 * the end. The last page of a piece is mapped again as the first of the next, for a record may lie
 * in both.
 *
 * Locks: none; a file is its thread's own.
 */
#ifndef MRMA_TRACE_SPOOL_FILE_H
#define MRMA_TRACE_SPOOL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"
#include "trace/spool.h"

enum { SPOOL_PIECE = 1 << 18 }; /* bytes by which a file grows; a multiple of any page size */

struct spool_file {
    int fd;      /* -1: it is closed */
    char *piece; /* mapped, SPOOL_PIECE bytes from offset on; NULL: none */
    off_t offset;
    size_t used; /* bytes of the piece */
};

/* spool_file_open makes the file and maps its first piece, of which it leaves used at 0. Returns 0,
 * or the errno, with the file as it was found or open: spool_file_close closes it. */
int spool_file_open(struct spool_file *file, const char *name);

/* spool_file_grow maps the piece that begins with the page of the next record. Returns whether it
 * did; else the head has the reason, one message names dir, and the file is closed. */
bool spool_file_grow(struct spool_file *file, const char *dir, const struct log *log);

/* spool_file_finish notes in the head that the file has all that it will have, cuts the file behind
 * that and closes it. A closed file stays as it is. */
void spool_file_finish(struct spool_file *file, const struct log *log);

/* spool_file_close unmaps and closes the file, which keeps its length. */
void spool_file_close(struct spool_file *file);

/* spool_file_set_head sets a word of the head of an open file; the word has its place on the disk
 * since the file was begun. */
void spool_file_set_head(int fd, size_t offset, uint64_t value, const struct log *log);

/* ---- the directory of a job's files: spool_dir.c ---- */

#define SPOOL_DIR "spool"

/* spool_dir_clear removes the files of an earlier job: everything named RANK-THREAD in the
 * directory path, and nothing else. Files that can't be removed stay. */
void spool_dir_clear(const char *path);

/* ---- what the head says of the process that writes: spool_process.c ---- */

/* spool_process_describe sets in head the program's name, the process's number, its machine's name
 * and the processors on which it may run. What the kernel does not tell stays as it is. */
void spool_process_describe(struct spool_head *head);

#endif
