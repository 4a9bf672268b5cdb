/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traces_check.c - see traces_check.h.
 */
#include "traces_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive.h"
#include "model.h"

#define CHECK(condition, ...) ((condition) ? (void)0 : wrong(__LINE__, __VA_ARGS__))

static _Noreturn __attribute__((format(printf, 2, 3))) void wrong(int line, const char *fmt, ...)
{
    va_list args;

    fprintf(stderr, "traces_check.c:%d: ", line);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}

/* ---- as mpi-rma-trace reads it ---- */

static void check_calls(const struct trace *trace, const struct traces_expected *expected)
{
    CHECK(trace->ncalls == expected->calls, "%zu calls, expected %" PRIu64, trace->ncalls,
          expected->calls);
    for (size_t i = 0; i < trace->ncalls; i++) {
        const struct call *call = &trace->call[i];

        CHECK(call->leave >= call->enter && !(expected->whole && call->unrecorded),
              "call %zu of rank %u begins at %" PRIu64 ", ends at %" PRIu64, i, call->rank,
              call->enter, call->leave);
    }
}

static void check_operations(const struct trace *trace, const struct traces_expected *expected)
{
    CHECK(trace->nops == expected->ops, "%zu operations, expected %" PRIu64, trace->nops,
          expected->ops);
    for (size_t i = 0; i < trace->nops; i++) {
        const struct operation *op = &trace->op[i];

        CHECK(op->local >= op->issue && op->remote >= op->local &&
                  !(expected->whole && op->unrecorded) &&
                  (!op->arrived || op->arrived <= op->remote),
              "operation %" PRIu64 " of rank %u: issued %" PRIu64 ", complete %" PRIu64
              " and %" PRIu64 ", arrived %" PRIu64,
              op->id, op->rank, op->issue, op->local, op->remote, op->arrived);
    }
}

static void check_locks(const struct trace *trace, const struct traces_expected *expected)
{
    CHECK(trace->nlocks == expected->locks, "%zu locks, expected %" PRIu64, trace->nlocks,
          expected->locks);
    for (size_t i = 0; i < trace->nlocks; i++) {
        const struct lock_use *lock = &trace->lock[i];

        CHECK(lock->acquire >= lock->request && lock->release >= lock->acquire,
              "lock of rank %u: request %" PRIu64 ", grant %" PRIu64 ", release %" PRIu64,
              lock->rank, lock->request, lock->acquire, lock->release);
    }
}

/* No process leaves a collective call before all have entered. */
static void check_collective_calls(const struct trace *trace)
{
    for (size_t i = 0; i < trace->ncalls; i++)
        for (size_t k = 0; k < trace->ncalls; k++) {
            const struct call *a = &trace->call[i], *b = &trace->call[k];

            if (a->synchronizes && b->synchronizes && a->win == b->win && a->call == b->call &&
                a->sequence == b->sequence)
                CHECK(a->leave >= b->enter,
                      "call %u number %u: rank %u has left it at %" PRIu64
                      ", rank %u enters at %" PRIu64,
                      a->call, a->sequence, a->rank, a->leave, b->rank, b->enter);
        }
}

static void read_as_we_do(const char *anchor, const struct traces_expected *expected)
{
    struct trace trace;

    CHECK(trace_read(&trace, anchor, NULL), "%s cannot be read", anchor);
    CHECK(trace.nranks == (uint32_t)expected->nproc, "%u ranks", trace.nranks);
    check_calls(&trace, expected);
    check_operations(&trace, expected);
    check_locks(&trace, expected);
    if (expected->whole)
        check_collective_calls(&trace);
    trace_free(&trace);
}

/* ---- as otf2-print reads it ---- */

enum { PLACES = 64, DEPTH = 32, OPS_MAX = 1 << 16, REGION = 48 };

/* What was printed of one location. */
struct printed {
    uint64_t last;
    char open[DEPTH][REGION];
    unsigned depth;
    unsigned char op[OPS_MAX]; /* by number: 1 issued, + 2 complete here, + 4 there */
    uint64_t requests, grants, releases, blocking;
};

static struct printed *places;

static void print_region(struct printed *place, bool enter, const char *line)
{
    const char *name = strstr(line, "Region: \"");
    char region[REGION];

    CHECK(name && sscanf(name, "Region: \"%47[^\"]", region) == 1, "no region in %s", line);
    if (enter) {
        CHECK(place->depth < DEPTH, "too many regions in %s", line);
        strcpy(place->open[place->depth++], region);
    } else
        CHECK(place->depth > 0 && strcmp(place->open[--place->depth], region) == 0,
              "not the innermost region: %s", line);
}

static void print_operation(struct printed *place, unsigned char before, unsigned char event,
                            const char *line)
{
    const char *at = strstr(line, "Matching: ");
    const uint64_t id = at ? strtoull(at + strlen("Matching: "), NULL, 10) : 0;

    CHECK(id > 0 && id < OPS_MAX, "no number in %s", line);
    CHECK(place->op[id] == before, "this comes after %u: %s", place->op[id], line);
    place->op[id] |= event;
}

