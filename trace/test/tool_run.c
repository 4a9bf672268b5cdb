/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tool_run.c - see tool_run.h.
 */
#include "tool_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

char *run_command(const char *command, int *status)
{
    FILE *stream = popen(command, "r");
    char *output = NULL;
    size_t n = 0, cap = 0;

    assert_non_null(stream);
    do {
        cap = cap ? 2 * cap : 1 << 16;
        output = realloc(output, cap);
        assert_non_null(output);
        n += fread(output + n, 1, cap - 1 - n, stream);
    } while (n == cap - 1);
    output[n] = 0;
    int code = pclose(stream);
    *status = WIFEXITED(code) ? WEXITSTATUS(code) : 1000 + WTERMSIG(code);
    return output;
}

char *run_tool(struct made_job *job, const char *arguments, int *status)
{
    char rest[1000], command[1100];

    snprintf(rest, sizeof rest, arguments, job->dir);
    snprintf(command, sizeof command, "./trace/mpi-rma-trace %s 2>&1", rest);
    return run_command(command, status);
}

char *run_report(struct made_job *job, const char *arguments)
{
    int status;

    make_write(job);
    char *output = run_tool(job, arguments, &status);
    if (status != 0)
        print_message("%s", output);
    assert_int_equal(status, 0);
    return output;
}

double json_number(const char *json, const char *object, const char *name)
{
    char key[64];

    snprintf(key, sizeof key, "\"%s\": {", object);
    const char *at = strstr(json, key);
    if (!at)
        print_message("no %s in\n%.3000s\n", object, json);
    assert_non_null(at);
    snprintf(key, sizeof key, "\"%s\": ", name);
    at = strstr(at, key);
    assert_non_null(at);
    return atof(at + strlen(key));
}
