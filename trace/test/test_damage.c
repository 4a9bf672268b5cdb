/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_damage.c - what mpi-rma-trace does with what killed processes leave, and with files that a
 * full or broken disk has cut or changed: it says so, and makes a well-formed archive of all else.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "archive_print.h"
#include "tool_run.h"

static void killed(void **state)
{
    struct made_job job;
    int status;

    (void)state;
    make_job(&job, 3); /* rank 2 has left nothing */
    for (uint32_t i = 0; i < 2; i++)
        make_create(&job, i, 1, 10);
    make_lock(&job, 0, 20, 22, 1, TRACE_LOCK_EXCLUSIVE);
    make_op(&job, 0, 23, 24, TRACE_PUT, 1, 64, TRACE_PACKETS);
    make_record(&job.app[1], 30, TRACE_ENTER)->what = TRACE_CALL_Win_fence;
    make_write(&job);
    char *said = run_tool(&job, "--recover %s", &status);
    assert_int_equal(status, 0);
    assert_non_null(strstr(said, "ends within MPI_Win_fence"));
    assert_non_null(strstr(said, "1 of 3 processes have left no usable file"));
    free(said);

    char *output = archive_print(&job);
    archive_assert_well_formed(output);
    assert_int_equal(archive_lines(output, "RMA_OP_COMPLETE_REMOTE", ""), 1);
    assert_int_equal(archive_lines(output, "RMA_RELEASE_LOCK", ""), 1);
    free(output);
    make_free(&job);
}

/* What is missing stands in the notes of all reports: a full disk, the file of an agent, calls that
 * the end of a process has cut off. */
static void what_is_missing_is_noted(void **state)
{
    static const char *const notes[] = {
        "rank 0: there was no more room for the trace of its thread 0 (No space left on device)",
        "rank 1: files of 1 of its 2 threads, the agent included, are missing",
        "rank 1: the records end within 1 calls"};
    struct made_job job;

    (void)state;
    make_job(&job, 2);
    for (uint32_t i = 0; i < 2; i++)
        make_create(&job, i, 1, 10);
    make_record(&job.app[1], 30, TRACE_ENTER)->what = TRACE_CALL_Win_fence;
    job.app[0].head.full = ENOSPC;
    job.app[1].head.threads = 2;
    char *json = run_report(&job, "--json %s");
    const char *list = strstr(json, "\"notes\": [");
    assert_non_null(list);
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        if (!strstr(list, notes[i]))
            print_message("no %s in %.2000s\n", notes[i], list);
        assert_non_null(strstr(list, notes[i]));
    }
    free(json);
    make_free(&job);
}

static void nothing_there(void **state)
{
    struct made_job job;
    int status;

    (void)state;
    make_job(&job, 1);
    char *said = run_tool(&job, "--archive %s", &status);
    assert_int_equal(status, 1);
    assert_non_null(strstr(said, "No such file"));
    free(said);
    make_write(&job);
    said = run_tool(&job, "--archive %s", &status);
    assert_int_equal(status, 1);
    assert_non_null(strstr(said, "no usable file"));
    free(said);
    make_free(&job);
}

/* Changes a file as a full disk or a broken one would: cuts it, or flips some bits. */
static void damage(struct made_job *job)
{
    char path[320];
    struct stat info;

    snprintf(path, sizeof path, "%s/spool/%u-0", job->dir, (unsigned)rand() % job->nproc);
    assert_int_equal(stat(path, &info), 0);
    if (rand() % 3 == 0) {
        assert_int_equal(truncate(path, rand() % info.st_size), 0);
        return;
    }
    FILE *stream = fopen(path, "r+b");
    assert_non_null(stream);
    for (int i = rand() % 20; i >= 0; i--) {
        long at = rand() % info.st_size;

        fseek(stream, at, SEEK_SET);
        int byte = fgetc(stream);
        fseek(stream, at, SEEK_SET);
        fputc(byte ^ (1 << rand() % 8), stream);
    }
    fclose(stream);
}

static void damaged_files(void **state)
{
    int status;

    (void)state;
    for (unsigned seed = 1; seed <= 60; seed++) {
        struct made_job job;

        make_random_program(&job, seed);
        make_write(&job);
        damage(&job);
        char *said = run_tool(&job, "--archive %s", &status);
        if (status > 1)
            print_message("seed %u: %s", seed, said);
        assert_uint_in_range(status, 0, 1);
        assert_true(status == 0 || *said);
        free(said);
        if (status == 0 && seed % 6 == 0) {
            char *output = archive_print(&job);
            archive_assert_well_formed(output);
            free(output);
        }
        make_free(&job);
    }
}

/* The damage is named by file and offset, and all else is still read. */
static void damage_is_named(void **state)
{
    struct made_job job;
    char expected[400], path[320];
    int status;

    (void)state;
    make_job(&job, 1);
    make_create_all(&job);
    for (int i = 0; i < 10; i++)
        make_call(&job, 0, 20 + i, 20.5 + i, TRACE_CALL_Win_shared_query);
    make_free_all(&job, 60);
    make_write(&job);
    snprintf(path, sizeof path, "%s/spool/0-0", job.dir);
    long offset = (long)(sizeof(struct spool_head) + 5 * sizeof(struct trace_record));
    FILE *stream = fopen(path, "r+b");
    assert_non_null(stream);
    fseek(stream, offset + (long)offsetof(struct trace_record, kind), SEEK_SET);
    fputc(0xee, stream);
    fclose(stream);
    char *said = run_tool(&job, "--archive %s", &status);
    assert_int_equal(status, 0);
    snprintf(expected, sizeof expected, "%s: damaged record at offset %ld", path, offset);
    assert_non_null(strstr(said, expected));
    free(said);
    char *output = archive_print(&job);
    archive_assert_well_formed(output);
    assert_uint_in_range(archive_lines(output, "ENTER", "MPI_Win_shared_query"), 9, 10);
    free(output);
    make_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed),          cmocka_unit_test(what_is_missing_is_noted),
        cmocka_unit_test(nothing_there),   cmocka_unit_test(damaged_files),
        cmocka_unit_test(damage_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
