/*
 * cma_speed.h - how fast the kernel copies between processes.
 */
#ifndef MRMA_SHM_CMA_SPEED_H
#define MRMA_SHM_CMA_SPEED_H

#include <stdint.h>

/* How long copying 64 KiB that lie in the caches takes, ns: process_vm_readv, and memcpy. The ratio is 1.5 on some
 * machines and 9 on others, where pinning the pages costs more than copying them. */
struct cma_price {
    uint64_t kernel_ns, own_ns;
};

/* Measured by the caller on itself, best of some; takes some 30 us. Both 0: no memory, or refused. */
struct cma_price cma_price(void);

#endif
