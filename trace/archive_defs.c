/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archive_defs.c - writes the definitions: the clock offsets of each location, and for all of them
 * the system tree, regions, attributes, groups, communicators and windows. They are written after
 * the events, when it is known which groups there are and how many events each location has.
 */
#include "archive.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive_event.h"

/* Group 0 is that of all locations; the archive's own follow. */
struct defs {
    struct archive *archive;
    OTF2_GlobalDefWriter *writer;
    OTF2_StringRef strings; /* the next free number */
    OTF2_StringRef empty;
};

static OTF2_StringRef string(struct defs *defs, const char *value)
{
    archive_check(defs->archive,
                  OTF2_GlobalDefWriter_WriteString(defs->writer, defs->strings, value));
    return defs->strings++;
}

static void write_clock_offsets(struct archive *archive)
{
    archive_check(archive, OTF2_Archive_OpenDefFiles(archive->otf2));
    for (size_t i = 0; i < archive->nlocations; i++) {
        OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(archive->otf2, i);
        const struct machine *machine = archive->location[i].machine;

        if (!writer)
            continue;
        for (size_t k = 0; machine && k < machine->n; k++)
            archive_check(archive, OTF2_DefWriter_WriteClockOffset(
                                       writer, machine->point[k].time, machine->point[k].offset,
                                       (double)machine->point[k].error));
        archive_check(archive, OTF2_Archive_CloseDefWriter(archive->otf2, writer));
    }
    archive_check(archive, OTF2_Archive_CloseDefFiles(archive->otf2));
}

static void write_fixed_strings(struct defs *defs)
{
    for (unsigned i = 0; i < PATHS; i++)
        string(defs, path_name[i]);
    for (unsigned i = 0; i <= TRACE_COMPARE_AND_SWAP; i++)
        string(defs, op_name[i]);
    for (size_t i = 0; i < defs->archive->sites.n; i++) /* string_of_caller */
        string(defs, defs->archive->sites.site[i].function);
    defs->empty = string(defs, "");
}

static void write_clock(struct defs *defs)
{
    const struct job *job = defs->archive->job;
    uint64_t margin = 1000; /* ns, for the rounding of corrected times */
    uint64_t first = u64_minus(job->first, margin);

    archive_check(defs->archive, OTF2_GlobalDefWriter_WriteClockProperties(
                                     defs->writer, NS_PER_S, first, job->last - first + margin,
                                     first + (uint64_t)job->machine[0].to_realtime));
}

static void write_attributes(struct defs *defs)
{
    for (unsigned i = 0; i < ATTRS; i++) {
        OTF2_StringRef name = string(defs, attr_name[i].name);
        OTF2_StringRef description = string(defs, attr_name[i].description);

        archive_check(defs->archive, OTF2_GlobalDefWriter_WriteAttribute(
                                         defs->writer, i, name, description, attr_name[i].type));
    }
}

static void write_parameter(struct defs *defs)
{
    if (defs->archive->job->until > 0)
        archive_check(defs->archive, OTF2_GlobalDefWriter_WriteParameter(
                                         defs->writer, 0, string(defs, ACCESS_PARAMETER),
                                         OTF2_PARAMETER_TYPE_UINT64));
}

static void write_sites(struct defs *defs)
{
    const struct sites *sites = &defs->archive->sites;

    for (size_t i = 0; i < sites->n; i++)
        archive_check(defs->archive, OTF2_GlobalDefWriter_WriteSourceCodeLocation(
                                         defs->writer, (OTF2_SourceCodeLocationRef)i,
                                         string(defs, sites->site[i].file), sites->site[i].line));
}

static void write_region(struct defs *defs, OTF2_RegionRef number, const struct region_name *name,
                         OTF2_RegionRole role, OTF2_Paradigm paradigm)
{
    OTF2_StringRef label = string(defs, name->name);
    OTF2_StringRef description = name->description ? string(defs, name->description) : defs->empty;

    archive_check(defs->archive, OTF2_GlobalDefWriter_WriteRegion(
                                     defs->writer, number, label, label, description, role,
                                     paradigm, OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0));
}

