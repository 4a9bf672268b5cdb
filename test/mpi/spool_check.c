/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spool_check.c - is what a traced job has left in DIR/spool right (trace/spool.h)?
 *
 *   spool_check DIR NPROCS [partly]
 *
 * For each thread of each rank: times that do not decrease, calls that are nested and all ended,
 * operations inside calls on windows that exist, completions of operations that were issued, one
 * grant and one release for each lock, and windows that all their processes have made and freed.
 * Prints "rank R: PATH N ops B bytes, ..." as the statistics of the library do, and what is wrong.
 * Exit code 1 if anything is. partly: windows may have more ranks, which were not traced.
 */
#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../trace/spool_kinds.h"
#include "trace/spool_pack.h"

enum { WINS_MAX = 4096, DEPTH_MAX = 16, RANKS_MAX = 256, NUMBERS_MAX = 100000 };

struct window {
    uint64_t number; /* 0: does not exist */
    uint32_t nproc;
    uint32_t used[RANKS_MAX]; /* operations since the lock on each target */
    bool nocheck;             /* so was the last lock */
};

struct process {
    struct window win[WINS_MAX];
    uint64_t ops[TRACE_NETWORK + 1], bytes[TRACE_NETWORK + 1], last_op, last_done;
    /* Locks asked for, and those by whom grants must and may be seen: a lock under which nothing
     * was done by packet is never granted, one on all targets by each of them. */
    uint64_t locks, must, may, granted, released, done;
    uint64_t wakes, served;
    unsigned files, clocks;
    uint64_t machine;
};

struct thread {
    const char *name;
    struct process *proc;
    uint16_t call[DEPTH_MAX];
    unsigned number, depth;
    uint64_t time;
};

static struct process *processes[RANKS_MAX];
static struct {
    uint64_t number;
    uint32_t nproc, made;
} numbers[NUMBERS_MAX];
static unsigned nnumbers, nproc, nbad;
static bool partly;

static void bad(const struct thread *th, size_t at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    printf("spool_check: %s, record %zu: ", th->name, at);
    vprintf(fmt, args);
    putchar('\n');
    va_end(args);
    if (++nbad > 20)
        exit(1);
}

static void window_made(struct thread *th, size_t at, const struct trace_record *r)
{
    struct window *w = &th->proc->win[r->win];
    unsigned i = 0;
    if (w->number || !r->id)
        bad(th, at, "window %u is made twice, or has no number", r->win);
    *w = (struct window){.number = r->id, .nproc = r->arg};
    while (i < nnumbers && numbers[i].number != r->id)
        i++;
    if (i == nnumbers) {
        nnumbers++;
        numbers[i].number = r->id;
        numbers[i].nproc = r->arg;
    }
    numbers[i].made++;
    if (numbers[i].nproc != r->arg)
        bad(th, at, "window %u has %u ranks, elsewhere %u", r->win, r->arg, numbers[i].nproc);
}

static void operation(struct thread *th, size_t at, const struct trace_record *r)
{
    struct process *p = th->proc;
    const uint32_t path = r->arg & TRACE_OP_PATH;
    struct window *w = &p->win[r->win];
    if (!th->depth)
        bad(th, at, "an operation outside of all calls");
    if (r->id <= p->last_op && p->files == 1)
        bad(th, at, "operation %llu comes after %llu", (unsigned long long)r->id,
            (unsigned long long)p->last_op);
    p->last_op = r->id > p->last_op ? r->id : p->last_op;
    if ((th->number == 0 && (uint32_t)r->peer >= w->nproc) || !path || path > TRACE_NETWORK) {
        bad(th, at, "an operation %u to rank %d by path %u", r->what, r->peer, path);
        return;
    }
    w->used[r->peer]++;
    p->ops[path]++;
    p->bytes[path] += r->bytes;
}

static void call(struct thread *th, size_t at, const struct trace_record *r)
{
    if (r->kind == TRACE_ENTER && th->depth == DEPTH_MAX)
        bad(th, at, "call %u at depth %u", r->what, th->depth);
    else if (r->kind == TRACE_ENTER)
        th->call[th->depth++] = r->what;
    else if (!th->depth || th->call[--th->depth] != r->what)
        bad(th, at, "call %u ends, which is not the innermost", r->what);
}

