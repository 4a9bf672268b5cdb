/*
 * cma_speed.h - how fast the kernel copies between processes.
 */
#ifndef MRMA_SHM_CMA_SPEED_H
#define MRMA_SHM_CMA_SPEED_H

/* What process_vm_readv takes for 64 KiB that lie in the caches, in percent of what memcpy takes: 150 on some machines,
 * 900 on others, where pinning the pages costs more than copying them. Measured by the caller on itself, best
 * of some; takes some 30 us. 0: no memory, or refused. */
unsigned cma_price(void);

#endif
