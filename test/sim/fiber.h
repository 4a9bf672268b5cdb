/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fiber.h - a thread of control with a stack of its own that runs only when it is
 * resumed, and until it yields. One owner (the scheduler) resumes; fibers don't
 * resume each other.
 *
 * AddressSanitizer is told of every switch. ThreadSanitizer is not: a simulation has
 * one thread, so programs skip themselves there (FIBER_SUPPORTED is 0).
 */
#ifndef MRMA_TEST_SIM_FIBER_H
#define MRMA_TEST_SIM_FIBER_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__SANITIZE_THREAD__)
#define FIBER_SUPPORTED 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FIBER_SUPPORTED 0
#endif
#endif
#ifndef FIBER_SUPPORTED
#define FIBER_SUPPORTED 1
#endif

/* With AddressSanitizer a switch is a system call, and everything takes five times as long. */
#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#endif
#ifndef FIBER_ASAN
#define FIBER_ASAN 0
#endif

struct fiber;

/* fiber_new makes a fiber that will run body(arg), on a stack of so many bytes, rounded up to
 * pages; a guard page is below. NULL: no memory. */
struct fiber *fiber_new(size_t stack, void (*body)(void *arg), void *arg);

/* fiber_free frees a fiber, also one that has not come to its end: what is on its stack is just
 * dropped. NULL is allowed. */
void fiber_free(struct fiber *f);

/* fiber_resume runs the fiber until it yields or ends, and returns whether it has ended. */
bool fiber_resume(struct fiber *f);

/* fiber_yield goes back to who resumed the fiber. Called in f itself only. */
void fiber_yield(struct fiber *f);

/* fiber_restart makes a fiber that has ended ready to run another body. */
void fiber_restart(struct fiber *f, void (*body)(void *arg), void *arg);

#endif
