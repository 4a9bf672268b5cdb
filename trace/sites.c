/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sites.c - see sites.h.
 */
#include "sites.h"

#include <inttypes.h>
#include <string.h>

#include "resolve.h"

/* A site's key is made of both. */
enum { OFFSET_BITS = 40 };

static uint32_t object_number(struct sites *sites, char *path, uint64_t build)
{
    for (size_t i = 0; i < sites->nobjects; i++)
        if (sites->object[i].build == build && strcmp(sites->object[i].path, path) == 0) {
            free(path);
            return (uint32_t)i;
        }
    sites->object =
        grow(sites->object, sites->nobjects, &sites->objects_cap, sizeof *sites->object);
    sites->object[sites->nobjects] = (struct site_object){path, build};
    return (uint32_t)sites->nobjects++;
}

void sites_load(struct sites *sites, struct loaded *loaded, const struct spool_file *file,
                size_t at)
{
    const struct trace_object *r = (const struct trace_object *)&file->record[at];

    loaded->object = grow(loaded->object, loaded->n, &loaded->cap, sizeof *loaded->object);
    loaded->object[loaded->n++] =
        (struct loaded_object){r->begin, r->begin + (uint64_t)r->pages * TRACE_OBJECT_PAGE, r->base,
                               object_number(sites, spool_text(file, at + 1), r->build)};
    table_end(&loaded->by_address, NULL); /* it may be where another one was */
}

void loaded_free(struct loaded *loaded)
{
    table_end(&loaded->by_address, NULL);
    free(loaded->object);
}

static const struct loaded_object *object_at(const struct loaded *loaded, uint64_t address)
{
    for (size_t i = loaded->n; i-- > 0;)
        if (address >= loaded->object[i].begin && address < loaded->object[i].end)
            return &loaded->object[i];
    return NULL;
}

uint32_t sites_number(struct sites *sites, struct loaded *loaded, uint64_t address)
{
    uint64_t number = table_number(&loaded->by_address, address);

    if (number != TABLE_NONE)
        return (uint32_t)number;
    const struct loaded_object *object = address ? object_at(loaded, address - 1) : NULL;
    const uint64_t offset = object ? address - 1 - object->base : 0;
    if (!object || offset >> OFFSET_BITS)
        return SITE_NONE;
    const uint64_t key = (uint64_t)object->object << OFFSET_BITS | offset;
    number = table_number(&sites->by_place, key);
    if (number == TABLE_NONE) {
        sites->site = grow(sites->site, sites->n, &sites->cap, sizeof *sites->site);
        sites->site[sites->n] = (struct program_site){.object = object->object, .offset = offset};
        number = sites->n++;
        table_put_number(&sites->by_place, key, number);
    }
    table_put_number(&loaded->by_address, address, number);
    return (uint32_t)number;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return *path == '\0' ? "an object without a name" : slash ? slash + 1 : path;
}

/* Why the calls in an object have no file and line. */
static void note(const struct site_object *object, enum resolving why, struct notes *notes)
{
    if (why == RESOLVE_NO_TOOL)
        notes_add(notes, "no addr2line is installed (elfutils, LLVM and binutils have one): places "
                         "of calls are given "
                         "as offsets in their programs and libraries");
    else
        notes_add(notes, "%s %s: places of calls in it are given as offsets", object->path,
                  why == RESOLVE_NO_FILE   ? "cannot be read"
                  : why == RESOLVE_CHANGED ? "was changed after the run"
                                           : "has no debug information (compile it with -g)");
}

/* The sites of one object, whose numbers are given. */
static void resolve_object(struct sites *sites, uint32_t index, const uint32_t *number, size_t n,
                           struct notes *notes)
{
    const struct site_object *object = &sites->object[index];
    uint64_t *address = zalloc(n, sizeof *address);
    struct resolved *found = zalloc(n, sizeof *found);
    size_t lines = 0;

    for (size_t i = 0; i < n; i++)
        address[i] = sites->site[number[i]].offset;
    const enum resolving result = resolve_addresses(object->path, object->build, address, n, found);
    for (size_t i = 0; i < n; i++) {
        struct program_site *site = &sites->site[number[i]];

        lines += found[i].file != NULL;
        site->line = found[i].line;
        site->file = found[i].file ? found[i].file
                                   : text("%s+0x%" PRIx64, name_of(object->path), site->offset);
        site->function = found[i].function ? found[i].function : text("%s", "");
    }
    if (result != RESOLVED || lines == 0)
        note(object, result, notes);
    free(found);
    free(address);
}

void sites_resolve(struct sites *sites, struct notes *notes)
{
    uint32_t *number = zalloc(sites->n, sizeof *number);

    for (size_t object = 0; object < sites->nobjects; object++) {
        size_t n = 0;

        for (size_t i = 0; i < sites->n; i++)
            if (sites->site[i].object == object)
                number[n++] = (uint32_t)i;
        if (n)
            resolve_object(sites, (uint32_t)object, number, n, notes);
    }
    free(number);
}

void sites_free(struct sites *sites)
{
    for (size_t i = 0; i < sites->n; i++) {
        free(sites->site[i].file);
        free(sites->site[i].function);
    }
    for (size_t i = 0; i < sites->nobjects; i++)
        free(sites->object[i].path);
    free(sites->site);
    free(sites->object);
    table_end(&sites->by_place, NULL);
}
