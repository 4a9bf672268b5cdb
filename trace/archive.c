/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archive.c - see archive.h.
 */
#include "archive.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVENT_CHUNK = 256 << 10, DEFINITION_CHUNK = 4 << 20 };

void archive_check(struct archive *archive, OTF2_ErrorCode code)
{
    if (code == OTF2_SUCCESS || archive->failed)
        return;
    say("cannot write the archive: %s", OTF2_Error_GetDescription(code));
    archive->failed = true;
}

/* archive_property writes nothing where there is no value. */
static void archive_property(struct archive *archive, const char *name, const char *value)
{
    if (*value)
        archive_check(archive, OTF2_Archive_SetProperty(archive->otf2, name, value, true));
}

uint64_t archive_location(struct archive *archive, struct location location)
{
    archive->location = grow(archive->location, archive->nlocations, &archive->locations_cap,
                             sizeof *archive->location);
    archive->location[archive->nlocations] = location;
    return archive->nlocations++;
}

OTF2_GroupRef archive_group(struct archive *archive, const uint64_t *member, uint32_t n)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ n;

    for (uint32_t i = 0; i < n; i++)
        hash = (hash ^ member[i]) * UINT64_C(0x100000001b3);
    for (uint64_t key = hash;; key++) {
        uint64_t index = table_number(&archive->group_by_hash, key);

        if (index == TABLE_NONE) {
            hash = key;
            break;
        }
        struct group *group = &archive->group[index];
        if (group->n == n && memcmp(group->member, member, n * sizeof *member) == 0)
            return (OTF2_GroupRef)index + 1;
    }
    archive->group =
        grow(archive->group, archive->ngroups, &archive->groups_cap, sizeof *archive->group);
    struct group *group = &archive->group[archive->ngroups++];
    *group = (struct group){zalloc(n, sizeof *member), n};
    if (n)
        memcpy(group->member, member, n * sizeof *member);
    table_put_number(&archive->group_by_hash, hash, archive->ngroups - 1);
    return (OTF2_GroupRef)archive->ngroups;
}

const char *archive_call_name(const struct archive *archive, unsigned call)
{
    if (call < TRACE_CALL_LAST)
        return call_name[call];
    const char *name = archive->name[call - TRACE_CALL_LAST];
    return name ? name : "";
}

void archive_name_call(struct archive *archive, const struct trace_name *name)
{
    char **at = &archive->name[name->what - TRACE_CALL_LAST];

    if (!*at)
        *at = text("MPI_%.*s", (int)sizeof name->text, name->text);
    for (char *c = *at; *c; c++) /* the file may be damaged */
        if (*c < ' ' || *c > '~')
            *c = '?';
}

static OTF2_FlushType flush_always(void *data, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool final)
{
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static const OTF2_FlushCallbacks flush_callbacks = {.otf2_pre_flush = flush_always};

/* OTF2 would report errors in its own words on standard error, where this program reports them
 * too. */
static OTF2_ErrorCode quiet(void *data, const char *file, uint64_t line, const char *function,
                            OTF2_ErrorCode code, const char *format, va_list list)
{
    (void)data, (void)file, (void)line, (void)function, (void)format, (void)list;
    return code;
}

/* remove_old removes the archive that an earlier run has made, because OTF2 does not replace
 * one. */
static bool remove_old(const char *dir)
{
    static const char *const names[] = {ARCHIVE_NAME ".otf2", ARCHIVE_NAME ".def"};
    char *events = text("%s/%s", dir, ARCHIVE_NAME);
    DIR *stream = opendir(events);
    bool good = true;

    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        char *path = text("%s/%s", events, entry->d_name);
        const char *dot = strrchr(entry->d_name, '.');

        if (dot && (strcmp(dot, ".evt") == 0 || strcmp(dot, ".def") == 0))
            good = unlink(path) == 0 && good;
        free(path);
    }
    if (stream)
        closedir(stream);
    good = (rmdir(events) == 0 || errno == ENOENT) && good;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = text("%s/%s", dir, names[i]);

        good = (unlink(path) == 0 || errno == ENOENT) && good;
        free(path);
    }
    if (!good)
        say("%s: cannot remove the archive that is there: %s", dir, strerror(errno));
    free(events);
    return good;
}

