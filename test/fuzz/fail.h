/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fail.h - what the fuzzers check: a condition that does not hold ends the process, and
 * libFuzzer keeps the input.
 */
#ifndef MRMA_TEST_FUZZ_FAIL_H
#define MRMA_TEST_FUZZ_FAIL_H

_Noreturn void fuzz_fail(const char *file, int line, const char *what);
#define FUZZ_CHECK(condition)                          \
    do {                                               \
        if (!(condition))                              \
            fuzz_fail(__FILE__, __LINE__, #condition); \
    } while (0)

#endif
