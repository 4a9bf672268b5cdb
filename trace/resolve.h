/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * resolve.h - finds the file and line of addresses in a program or library, by the addr2line of
 * elfutils, of LLVM or of binutils, whichever is there.
 */
#ifndef MRMA_TRACE_RESOLVE_H
#define MRMA_TRACE_RESOLVE_H

#include <stddef.h>
#include <stdint.h>

struct resolved {
    char *file; /* NULL: the object has no debug information about the address */
    uint32_t line;
    char *function; /* NULL: it has no symbol either */
};

enum resolving {
    RESOLVED,
    RESOLVE_NO_FILE, /* it is not there, or cannot be read */
    RESOLVE_CHANGED, /* it is another one: its build id differs */
    RESOLVE_NO_TOOL, /* there is no addr2line */
};

/* resolve_addresses looks up n addresses, as they are in the object's file. build: the first bytes
 * of its build id as it was loaded, 0: it had none, and the file is taken for the same. Where the
 * result is RESOLVED the caller frees file and function of each out; else none is set. */
enum resolving resolve_addresses(const char *path, uint64_t build, const uint64_t *address,
                                 size_t n, struct resolved *out);

#endif
