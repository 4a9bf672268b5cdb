/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * near_machine.h - a machine for hwloc to read instead of the one that is there: two packages with
 * the processing units 0 and 1, and 2 and 3, and two PCI devices beside each, 0000:10:00.0 and
 * 0000:20:00.0, and 0000:30:00.0 and 0000:40:00.0. TWO_PACKAGES is the path of two_packages.xml.
 */
#ifndef MRMA_TEST_NEAR_MACHINE_H
#define MRMA_TEST_NEAR_MACHINE_H

#include <stdlib.h>

static inline void near_machine(void)
{
    setenv("HWLOC_XMLFILE", TWO_PACKAGES, 1);
}

#endif
