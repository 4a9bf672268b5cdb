/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sites.h - finds where in the program calls stand. The addresses of each process, which are in
 * objects, become numbers that are the same for all processes, and these lead to files and lines.
 *
 * An address is one to which a call returns: the instruction before it is looked up.
 */
#ifndef MRMA_TRACE_SITES_H
#define MRMA_TRACE_SITES_H

#include "spool_read.h"
#include "table.h"

enum { SITE_NONE = UINT32_MAX };

struct program_site {
    uint32_t object;
    uint64_t offset; /* address in the object's file */
    char *file;      /* with line 0: the object and the offset in it; from sites_resolve on */
    uint32_t line;
    char *function; /* "": not known */
};

struct site_object {
    char *path;
    uint64_t build;
};

struct sites {
    struct site_object *object;
    size_t nobjects, objects_cap;
    struct program_site *site;
    size_t n, cap;
    struct table by_place; /* number of a site, by object and offset */
};

/* What is in the memory of one process. */
struct loaded {
    struct loaded_object {
        uint64_t begin, end, base;
        uint32_t object;
    } * object; /* a later one counts where two overlap */
    size_t n, cap;
    struct table by_address; /* number of a site */
};

/* sites_load takes in the TRACE_OBJECT at file->record[at]. */
void sites_load(struct sites *sites, struct loaded *loaded, const struct spool_file *file,
                size_t at);
void loaded_free(struct loaded *loaded);

/* sites_number returns the number of the call that returns to an address of the process; SITE_NONE:
 * it is in no object. */
uint32_t sites_number(struct sites *sites, struct loaded *loaded, uint64_t address);

/* sites_resolve gives all sites their file, line and function; what is not known is said in notes.
 */
void sites_resolve(struct sites *sites, struct notes *notes);
void sites_free(struct sites *sites);

#endif
