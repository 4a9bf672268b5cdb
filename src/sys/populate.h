/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * populate.h - pages of memory at once, instead of each when it is touched first.
 */
#ifndef MRMA_SYS_POPULATE_H
#define MRMA_SYS_POPULATE_H

#include <stddef.h>

/* The pages of [at, at+len), mapped for this process, on the NUMA node where the caller runs; huge
 * ones where the kernel grants them on demand. What is stored there stays. MRMA_ERR_NO_MEM: not all
 * can be had. */
int populate_pages(void *at, size_t len);

#endif
