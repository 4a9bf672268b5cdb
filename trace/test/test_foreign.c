/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_foreign.c - mpi-rma-trace reads archives that other tools have written: with other
 * regions, another resolution of time, no attributes; and says so where one has nothing of RMA.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <otf2/otf2.h>

#include <cmocka.h>

#include "tool_run.h"

enum { RANKS = 2, TICKS = 1000000 }; /* microseconds */
enum { MAIN, CREATE, START, PUT, COMPLETE, POST, WAIT, FENCE, REGIONS };
static const char *const region_name[REGIONS] = {
    "main",         "MPI_Win_create", "PMPI_Win_start", "MPI_Put", "mpi_win_complete_",
    "MPI_Win_post", "MPI_Win_wait",   "MPI_Win_fence"};

struct foreign {
    struct made_job job; /* for its directory */
    OTF2_Archive *archive;
    OTF2_EvtWriter *writer[RANKS];
};

static OTF2_FlushType flush_always(void *data, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool final)
{
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static const OTF2_FlushCallbacks flush_callbacks = {.otf2_pre_flush = flush_always};

static void begin(struct foreign *f)
{
    make_job(&f->job, RANKS);
    f->archive = OTF2_Archive_Open(f->job.dir, "other", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20,
                                   OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    assert_non_null(f->archive);
    OTF2_Archive_SetFlushCallbacks(f->archive, &flush_callbacks, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(f->archive);
    OTF2_Archive_SetCreator(f->archive, "another tool");
    OTF2_Archive_OpenEvtFiles(f->archive);
    for (uint32_t i = 0; i < RANKS; i++) {
        f->writer[i] = OTF2_Archive_GetEvtWriter(f->archive, 10 * i);
        OTF2_EvtWriter_Enter(f->writer[i], NULL, 1000, MAIN);
    }
}

static void write_definitions(OTF2_GlobalDefWriter *defs, const uint64_t *events)
{
    OTF2_StringRef next = 0;

    OTF2_GlobalDefWriter_WriteClockProperties(defs, TICKS, 1000, 1000000, OTF2_UNDEFINED_TIMESTAMP);
    OTF2_GlobalDefWriter_WriteString(defs, next++, "");
    for (unsigned i = 0; i < REGIONS; i++) {
        OTF2_GlobalDefWriter_WriteString(defs, next, region_name[i]);
        OTF2_GlobalDefWriter_WriteRegion(defs, i, next, next, 0, OTF2_REGION_ROLE_FUNCTION,
                                         i ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER,
                                         OTF2_REGION_FLAG_NONE, 0, 0, 0);
        next++;
    }
    OTF2_GlobalDefWriter_WriteSystemTreeNode(defs, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (uint32_t i = 0; i < RANKS; i++) {
        OTF2_GlobalDefWriter_WriteLocationGroup(defs, i, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
        OTF2_GlobalDefWriter_WriteLocation(defs, 10 * i, 0, OTF2_LOCATION_TYPE_CPU_THREAD,
                                           events[i], i);
    }
    OTF2_GlobalDefWriter_WriteGroup(defs, 0, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, 2, (uint64_t[]){0, 10});
    OTF2_GlobalDefWriter_WriteGroup(defs, 1, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, 2, (uint64_t[]){0, 1});
    for (uint32_t i = 0; i < RANKS; i++) /* group 2 + rank: that rank alone */
        OTF2_GlobalDefWriter_WriteGroup(defs, 2 + i, 0, OTF2_GROUP_TYPE_COMM_GROUP,
                                        OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 1,
                                        (uint64_t[]){i});
    OTF2_GlobalDefWriter_WriteComm(defs, 0, 0, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    OTF2_GlobalDefWriter_WriteRmaWin(defs, 0, 0, 0, OTF2_RMA_WIN_FLAG_NONE);
}

static void end(struct foreign *f)
{
    uint64_t events[RANKS];

    for (uint32_t i = 0; i < RANKS; i++) {
        OTF2_EvtWriter_Leave(f->writer[i], NULL, 900000, MAIN);
        OTF2_EvtWriter_GetNumberOfEvents(f->writer[i], &events[i]);
        OTF2_Archive_CloseEvtWriter(f->archive, f->writer[i]);
    }
    OTF2_Archive_CloseEvtFiles(f->archive);
    OTF2_GlobalDefWriter *defs = OTF2_Archive_GetGlobalDefWriter(f->archive);
    assert_non_null(defs);
    write_definitions(defs, events);
    OTF2_Archive_CloseGlobalDefWriter(f->archive, defs);
    assert_int_equal(OTF2_Archive_Close(f->archive), OTF2_SUCCESS);
}

static void group_call(struct foreign *f, uint32_t rank, unsigned region, uint64_t enter,
                       uint64_t leave)
{
    OTF2_EvtWriter_Enter(f->writer[rank], NULL, enter, region);
    OTF2_EvtWriter_RmaGroupSync(f->writer[rank], NULL, leave, OTF2_RMA_SYNC_LEVEL_PROCESS, 0,
                                2 + !rank);
    OTF2_EvtWriter_Leave(f->writer[rank], NULL, leave, region);
}

static void fence(struct foreign *f, uint32_t rank, uint64_t enter, uint64_t leave)
{
    OTF2_EvtWriter_Enter(f->writer[rank], NULL, enter, FENCE);
    OTF2_EvtWriter_RmaCollectiveBegin(f->writer[rank], NULL, enter);
    OTF2_EvtWriter_RmaCollectiveEnd(f->writer[rank], NULL, leave, OTF2_COLLECTIVE_OP_BARRIER,
                                    OTF2_RMA_SYNC_LEVEL_PROCESS, 0, OTF2_COLLECTIVE_ROOT_NONE, 0,
                                    0);
    OTF2_EvtWriter_Leave(f->writer[rank], NULL, leave, FENCE);
}

/* The post is 20 ms late, of which MPI_Win_start waits 18; then a fence with 5 ms. */
static void waits(void **state)
{
    struct foreign f;
    int status;

    (void)state;
    begin(&f);
    group_call(&f, 0, START, 12000, 31000);
    OTF2_EvtWriter_Enter(f.writer[0], NULL, 32000, PUT);
    OTF2_EvtWriter_RmaPut(f.writer[0], NULL, 32000, 0, 1, 100, 7);
    OTF2_EvtWriter_Leave(f.writer[0], NULL, 33000, PUT);
    OTF2_EvtWriter_Enter(f.writer[0], NULL, 34000, COMPLETE);
    OTF2_EvtWriter_RmaOpCompleteBlocking(f.writer[0], NULL, 35000, 0, 7);
    OTF2_EvtWriter_RmaGroupSync(f.writer[0], NULL, 35000, OTF2_RMA_SYNC_LEVEL_PROCESS, 0, 3);
    OTF2_EvtWriter_Leave(f.writer[0], NULL, 35000, COMPLETE);
    group_call(&f, 1, POST, 30000, 30500);
    group_call(&f, 1, WAIT, 34000, 36000);
    fence(&f, 0, 40000, 46000);
    fence(&f, 1, 45000, 46000);
    end(&f);
    char *json = run_tool(&f.job, "--json %s/other.otf2", &status);
    if (status)
        print_message("%s", json);
    assert_int_equal(status, 0);
    assert_true(json_number(json, "late_post", "total") == 18e6);
    assert_true(json_number(json, "wait_at_fence", "total") == 5e6);
    assert_true(json_number(json, "early_wait", "total") == 0);
    assert_non_null(strstr(json, "\"MPI_Win_start\": 18000000"));
    free(json);
    char *output = run_tool(&f.job, "%s/other.otf2", &status);
    assert_int_equal(status, 0);
    assert_non_null(strstr(output, "written by another tool"));
    assert_non_null(strstr(output, "not recorded in this archive: Early Fence"));
    free(output);
    make_free(&f.job);
}

static void no_rma(void **state)
{
    struct foreign f;
    int status;

    (void)state;
    begin(&f);
    end(&f);
    char *said = run_tool(&f.job, "%s/other.otf2", &status);
    assert_int_equal(status, 1);
    assert_non_null(strstr(said, "4 events, none of them of one-sided communication"));
    free(said);
    make_free(&f.job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits), cmocka_unit_test(no_rma)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