static void write_regions(struct defs *defs)
{
    for (unsigned i = 1; i < TRACE_CALL_LAST; i++)
        write_region(defs, region_of_call(i), &(struct region_name){call_name[i], NULL},
                     OTF2_REGION_ROLE_RMA, OTF2_PARADIGM_MPI);
    for (unsigned i = 0; i < OWN_REGIONS; i++)
        write_region(defs, region_of_own(i), &own_region_name[i], OTF2_REGION_ROLE_ARTIFICIAL,
                     OTF2_PARADIGM_MPI);
    /* Without gaps, which readers warn of: damaged records may have any number. */
    for (unsigned i = TRACE_CALL_LAST; i < defs->archive->job->ncalls; i++) {
        const char *name = archive_call_name(defs->archive, i);

        write_region(defs, region_of_call(i),
                     &(struct region_name){*name ? name : "(name not recorded)", NULL},
                     OTF2_REGION_ROLE_WRAPPER, OTF2_PARADIGM_MPI);
    }
    for (uint32_t i = 0; i < defs->archive->job->regions.n; i++)
        write_region(defs, region_of_program(defs->archive, i),
                     &(struct region_name){defs->archive->job->regions.name[i], NULL},
                     OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_USER);
}

/* A machine is what shares a clock; a host is what has a name. */
static OTF2_SystemTreeNodeRef write_system_tree(struct defs *defs, OTF2_SystemTreeNodeRef *node_of)
{
    const struct job *job = defs->archive->job;
    OTF2_StringRef machine = string(defs, "machine"), node = string(defs, "node");
    OTF2_SystemTreeNodeRef root = 0;

    archive_check(defs->archive, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                                     defs->writer, root, string(defs, "job"), machine,
                                     OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (size_t i = 0; i < job->nmachines; i++) {
        node_of[i] = (OTF2_SystemTreeNodeRef)(i + 1);
        archive_check(defs->archive, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                                         defs->writer, node_of[i],
                                         string(defs, job->machine[i].hostname), node, root));
        archive_check(defs->archive,
                      OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(
                          defs->writer, node_of[i], OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
    }
    return root;
}

static void write_locations(struct defs *defs)
{
    struct archive *archive = defs->archive;
    const struct job *job = archive->job;
    OTF2_SystemTreeNodeRef *node_of = zalloc(job->nmachines, sizeof *node_of);
    OTF2_SystemTreeNodeRef root = write_system_tree(defs, node_of);
    char name[32];

    for (uint32_t rank = 0; rank < job->nproc; rank++) {
        const struct machine *machine = archive->location[archive->main_location[rank]].machine;

        snprintf(name, sizeof name, "process %u", rank); /* not as its location: for viewers */
        archive_check(archive,
                      OTF2_GlobalDefWriter_WriteLocationGroup(
                          defs->writer, rank, string(defs, name), OTF2_LOCATION_GROUP_TYPE_PROCESS,
                          machine ? node_of[machine - job->machine] : root,
                          OTF2_UNDEFINED_LOCATION_GROUP));
    }
    for (size_t i = 0; i < archive->nlocations; i++)
        archive_check(archive, OTF2_GlobalDefWriter_WriteLocation(
                                   defs->writer, i, string(defs, archive->location[i].name),
                                   OTF2_LOCATION_TYPE_CPU_THREAD, archive->location[i].nevents,
                                   archive->location[i].rank));
    free(node_of);
}

static void write_groups(struct defs *defs)
{
    struct archive *archive = defs->archive;

    archive_check(archive, OTF2_GlobalDefWriter_WriteGroup(
                               defs->writer, 0, defs->empty, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                               OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, archive->job->nproc,
                               archive->main_location));
    for (size_t i = 0; i < archive->ngroups; i++)
        archive_check(archive,
                      OTF2_GlobalDefWriter_WriteGroup(
                          defs->writer, (OTF2_GroupRef)(i + 1), defs->empty,
                          OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                          archive->group[i].n, archive->group[i].member));
}

static const char *flavor_name(uint32_t flavor)
{
    static const char *const names[] = {"window", "created", "allocated", "shared", "dynamic"};

    return flavor < sizeof names / sizeof *names ? names[flavor] : names[0];
}

/* A communicator for each window, with the window's ranks. A rank that is not known has the rank
 * of some process that is in no other place; job.c tells that it is assumed. */
static void write_windows(struct defs *defs, const OTF2_GroupRef *group)
{
    struct archive *archive = defs->archive;
    const struct job *job = archive->job;

    for (size_t i = 0; i < job->nwindows; i++) {
        const char *given = job->window[i].name, *flavor = flavor_name(job->window[i].flavor);
        char *name = given && *given ? text("%s (window %zu, %s)", given, i, flavor)
                                     : text("window %zu (%s)", i, flavor);
        OTF2_StringRef label = string(defs, name);

        free(name);
        archive_check(archive,
                      OTF2_GlobalDefWriter_WriteComm(defs->writer, (OTF2_CommRef)i, label, group[i],
                                                     OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
        archive_check(archive, OTF2_GlobalDefWriter_WriteRmaWin(
                                   defs->writer, (OTF2_RmaWinRef)i, label, (OTF2_CommRef)i,
                                   OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS));
    }
}

static char *comm_name(const struct job_comm *comm)
{
    const uint32_t leader = (uint32_t)(comm->id >> 32), count = (uint32_t)comm->id;

    if (comm->id == 0)
        return text("MPI_COMM_WORLD");
    if (count == UINT32_MAX)
        return text("MPI_COMM_SELF of rank %u", leader);
    return text("communicator %u of rank %u", count, leader);
}

/* Communicators over which messages go. Of a rank that is not known, the first one stands there. */
static void write_comms(struct defs *defs, const OTF2_GroupRef *group)
{
    const struct job *job = defs->archive->job;

    for (uint32_t i = 0; i < job->comms.n; i++) {
        char *name = comm_name(&job->comms.comm[i]);
        const OTF2_StringRef label = string(defs, name);

        free(name);
        archive_check(defs->archive, OTF2_GlobalDefWriter_WriteComm(
                                         defs->writer, comm_of_messages(job, i), label, group[i],
                                         OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    }
}

/* What is said about the trace goes into it, for whoever reads it later. */
static void write_notes(struct archive *archive)
{
    char *all = text("%s", "");

    for (size_t i = 0; i < archive->job->notes.n; i++) {
        char *longer = text("%s%s%s", all, i ? "\n" : "", archive->job->notes.note[i].text);

        free(all);
        all = longer;
    }
    if (*all)
        archive_check(archive, OTF2_Archive_SetDescription(archive->otf2, all));
    free(all);
}

static OTF2_GroupRef group_of(struct archive *archive, const uint32_t *world, uint32_t n)
{
    uint64_t *member = zalloc(n, sizeof *member);

    for (uint32_t k = 0; k < n; k++)
        member[k] = world[k] == RANK_UNKNOWN ? 0 : world[k];
    const OTF2_GroupRef group = archive_group(archive, member, n);
    free(member);
    return group;
}

void archive_definitions(struct archive *archive)
{
    const struct job *job = archive->job;
    struct defs defs = {.archive = archive};
    OTF2_GroupRef *group = zalloc(job->nwindows, sizeof *group);
    OTF2_GroupRef *comm = zalloc(job->comms.n, sizeof *comm);

    for (size_t i = 0; i < job->nwindows; i++)
        group[i] = group_of(archive, job->window[i].world, job->window[i].nranks);
    for (size_t i = 0; i < job->comms.n; i++)
        comm[i] = group_of(archive, job->comms.comm[i].world, job->comms.comm[i].nranks);
    write_clock_offsets(archive);
    sites_resolve(&archive->sites, &archive->job->notes);
    write_notes(archive);
    defs.writer = OTF2_Archive_GetGlobalDefWriter(archive->otf2);
    if (defs.writer) {
        write_clock(&defs);
        write_fixed_strings(&defs);
        write_attributes(&defs);
        write_parameter(&defs);
        write_sites(&defs);
        write_regions(&defs);
        write_locations(&defs);
        write_groups(&defs);
        write_windows(&defs, group);
        write_comms(&defs, comm);
        archive_check(archive, OTF2_Archive_CloseGlobalDefWriter(archive->otf2, defs.writer));
    } else
        archive_check(archive, OTF2_ERROR_MEM_FAULT);
    free(group);
    free(comm);
}