/* write_events writes the events of every rank. Ranks without files get a location without
 * events. */
static void write_events(struct archive *archive)
{
    const struct spool *spool = archive->job->spool;
    size_t at = 0;

    archive_check(archive, OTF2_Archive_OpenEvtFiles(archive->otf2));
    for (uint32_t rank = 0; rank < archive->job->nproc; rank++) {
        size_t n = 0;

        progress("writing the archive", at, spool->n);
        while (at + n < spool->n && spool->file[at + n].head->rank == rank)
            n++;
        if (n > 0)
            archive_process(archive, &spool->file[at], n);
        else
            archive->main_location[rank] = archive_location(
                archive,
                (struct location){.name = text("rank %u (left no file)", rank), .rank = rank});
        at += n;
    }
    /* Readers expect a file of events for each location. */
    for (size_t i = 0; i < archive->nlocations; i++)
        if (archive->location[i].nevents == 0) {
            OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(archive->otf2, i);

            if (writer)
                archive_check(archive, OTF2_Archive_CloseEvtWriter(archive->otf2, writer));
        }
    archive_check(archive, OTF2_Archive_CloseEvtFiles(archive->otf2));
    progress_end();
}

static void free_archive(struct archive *archive)
{
    for (size_t i = 0; i < archive->nlocations; i++)
        free(archive->location[i].name);
    for (size_t i = 0; i < archive->ngroups; i++)
        free(archive->group[i].member);
    for (size_t i = 0; i < TRACE_NAMES_MAX; i++)
        free(archive->name[i]);
    free(archive->location);
    free(archive->group);
    free(archive->main_location);
    sites_free(&archive->sites);
    table_end(&archive->group_by_hash, NULL);
}

static bool write_job(struct job *job, const char *dir)
{
    struct archive archive = {.job = job};
    char *machine = text("%s", job->machine[0].hostname), *crowded = job_crowded(job);

    archive.main_location = zalloc(job->nproc, sizeof *archive.main_location);
    archive.otf2 = OTF2_Archive_Open(dir, ARCHIVE_NAME, OTF2_FILEMODE_WRITE, EVENT_CHUNK,
                                     DEFINITION_CHUNK, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!archive.otf2) {
        say("%s: cannot make an archive there", dir);
        archive.failed = true;
    } else {
        archive_check(&archive,
                      OTF2_Archive_SetFlushCallbacks(archive.otf2, &flush_callbacks, NULL));
        archive_check(&archive, OTF2_Archive_SetSerialCollectiveCallbacks(archive.otf2));
        archive_check(&archive, OTF2_Archive_SetCreator(archive.otf2, CREATOR));
        archive_check(&archive, OTF2_Archive_SetMachineName(archive.otf2, machine));
        archive_property(&archive, ARCHIVE_PROGRAM, job->spool->file[0].head->program);
        archive_property(&archive, ARCHIVE_HOST, job->spool->file[0].head->host_mpi);
        archive_property(&archive, ARCHIVE_CROWDED, crowded ? crowded : "");
        write_events(&archive);
        if (archive.unknown_window)
            notes_add(&job->notes,
                      "%" PRIu64 " records of windows whose creation is not recorded were left out",
                      archive.unknown_window);
        if (archive.unknown_comm)
            notes_add(&job->notes,
                      "%" PRIu64 " messages of communicators that are not recorded were left out",
                      archive.unknown_comm);
        archive_definitions(&archive);
        archive_check(&archive, OTF2_Archive_Close(archive.otf2));
    }
    free(machine);
    free(crowded);
    free_archive(&archive);
    return !archive.failed;
}

bool archive_write(const char *dir)
{
    struct spool spool;
    struct job job;

    if (!spool_open(&spool, dir))
        return false;
    job_read(&job, &spool);
    OTF2_Error_RegisterCallback(quiet, NULL);
    bool good = remove_old(dir) && write_job(&job, dir);
    if (good)
        for (size_t i = 0; i < job.notes.n; i++)
            say("note: %s", job.notes.note[i].text);
    job_free(&job);
    spool_close(&spool);
    return good;
}
