/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * read_defs.c - see read_defs.h. Regions are found by their names, so regions that other tools
 * have written are found, too: MPI_Win_fence, PMPI_Win_fence and mpi_win_fence_ are the same.
 */
#include "read_defs.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

uint32_t defs_find(const struct table *table, uint64_t key)
{
    const uint64_t number = table_number(table, key);

    return number != TABLE_NONE ? (uint32_t)number : NONE;
}

static const char *string(const struct defs *defs, OTF2_StringRef ref)
{
    const char *value = table_get(&defs->string, ref);

    return value ? value : "";
}

static OTF2_CallbackCode on_string(void *data, OTF2_StringRef self, const char *value)
{
    struct defs *defs = data;

    free(table_put(&defs->string, self, text("%s", value ? value : "")));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_clock(void *data, uint64_t resolution, uint64_t offset, uint64_t length,
                                  uint64_t realtime)
{
    struct defs *defs = data;

    (void)length;
    defs->trace->began = realtime == OTF2_UNDEFINED_TIMESTAMP ? 0 : realtime;
    defs->first = offset;
    if (resolution == 0)
        return OTF2_CALLBACK_ERROR;
    defs->resolution = resolution;
    return OTF2_CALLBACK_SUCCESS;
}

/* enum trace_call of a region's name; 0: none. */
static unsigned call_of(const char *name)
{
    size_t n;

    if (strncasecmp(name, "PMPI_", 5) == 0)
        name++;
    n = strlen(name);
    while (n > 0 && name[n - 1] == '_')
        n--;
    for (unsigned i = 1; i < TRACE_CALL_LAST; i++)
        if (strlen(call_name[i]) == n && strncasecmp(call_name[i], name, n) == 0)
            return i;
    return 0;
}

static void add_region(struct defs *defs, OTF2_RegionRef self, const char *name)
{
    struct trace *trace = defs->trace;

    trace->region =
        grow(trace->region, trace->nregions, &trace->regions_cap, sizeof *trace->region);
    trace->region[trace->nregions] = text("%s", name);
    table_put_number(&defs->region, self, PROGRAM_BASE + trace->nregions++);
}

/* A function of MPI that is not RMA's, or is called with any requests: then it has a number. */
static void add_other(struct defs *defs, OTF2_RegionRef self, const char *name, unsigned call)
{
    struct trace *trace = defs->trace;

    if (!call && trace->ncall_names == CALL_NAMES)
        return;
    if (!call) {
        call = trace->ncall_names++;
        trace->call_name[call] = text("%s", name);
    }
    trace->messages = true;
    table_put_number(&defs->region, self, OTHER_BASE + call);
}

static OTF2_CallbackCode on_region(void *data, OTF2_RegionRef self, OTF2_StringRef name,
                                   OTF2_StringRef canonical, OTF2_StringRef description,
                                   OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t first_line,
                                   uint32_t last_line)
{
    struct defs *defs = data;
    const char *label = string(defs, name);
    unsigned call = call_of(label);

    (void)canonical, (void)description, (void)flags, (void)file, (void)first_line, (void)last_line;
    if (paradigm == OTF2_PARADIGM_USER) { /* whatever its name is */
        add_region(defs, self, label);
        return OTF2_CALLBACK_SUCCESS;
    }
    if (call && !(defs->trace->ours && role == OTF2_REGION_ROLE_WRAPPER)) /* of any request */
        table_put_number(&defs->region, self, call);
    else if (paradigm == OTF2_PARADIGM_MPI && role != OTF2_REGION_ROLE_ARTIFICIAL)
        add_other(defs, self, label, call);
    if (role == OTF2_REGION_ROLE_ARTIFICIAL && paradigm == OTF2_PARADIGM_MPI)
        for (unsigned i = 0; i < OWN_REGIONS; i++)
            if (strcmp(own_region_name[i].name, label) == 0)
                table_put_number(&defs->region, self, OWN_BASE + i);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_parameter(void *data, OTF2_ParameterRef self, OTF2_StringRef name,
                                      OTF2_ParameterType type)
{
    struct defs *defs = data;

    (void)self;
    if (defs->trace->ours && type == OTF2_PARAMETER_TYPE_UINT64 &&
        strcmp(string(defs, name), ACCESS_PARAMETER) == 0)
        defs->trace->has_accesses = true;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_attribute(void *data, OTF2_AttributeRef self, OTF2_StringRef name,
                                      OTF2_StringRef description, OTF2_Type type)
{
    struct defs *defs = data;

    (void)description;
    for (unsigned i = 0; i < ATTRS; i++)
        if (attr_name[i].type == type && strcmp(attr_name[i].name, string(defs, name)) == 0) {
            defs->attr[i] = self;
            defs->has_attr[i] = true;
        }
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *data, OTF2_LocationRef self, OTF2_StringRef name,
                                     OTF2_LocationType type, uint64_t events,
                                     OTF2_LocationGroupRef group)
{
    struct defs *defs = data;
    struct trace *trace = defs->trace;
    const char *label = string(defs, name);

    (void)type;
    defs->location = grow(defs->location, defs->nlocations, &defs->locations_cap, sizeof self);
    defs->location[defs->nlocations++] = self;
    defs->nevents += events;
    table_put_number(&defs->place, self, (uint32_t)trace->nplaces);
    table_put_number(&defs->home, self, group);
    trace->place = grow(trace->place, trace->nplaces, &trace->places_cap, sizeof *trace->place);
    trace->place[trace->nplaces++] =
        (struct place){.name = text("%s", label),
                       .rank = NONE,
                       .is_agent = trace->ours && strstr(label, " agent"),
                       .is_queue = trace->ours && strstr(label, " waiting packets ")};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group(void *data, OTF2_GroupRef self, OTF2_StringRef name,
                                  OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
                                  uint32_t n, const uint64_t *member)
{
    struct defs *defs = data;
    struct trace *trace = defs->trace;

    (void)name;
    if (paradigm != OTF2_PARADIGM_MPI)
        return OTF2_CALLBACK_SUCCESS;
    if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
        free(defs->of_rank);
        defs->of_rank = zalloc(n, sizeof *member);
        memcpy(defs->of_rank, member, n * sizeof *member);
        defs->nof_rank = n;
        return OTF2_CALLBACK_SUCCESS;
    }
    if (type != OTF2_GROUP_TYPE_COMM_GROUP || flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS)
        return OTF2_CALLBACK_SUCCESS;
    trace->group = grow(trace->group, trace->ngroups, &trace->groups_cap, sizeof *trace->group);
    struct ranks *group = &trace->group[trace->ngroups];
    *group = (struct ranks){zalloc(n, sizeof *group->rank), n};
    for (uint32_t i = 0; i < n; i++)
        group->rank[i] = member[i] < NONE ? (uint32_t)member[i] : NONE;
    table_put_number(&defs->group, self, (uint32_t)trace->ngroups++);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_comm(void *data, OTF2_CommRef self, OTF2_StringRef name,
                                 OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags)
{
    struct defs *defs = data;

    (void)name, (void)parent, (void)flags;
    struct trace *trace = defs->trace;

    table_put_number(&defs->comm, self, group);
    trace->comm = grow(trace->comm, trace->ncomms, &trace->comms_cap, sizeof *trace->comm);
    trace->comm[trace->ncomms] = defs_find(&defs->group, group);
    table_put_number(&defs->comms, self, trace->ncomms++);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_window(void *data, OTF2_RmaWinRef self, OTF2_StringRef name,
                                   OTF2_CommRef comm, OTF2_RmaWinFlag flags)
{
    struct defs *defs = data;
    struct trace *trace = defs->trace;
    uint32_t number = defs_find(&defs->comm, comm);
    uint32_t group = number == NONE ? NONE : defs_find(&defs->group, number);
    const char *label = string(defs, name);

    (void)flags;
    trace->window =
        grow(trace->window, trace->nwindows, &trace->windows_cap, sizeof *trace->window);
    struct window *window = &trace->window[trace->nwindows];
    *window = (struct window){.name = *label ? text("%s", label) : text("window %u", self)};
    if (group != NONE) {
        window->nranks = trace->group[group].n;
        window->world = zalloc(window->nranks, sizeof *window->world);
        memcpy(window->world, trace->group[group].rank, window->nranks * sizeof *window->world);
    }
    table_put_number(&defs->window, self, (uint32_t)trace->nwindows++);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_site(void *data, OTF2_SourceCodeLocationRef self, OTF2_StringRef file,
                                 uint32_t line)
{
    struct defs *defs = data;
    struct trace *trace = defs->trace;

    trace->site = grow(trace->site, trace->nsites, &trace->sites_cap, sizeof *trace->site);
    trace->site[trace->nsites] =
        (struct site){.file = text("%s", string(defs, file)), .line = line};
    table_put_number(&defs->site, self, (uint32_t)trace->nsites++);
    return OTF2_CALLBACK_SUCCESS;
}

/* Ranks of the locations: the group of all locations names one for each rank; the others of its
 * process are in the same location group. */
static void find_ranks(struct defs *defs)
{
    struct trace *trace = defs->trace;

    if (defs->nof_rank == 0)
        for (size_t i = 0; i < defs->nlocations; i++) {
            uint32_t home = defs_find(&defs->home, defs->location[i]);

            if (defs_find(&defs->rank, home) == NONE)
                table_put_number(&defs->rank, home, trace->nranks++);
        }
    for (size_t i = 0; i < defs->nof_rank; i++) {
        uint32_t home = defs_find(&defs->home, defs->of_rank[i]);

        if (home != NONE && defs_find(&defs->rank, home) == NONE)
            table_put_number(&defs->rank, home, (uint32_t)i);
        trace->nranks = (uint32_t)i + 1;
    }
    for (size_t i = 0; i < trace->nplaces; i++)
        trace->place[i].rank = defs_find(&defs->rank, defs_find(&defs->home, defs->location[i]));
}

/* A rank in a group that no process has would be an index out of every table. */
static bool ranks_good(const struct trace *trace)
{
    for (size_t i = 0; i < trace->ngroups; i++)
        for (uint32_t k = 0; k < trace->group[i].n; k++)
            if (trace->group[i].rank[k] >= trace->nranks)
                return false;
    return true;
}

bool defs_read(struct defs *defs, OTF2_Reader *reader)
{
    OTF2_GlobalDefReader *global = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_GlobalDefReaderCallbacks *on = OTF2_GlobalDefReaderCallbacks_New();
    uint64_t n = 0;

    if (!global || !on) {
        OTF2_GlobalDefReaderCallbacks_Delete(on);
        return false;
    }
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(on, on_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(on, on_string);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(on, on_region);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(on, on_attribute);
    OTF2_GlobalDefReaderCallbacks_SetParameterCallback(on, on_parameter);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(on, on_location);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(on, on_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(on, on_comm);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(on, on_window);
    OTF2_GlobalDefReaderCallbacks_SetSourceCodeLocationCallback(on, on_site);
    OTF2_ErrorCode code = OTF2_Reader_RegisterGlobalDefCallbacks(reader, global, on, defs);
    OTF2_GlobalDefReaderCallbacks_Delete(on);
    if (code == OTF2_SUCCESS)
        code = OTF2_Reader_ReadAllGlobalDefinitions(reader, global, &n);
    OTF2_Reader_CloseGlobalDefReader(reader, global);
    if (code != OTF2_SUCCESS)
        return false;
    find_ranks(defs);
    return ranks_good(defs->trace);
}

void defs_free(struct defs *defs)
{
    struct table *numbers[] = {&defs->region, &defs->place, &defs->group, &defs->comm, &defs->comms,
                               &defs->window, &defs->rank,  &defs->home,  &defs->site};

    table_end(&defs->string, free);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        table_end(numbers[i], NULL);
    free(defs->location);
    free(defs->of_rank);
}
