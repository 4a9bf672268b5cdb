/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archive_print.c - see archive_print.h.
 */
#include "archive_print.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tool_run.h"

int archive_lines(const char *output, const char *word, const char *part)
{
    int n = 0;

    for (const char *line = output; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *end = strchrnul(line, '\n');
        const char *found = strstr(line, part);

        n += strncmp(line, word, strlen(word)) == 0 && line[strlen(word)] == ' ' && found &&
             found < end;
    }
    return n;
}

char *archive_print(struct made_job *job)
{
    char command[400];
    int status;

    if (system("otf2-print --version >/dev/null 2>&1") != 0)
        skip();
    snprintf(command, sizeof command, "otf2-print '%s/traces.otf2' 2>&1", job->dir);
    char *output = run_command(command, &status);
    if (status != 0)
        print_message("%.2000s", output);
    assert_int_equal(status, 0);
    assert_null(strstr(output, "warning"));
    return output;
}

void archive_make(struct made_job *job)
{
    free(run_report(job, "--archive %s"));
}

void archive_assert_well_formed(const char *output)
{
    static char stack[512][64][48];
    static int depth[512];
    static uint64_t last[512];
    char word[64], region[48];
    unsigned location;
    uint64_t time;
    int events = 0;

    memset(depth, 0, sizeof depth);
    memset(last, 0, sizeof last);
    for (const char *line = output; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (sscanf(line, "%63s %u %" SCNu64, word, &location, &time) != 3 || location >= 512)
            continue;
        events++;
        assert_true(time >= last[location]);
        last[location] = time;
        const char *name = strstr(line, "Region: \"");
        if (!name)
            continue;
        assert_int_equal(sscanf(name, "Region: \"%47[^\"]", region), 1);
        if (strcmp(word, "ENTER") == 0) {
            assert_true(depth[location] < 64);
            strcpy(stack[location][depth[location]++], region);
        } else if (strcmp(word, "LEAVE") == 0) {
            assert_true(depth[location] > 0);
            assert_string_equal(stack[location][--depth[location]], region);
        }
    }
    assert_true(events > 0);
    for (int i = 0; i < 512; i++)
        assert_int_equal(depth[i], 0);
}

char *archive_make_and_print(struct made_job *job)
{
    archive_make(job);
    char *output = archive_print(job);
    archive_assert_well_formed(output);
    return output;
}
