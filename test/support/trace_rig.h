/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_rig.h - a trace in a directory of its own (src/trace/record.h), and what a reader finds in
 * the file of one of its threads.
 */
#ifndef MRMA_TRACE_RIG_H
#define MRMA_TRACE_RIG_H

#include "test/support/base_helper.h"

#include <pthread.h>
#include <sys/stat.h>

#include "base/err.h"
#include "trace/record_parts.h"
#include "trace/spool_file.h"

enum { MANY = 100000 }; /* many pieces */

struct rig {
    char dir[64];
    struct log_pipe log;
    struct trace *tr;
    pthread_barrier_t recorded;
};

static struct trace_spec spec_of(const struct rig *rig)
{
    return (struct trace_spec){.dir = rig->dir,
                               .rank = 3,
                               .nproc = 7,
                               .machine = 0x1234567890,
                               .host_mpi = "a host",
                               .clock = clock_monotonic_ns,
                               .log = &rig->log.log};
}

static int rig_open(void **state)
{
    struct rig *rig = calloc(1, sizeof *rig);
    strcpy(rig->dir, "trace-test-XXXXXX");
    assert_non_null(mkdtemp(rig->dir));
    log_to_pipe(&rig->log, LOG_LEVEL_WARN);
    struct trace_spec spec = spec_of(rig);
    char host[] = "a host";
    spec.host_mpi = host;
    assert_int_equal(trace_open(&spec, &rig->tr), MRMA_SUCCESS);
    memset(host, '?', sizeof host); /* as what a caller's stack has had may be */
    *state = rig;
    return 0;
}

static int rig_close(void **state)
{
    struct rig *rig = *state;
    char spool[128];
    trace_close(rig->tr);
    snprintf(spool, sizeof spool, "%s/" SPOOL_DIR, rig->dir);
    spool_dir_clear(spool);
    assert_int_equal(rmdir(spool), 0); /* so no file is left but what has such a name */
    assert_int_equal(rmdir(rig->dir), 0);
    log_pipe_close(&rig->log);
    free(rig);
    return 0;
}

struct file {
    struct spool_head head;
    struct trace_record *rec;
    size_t n, bytes;
};

/* What a reader finds in the file of a thread: the records as far as they are whole. */
static struct file read_file(const struct rig *rig, unsigned thread)
{
    struct file f = {.n = 0};
    char name[128];
    struct stat st;
    snprintf(name, sizeof name, "%s/" SPOOL_DIR "/3-%u", rig->dir, thread);
    FILE *in = fopen(name, "r");
    if (!in || fstat(fileno(in), &st) || fread(&f.head, sizeof f.head, 1, in) != 1)
        abort();
    f.bytes = (size_t)st.st_size;
    f.rec = malloc(f.bytes);
    const size_t most = fread(f.rec, sizeof *f.rec, f.bytes / sizeof *f.rec, in);
    while (f.n < most && f.rec[f.n].kind != TRACE_END)
        f.n++;
    fclose(in);
    return f;
}

#endif
