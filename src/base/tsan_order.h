/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tsan_order.h - order between two threads of a process that is made outside of it, told to
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
 * completion leads to, and the query of a request before its end, which the host tells by counting
 * who holds it (Open MPI: the last one, waiting or completing, ends it).
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

/* order_before tells ThreadSanitizer that what this thread has done so far is before what is done,
 * later, by who calls order_after for the same place. */
static inline void order_before(const void *place)
{
    ORDER_RELEASE(place);
}

/* order_after tells ThreadSanitizer that what was done before order_before for the same place is
 * before what this thread does now. */
static inline void order_after(const void *place)
{
    ORDER_ACQUIRE(place);
}

#endif