/* One event. */
static void print_line(const char *line)
{
    char word[64];
    unsigned location;
    uint64_t time;

    if (sscanf(line, "%63s %u %" SCNu64, word, &location, &time) != 3)
        return;
    CHECK(location < PLACES, "location %u", location);
    struct printed *place = &places[location];
    CHECK(time >= place->last, "the time goes back: %s", line);
    place->last = time;
    if (strcmp(word, "ENTER") == 0 || strcmp(word, "LEAVE") == 0)
        print_region(place, *word == 'E', line);
    else if (strcmp(word, "RMA_PUT") == 0 || strcmp(word, "RMA_GET") == 0 ||
             strcmp(word, "RMA_ATOMIC") == 0)
        print_operation(place, 0, 1, line);
    else if (strcmp(word, "RMA_OP_COMPLETE_NON_BLOCKING") == 0 ||
             strcmp(word, "RMA_OP_COMPLETE_BLOCKING") == 0) {
        print_operation(place, 1, 2, line);
        place->blocking += strcmp(word, "RMA_OP_COMPLETE_BLOCKING") == 0;
    } else if (strcmp(word, "RMA_OP_COMPLETE_REMOTE") == 0)
        print_operation(place, 3, 4, line);
    else if (strcmp(word, "RMA_REQUEST_LOCK") == 0)
        place->requests++;
    else if (strcmp(word, "RMA_ACQUIRE_LOCK") == 0)
        place->grants++;
    else if (strcmp(word, "RMA_RELEASE_LOCK") == 0)
        place->releases++;
}

/* All that has begun has its end. */
static uint64_t print_end(const struct printed *place)
{
    uint64_t ops = 0;

    CHECK(place->depth == 0, "%s has no end", place->open[place->depth - 1]);
    for (size_t i = 0; i < OPS_MAX; i++) {
        CHECK(place->op[i] == 0 || place->op[i] == 7, "operation %zu is not complete: %u", i,
              place->op[i]);
        ops += place->op[i] != 0;
    }
    CHECK(place->releases == place->requests && place->grants >= place->requests,
          "%" PRIu64 " locks, %" PRIu64 " grants, %" PRIu64 " releases", place->requests,
          place->grants, place->releases);
    return ops;
}

/* Operations that the call has done that issued them. */
static uint64_t done_at_once(const char *dir)
{
    struct spool spool;
    uint64_t n = 0;

    CHECK(spool_open(&spool, dir), "no spool");
    for (size_t i = 0; i < spool.n; i++)
        for (size_t k = 0; k < spool.file[i].n; k++)
            n += spool.file[i].record[k].kind == TRACE_DONE;
    spool_close(&spool);
    return n;
}

static void read_as_others_do(const char *dir, const char *anchor,
                              const struct traces_expected *expected)
{
    char *command = text("otf2-print '%s' 2>&1", anchor), *line = NULL;
    FILE *stream = popen(command, "r");
    size_t room = 0;
    uint64_t ops = 0, locks = 0, blocking = 0;

    CHECK(stream, "%s", command);
    places = zalloc(PLACES, sizeof *places);
    while (getline(&line, &room, stream) >= 0) {
        CHECK(!strstr(line, "warning") && !strstr(line, "error"), "otf2-print: %s", line);
        print_line(line);
    }
    CHECK(pclose(stream) == 0, "%s has failed", command);
    for (size_t i = 0; i < PLACES; i++) {
        ops += print_end(&places[i]);
        locks += places[i].requests;
        blocking += places[i].blocking;
    }
    CHECK(ops == expected->ops && locks == expected->locks,
          "otf2-print: %" PRIu64 " operations, %" PRIu64 " locks", ops, locks);
    CHECK(blocking == done_at_once(dir), "otf2-print: %" PRIu64 " blocking operations", blocking);
    free(places);
    free(line);
    free(command);
}

void traces_check_archive(const char *dir, const struct traces_expected *expected)
{
    static int printer = -1;
    char *anchor = text("%s/" ARCHIVE_NAME ".otf2", dir);

    if (printer < 0)
        printer = system("command -v otf2-print >/dev/null") == 0;
    CHECK(archive_write(dir), "no archive");
    read_as_we_do(anchor, expected);
    if (printer)
        read_as_others_do(dir, anchor, expected);
    free(anchor);
}

/* ---- clocks ---- */

void traces_check_messages(const char *dir, const struct traces_message *message, size_t n,
                           uint64_t error)
{
    struct spool spool;
    struct job job;

    CHECK(spool_open(&spool, dir), "no spool");
    job_read(&job, &spool);
    for (size_t i = 0; i < n; i++) {
        const struct traces_message *m = &message[i];
        const uint64_t sent = machine_time(job_machine(&job, m->from), m->sent),
                       arrived = machine_time(job_machine(&job, m->to), m->arrived);

        CHECK(arrived >= sent,
              "a message from machine %" PRIu64 " to %" PRIu64 " arrives %" PRIu64
              " ns before it was sent",
              m->from, m->to, sent - arrived);
        CHECK(u64_minus(arrived, m->truly) <= error && u64_minus(m->truly, arrived) <= error,
              "a message arrives at machine %" PRIu64 " at %" PRIu64 ", in truth at %" PRIu64,
              m->to, arrived, m->truly);
    }
    job_free(&job);
    spool_close(&spool);
}
