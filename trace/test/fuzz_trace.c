/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_trace.c - a libFuzzer target: files such as traced processes leave, with any records in any
 * order, to the whole of mpi-rma-trace: the check of the files, the archive, its reader, the wait
 * states and all reports.
 *
 * An input is records, 41 bytes each: a byte, then the record as it is in the file. Of the byte,
 * bit 0 is the rank, bit 1 is the agent's file, bit 7 takes the record's time as it is;
 * else its lowest 16 bits are the time since the record before. Without bit 6 kind, peer and window
 * are brought to where they make sense more often than not.
 *
 * The last byte says whether more is done than to read the files: an archive takes a thousand times
 * as long.
 *
 * No input may crash or loop, and an archive can be written of each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive.h"
#include "fail.h"
#include "report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RANKS = 2, FILES = 2 * RANKS, STEP = 1 + sizeof(struct trace_record) };

#define BEGIN UINT64_C(1000000000000) /* ns on the clocks when the files begin */

static char dir[64];

static void remove_dir(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    if (system(command) != 0)
        perror(dir);
}

static void make_dir(void)
{
    const char *tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    char path[96];

    if (*dir)
        return;
    snprintf(dir, sizeof dir, "%s/mpi-rma-fuzz.XXXXXX", tmp);
    FUZZ_CHECK(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/spool", dir);
    FUZZ_CHECK(mkdir(path, 0777) == 0);
    atexit(remove_dir);
}

static struct trace_record record(const uint8_t *step, uint64_t *now)
{
    struct trace_record r;

    memcpy(&r, step + 1, sizeof r);
    if (!(step[0] & 0x80))
        r.time = *now + (r.time & 0xffff);
    if (!(step[0] & 0x40)) {
        r.kind = (uint16_t)(1 + r.kind % TRACE_KINDS);
        if (r.kind == TRACE_ENTER || r.kind == TRACE_LEAVE)
            r.what = (uint16_t)(1 + r.what % (TRACE_CALL_LAST - 1));
        if (r.kind != TRACE_RANKS) {
            r.peer = r.peer % RANKS;
            r.win = 1 + r.win % 3;
        }
        if (r.kind == TRACE_WIN_CREATE) {
            r.arg = RANKS;
            r.peer = step[0] & 1;
            r.id = r.win;
        }
    }
    *now = r.time;
    return r;
}

static void write_files(const uint8_t *data, size_t size)
{
    FILE *file[FILES] = {NULL};
    uint64_t now[FILES];

    for (unsigned i = 0; i < FILES; i++) {
        struct spool_head head = {.magic = SPOOL_MAGIC,
                                  .version = SPOOL_VERSION,
                                  .record_size = sizeof(struct trace_record),
                                  .rank = i & 1,
                                  .nproc = RANKS,
                                  .thread = i >> 1,
                                  .thread_kind = i >> 1 ? SPOOL_AGENT : SPOOL_APPLICATION,
                                  .machine = 1 + (i & 1),
                                  .start = BEGIN};
        char path[96];

        snprintf(path, sizeof path, "%s/spool/%u-%u", dir, i & 1, i >> 1);
        file[i] = fopen(path, "wb");
        FUZZ_CHECK(file[i] && fwrite(&head, sizeof head, 1, file[i]) == 1);
        now[i] = head.start;
    }
    for (; size >= STEP; data += STEP, size -= STEP) {
        const unsigned i = data[0] & 3;
        const struct trace_record r = record(data, &now[i]);

        FUZZ_CHECK(fwrite(&r, sizeof r, 1, file[i]) == 1);
    }
    for (unsigned i = 0; i < FILES; i++)
        FUZZ_CHECK(fclose(file[i]) == 0);
}

static void report(const char *anchor, enum model model)
{
    struct trace trace;
    struct analysis analysis;
    struct causes causes;
    struct whatif whatif;
    const struct findings findings = {&analysis, &causes, &whatif};
    FILE *out = fopen("/dev/null", "w");

    FUZZ_CHECK(out != NULL);
    if (trace_read(&trace, anchor, NULL)) { /* there may be no event of RMA */
        analyse(&analysis, &trace, model);
        causes_find(&causes, &analysis);
        whatif_find(&whatif, &analysis, &causes, true);
        report_text(&findings, out);
        report_json(&findings, out);
        report_html(&findings, anchor, out);
        whatif_free(&whatif);
        causes_free(&causes);
        analysis_free(&analysis);
        trace_free(&trace);
    }
    fclose(out);
}

static void read_files(void)
{
    struct spool spool;
    struct job job;

    FUZZ_CHECK(spool_open(&spool, dir));
    job_read(&job, &spool);
    job_free(&job);
    spool_close(&spool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char anchor[128];

    make_dir();
    write_files(data, size);
    if (size == 0 || data[size - 1] % 16 != 0) {
        read_files();
        return 0;
    }
    FUZZ_CHECK(archive_write(dir));
    snprintf(anchor, sizeof anchor, "%s/" ARCHIVE_NAME ".otf2", dir);
    report(anchor, size & 1 ? MODEL_BASIC : MODEL_EXTENDED);
    return 0;
}
