/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cma-probe.c - may one rank of a job copy from and to another's memory here?
 *
 * Exit code 0 if it may; else 1 and one line with the reason, which the test
 * runner prints for every test of the kernel-assisted path that it leaves out.
 */
#include <stdio.h>

#include "shm/cma_probe.h"

int main(void)
{
    struct cma_probe probe;
    char text[512];

    cma_probe_self(&probe);
    if (probe.permitted == 0) {
        return 0;
    }
    puts(cma_probe_explain(probe.permitted, probe.yama_scope, text, sizeof text));
    return 1;
}
