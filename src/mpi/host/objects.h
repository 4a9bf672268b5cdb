/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * objects.h - the shared objects of this process, and which of them is an MPI library.
 *
 * The next definition of a function behind this library does not tell which MPI library is in use:
 * a program that loads MPI when it runs may have two of them, and may hide them from the look-ups
 * of others. So every object is asked.
 */
#ifndef MRMA_MPI_HOST_OBJECTS_H
#define MRMA_MPI_HOST_OBJECTS_H

#include <stdbool.h>

/* objects_visit calls visit with each object of the process that has a name, as dlopen has returned
 * it, until visit returns false. Any thread. */
void objects_visit(bool (*visit)(void *object, void *arg), void *arg);

/* object_interface returns the interface of the MPI library that an object is or brings with it, in
 * the words of MPIRMA_HOST, and sets *file to the library's file name, which stays valid while the
 * library is loaded. NULL: there is none. */
const char *object_interface(void *object, const char **file);

#endif
