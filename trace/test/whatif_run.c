/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * whatif_run.c - see whatif_run.h.
 */
#include "whatif_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tool_run.h"

double whatif_saves(const char *json, const char *kind)
{
    char begin[100];

    snprintf(begin, sizeof begin, "{\"kind\": \"%s\", \"saves\": ", kind);
    const char *at = strstr(json, begin);
    return at ? strtod(at + strlen(begin), NULL) / 1000 : 0;
}

void assert_near_us(const char *what, double seen, double expected)
{
    if (seen < 0.95 * expected || seen > 1.05 * expected)
        print_message("%s: %f us, expected %f\n", what, seen, expected);
    assert_true(seen >= 0.95 * expected && seen <= 1.05 * expected);
}

char *whatif_replayed(struct made_job *job)
{
    char *json = run_report(job, "--json %s");

    assert_non_null(strstr(json, "\"why_not\": null"));
    assert_near_us("replay", json_number(json, "what_if", "replayed"),
                   json_number(json, "what_if", "measured"));
    return json;
}
