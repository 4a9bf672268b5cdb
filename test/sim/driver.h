/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * driver.h - what the drivers of random programs share: seeds one after the other, fixed, fresh or
 * those of the command line, and which one it was when a program fails.
 */
#ifndef MRMA_TEST_SIM_DRIVER_H
#define MRMA_TEST_SIM_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

extern struct driver {
    const char *name;
    void (*run)(uint64_t seed); /* one program; aborts where it fails */
    uint64_t seed;              /* of the program that runs */
    bool deaths;                /* processes die in it */
    bool chains;                /* its epochs of all kinds follow each other: program.h */
} driver;

/* driver_begin sets up driver. From now on an abort prints the seed, and the command that runs it
 * again. */
void driver_begin(const char *name, void (*run)(uint64_t seed));

/* driver_run runs the programs of n seeds, from first on. */
void driver_run(uint64_t first, uint64_t n);

/* driver_run_fresh runs the programs of n seeds that nobody has tried yet, which it prints. */
void driver_run_fresh(uint64_t n);

/* driver_main runs what the command line asks for, [-k | -c] SEED [N]: n programs from SEED on; -k:
 * with deaths; -c: chains. Returns the exit code. */
int driver_main(int argc, char **argv);

#endif
