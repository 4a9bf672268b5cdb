/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * site_text.c - says in words which call it is and where it stands in the program; see model.h.
 */
#include <string.h>

#include "model.h"

char *site_text(const struct trace *trace, uint32_t site)
{
    if (site >= trace->nsites)
        return NULL;
    const struct site *at = &trace->site[site];
    const char *slash = strrchr(at->file, '/'), *name = slash ? slash + 1 : at->file;

    return at->line ? text("%s:%u", name, at->line) : text("%s", name);
}

char *call_text(const struct trace *trace, unsigned call, uint32_t site, bool is_short)
{
    char *place = site_text(trace, site), *all;

    if (!place)
        return text("%s", trace->call_name[call]);
    if (!is_short && trace->site[site].function)
        all = text("%s at %s (%s)", trace->call_name[call], place, trace->site[site].function);
    else
        all = text("%s at %s", trace->call_name[call], place);
    free(place);
    return all;
}