static void lock(struct process *p, struct window *w, const struct trace_record *r)
{
    w->nocheck = r->what & TRACE_LOCK_NOCHECK;
    if (r->peer >= 0)
        w->used[r->peer] = 0;
    if (w->nocheck)
        return;
    p->locks++;
    p->must += r->peer < 0;
    p->may += r->peer < 0 ? 1 + w->nproc : 1;
}

static void check_record(struct thread *th, size_t at, const struct trace_record *r)
{
    struct process *p = th->proc;
    if (r->time < th->time)
        bad(th, at, "time goes back by %llu ns", (unsigned long long)(th->time - r->time));
    th->time = r->time;
    if (r->kind >= TRACE_KINDS ||
        (r->kind != TRACE_RANKS && !spool_fields_good(r, partly ? RANKS_MAX : nproc))) {
        bad(th, at, "the fields of kind %u are not right", r->kind);
        return;
    }
    if (r->kind == TRACE_NAME || r->kind == TRACE_RANKS || r->kind == TRACE_OBJECT ||
        r->kind == TRACE_TEXT || r->kind == TRACE_ACCESS)
        return;
    /* Other threads' files are not in the order of this one's. */
    if (r->win >= WINS_MAX || (spool_window_of(r->kind) == SPOOL_OPEN_WINDOW && th->number == 0 &&
                               !p->win[r->win].number)) {
        bad(th, at, "kind %u of window %u, which does not exist", r->kind, r->win);
        return;
    }
    switch (r->kind) {
    case TRACE_ENTER:
    case TRACE_LEAVE:
        call(th, at, r);
        break;
    case TRACE_WIN_CREATE:
        window_made(th, at, r);
        break;
    case TRACE_WIN_FREE:
        p->win[r->win].number = 0;
        break;
    case TRACE_OP:
        operation(th, at, r);
        break;
    case TRACE_DONE:
    case TRACE_DONE_ALL:
        p->done++;
        p->last_done = r->id > p->last_done ? r->id : p->last_done;
        if (!r->id || (th->number == 0 && r->id > p->last_op && p->files == 1))
            bad(th, at, "operation %llu is complete and was not issued", (unsigned long long)r->id);
        break;
    case TRACE_WAKE_AGENT:
        p->wakes++;
        break;
    case TRACE_SERVED:
        p->served += r->arg;
        break;
    case TRACE_CLOCK:
        p->clocks++;
        break;
    case TRACE_LOCK:
        lock(p, &p->win[r->win], r);
        break;
    case TRACE_LOCKED:
        p->granted++;
        break;
    case TRACE_UNLOCK:
        p->released++;
        if (r->peer >= 0 && p->win[r->win].used[r->peer] && !p->win[r->win].nocheck)
            p->must++;
        break;
    default:
        break;
    }
}

/* The records end at this one, and the file should end there too. Zeros behind it are room that the
 * process has not cut off: it was killed, or has not ended its trace. Anything else was recorded
 * behind a record that was never finished. */
static void check_end(const struct thread *th, size_t at, const struct trace_record *end, FILE *in)
{
    static const struct trace_record zero;
    struct trace_record r = *end;
    unsigned kind = TRACE_END;
    size_t n = 0, others = 0;
    do {
        if (memcmp(&r, &zero, sizeof r) != 0 && others++ == 0)
            kind = r.kind;
        n++;
    } while (fread(&r, sizeof r, 1, in) == 1);
    if (others)
        bad(th, at, "the records end, but of %zu from here on %zu are not empty, first of kind %u",
            n, others, kind);
    else
        bad(th, at, "the records end, but the file has room for %zu more: it was not closed", n);
}

