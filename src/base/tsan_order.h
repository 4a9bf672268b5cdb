/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tsan_order.h - tells ThreadSanitizer of order between two threads of a process that comes about
 * outside the process. In other builds the functions do nothing.
 *
 * ThreadSanitizer knows the atomics and mutexes of the program that it is built into. Threads of
 * this library are also ordered by something that it does not see, another process:
 *
 *   thread 1                    another process             thread 2
 *   A writes to memory
 *   B releases a lock word,
 *     or sends a packet
 *                               C sees B (acquire)
 *                               D releases or sends
 *                                                           E sees D (acquire)
 *                                                           F touches the memory of A
 *
 * A is before F, because B and C are a release and the acquire that sees it, and so are D and E.
 */
#ifndef MRMA_BASE_TSAN_ORDER_H
#define MRMA_BASE_TSAN_ORDER_H

/* The place that stands for all other processes. */
extern const char order_others;

#ifdef __SANITIZE_THREAD__

/* ThreadSanitizer's function behind order_after. */
void __tsan_acquire(void *place);

/* ThreadSanitizer's function behind order_before. */
void __tsan_release(void *place);
#define ORDER_ACQUIRE(place) __tsan_acquire((void *)(place))
#define ORDER_RELEASE(place) __tsan_release((void *)(place))
#else
#define ORDER_ACQUIRE(place) ((void)(place))
#define ORDER_RELEASE(place) ((void)(place))
#endif

/* order_before tells ThreadSanitizer that what this thread has done so far comes before what a
 * thread does later that calls order_after for the same place. */
static inline void order_before(const void *place)
{
    ORDER_RELEASE(place);
}

/* order_after tells ThreadSanitizer that what was done before order_before for the same place comes
 * before what this thread does from now on. */
static inline void order_after(const void *place)
{
    ORDER_ACQUIRE(place);
}

#endif
