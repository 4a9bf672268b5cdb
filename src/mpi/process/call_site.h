/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call_site.h - where in the program the present call of MPI stands, for messages of errors
 * that end the job, and of waits that take long.
 */
#ifndef MRMA_MPI_PROCESS_CALL_SITE_H
#define MRMA_MPI_PROCESS_CALL_SITE_H

#include <stdbool.h>
#include <stddef.h>

/* call_site_is_mpi returns whether the file of that path is a library of MPI, by its name:
 * libmpi.so, libmpi_mpifh.so, libmpich.so, libmpifort.so, libmpi-rma.so and their like. The
 * program's own call stands further up the stack. */
bool call_site_is_mpi(const char *path);

/* call_site_say writes where the innermost call of MPI of this thread stands: "app.c:41" where the
 * program has debug information and addr2line is installed, else "app+0x1234". "": it is not known.
 * It starts addr2line and waits for it, a few seconds at most, so it is for errors that end the
 * job. */
void call_site_say(char *text, size_t len) __attribute__((cold));

/* call_site_say_call writes that call's name as well: "MPI_Win_fence at app.c:41". "": it is not
 * known. It is for reports of waits that take long, and so that these go on it waits for addr2line
 * only for a moment, and only in the first report of a place: if the answer has not come by then,
 * this report has "app+0x1234", and a later one the line. */
void call_site_say_call(char *text, size_t len) __attribute__((cold));

#endif