static void check_file(const char *path, const char *name)
{
    struct spool_head head;
    struct trace_record r, all[SPOOL_UNPACKED_MAX];
    uint64_t before = 0;
    size_t at = 0;
    struct thread th = {.name = name};
    FILE *in = fopen(path, "r");
    if (!in || fread(&head, sizeof head, 1, in) != 1 || head.magic != SPOOL_MAGIC ||
        head.version != SPOOL_VERSION || head.record_size != sizeof r || head.nproc != nproc ||
        head.rank >= nproc) {
        printf("spool_check: %s can't be read or has a wrong head\n", path);
        exit(1);
    }
    if (!processes[head.rank])
        processes[head.rank] = calloc(1, sizeof *processes[0]);
    th.proc = processes[head.rank];
    th.proc->files++;
    th.number = head.thread;
    th.proc->machine = head.machine;
    th.time = head.start;
    for (; fread(&r, sizeof r, 1, in) == 1 && r.kind != TRACE_END; at++) {
        const unsigned some = spool_unpack(&r, &before, all);

        for (unsigned i = 0; i < some; i++)
            check_record(&th, at, &all[i]);
    }
    if (!feof(in))
        check_end(&th, at, &r, in);
    if (th.depth)
        bad(&th, at, "%u calls have not ended", th.depth);
    fclose(in);
}

static void print_process(unsigned rank)
{
    const struct process *p = processes[rank];
    const uint64_t *o = p->ops, *b = p->bytes;
#define LLU(x) (unsigned long long)(x)
    printf("rank %u: mapped %llu ops %llu bytes, cma %llu ops %llu bytes, shm-packets %llu ops "
           "%llu bytes, net-packets %llu ops %llu bytes; %llu completions, %llu locks, %llu "
           "granted, %llu released, "
           "%llu operations served, %llu agents woken\n",
           rank, LLU(o[TRACE_MAPPED]), LLU(b[TRACE_MAPPED]), LLU(o[TRACE_ASSISTED]),
           LLU(b[TRACE_ASSISTED]), LLU(o[TRACE_PACKETS]), LLU(b[TRACE_PACKETS]),
           LLU(o[TRACE_NETWORK]), LLU(b[TRACE_NETWORK]), LLU(p->done), LLU(p->locks),
           LLU(p->granted), LLU(p->released), LLU(p->served), LLU(p->wakes));
}

static void check_process(unsigned rank)
{
    const struct process *p = processes[rank];
    if (!p) {
        printf("spool_check: rank %u has left nothing\n", rank);
        nbad++;
        return;
    }
    print_process(rank);
    for (unsigned i = 0; i < WINS_MAX; i++)
        if (p->win[i].number) {
            printf("spool_check: rank %u has not freed window %u\n", rank, i);
            nbad++;
        }
    if (p->last_done > p->last_op) {
        printf("spool_check: rank %u: operation %llu is complete and was not issued\n", rank,
               (unsigned long long)p->last_done);
        nbad++;
    }
    /* All processes of a test share the clock, on pretended nodes too. */
    if (p->machine != processes[0]->machine || p->clocks) {
        printf("spool_check: rank %u has not rank 0's clock, or has compared it, %u times\n", rank,
               p->clocks);
        nbad++;
    }
    if (p->granted < p->must || p->granted > p->may || p->locks > p->released) {
        printf("spool_check: rank %u: locks, grants and releases do not agree\n", rank);
        nbad++;
    }
}

int main(int argc, char **argv)
{
    char path[4096];
    const struct dirent *entry;
    partly = argc == 4 && strcmp(argv[3], "partly") == 0;
    if ((argc != 3 && !partly) || (nproc = (unsigned)atoi(argv[2])) < 1 || nproc > RANKS_MAX) {
        fprintf(stderr, "usage: spool_check DIR NPROCS [partly]\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/spool", argv[1]);
    DIR *dir = opendir(path);
    while (dir && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/spool/%s", argv[1], entry->d_name);
        check_file(path, entry->d_name);
    }
    if (dir)
        closedir(dir);
    for (unsigned i = 0; i < nproc; i++)
        check_process(i);
    for (unsigned i = 0; i < nnumbers; i++)
        if (numbers[i].made != numbers[i].nproc && !partly) {
            printf("spool_check: %u of %u processes have made a window\n", numbers[i].made,
                   numbers[i].nproc);
            nbad++;
        }
    return nbad != 0;
}
