/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * populate.h - makes pages of memory at once, instead of each page when it is first touched.
 */
#ifndef MRMA_SYS_POPULATE_H
#define MRMA_SYS_POPULATE_H

#include <stddef.h>

/* populate_pages has the kernel make all pages of [at, at+len), memory of this process that is
 * mapped, on the NUMA node where the caller runs; huge ones where the kernel grants them on demand.
 * The contents stay. Returns MRMA_SUCCESS, or MRMA_ERR_NO_MEM if not all can be had. */
int populate_pages(void *at, size_t len);

#endif
