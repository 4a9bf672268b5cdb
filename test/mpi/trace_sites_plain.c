/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_sites_plain.c - trace_sites linked with the host alone, under which trace_sites.sh preloads
 * the library.
 */
#include "trace_sites.c"
