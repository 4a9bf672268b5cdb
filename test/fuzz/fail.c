/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fail.c - see fail.h.
 */
#include "fail.h"

#include <stdio.h>
#include <stdlib.h>

void fuzz_fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: check failed: %s\n", file, line, what);
    abort();
}
