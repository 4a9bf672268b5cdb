/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order.h - order between two threads of a process that is made outside of it, told to
 * ThreadSanitizer. Elsewhere these are nothing.
 *
 * ThreadSanitizer knows the atomics and mutexes of the program that it is built into. Two ways
 * in which this library orders threads lead through what it does not see:
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
 * A is before F, for each of B and C, D and E is a release and the acquire that sees it. The other
 * way is the host: what comes before MPI_Grequest_complete comes before the callbacks that
 * completion leads to.
 */
#ifndef MRMA_BASE_ORDER_H
#define MRMA_BASE_ORDER_H

/* The place that stands for all other processes. */
extern const char order_others;

#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *place);
void __tsan_release(void *place);
#define ORDER_ACQUIRE(place) __tsan_acquire((void *)(place))
#define ORDER_RELEASE(place) __tsan_release((void *)(place))
#else
#define ORDER_ACQUIRE(place) ((void)(place))
#define ORDER_RELEASE(place) ((void)(place))
#endif

/* What this thread has done so far is before what is done by who calls order_after for the
 * same place later. */
static inline void order_before(const void *place)
{
    ORDER_RELEASE(place);
}

/* See order_before. */
static inline void order_after(const void *place)
{
    ORDER_ACQUIRE(place);
}

#endif
