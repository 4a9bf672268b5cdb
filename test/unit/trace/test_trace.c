/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_trace.c - src/trace/record.h: what threads record is in their files, in order, with
 * everything it had; also when the process is killed and when the disk is full.
 */
#include "test/support/trace_rig.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

static void add(struct trace *tr, uint64_t i)
{
    trace_add(tr, &(struct trace_record){.time = trace_now(tr),
                                         .kind = TRACE_OP,
                                         .what = TRACE_PUT,
                                         .win = (uint32_t)i % 5 + 1,
                                         .peer = -(int32_t)i,
                                         .arg = TRACE_PACKETS,
                                         .id = i,
                                         .bytes = i * 3});
}

/* n records of add() and nothing but TRACE_WRITE between them, times that do not decrease. */
static void expect_adds(const struct file *f, uint64_t n)
{
    uint64_t next = 0, before = f->head.start;
    for (size_t i = 0; i < f->n; i++) {
        const struct trace_record *rec = &f->rec[i];
        assert_true(rec->time >= before);
        before = rec->time;
        if (rec->kind == TRACE_WRITE)
            continue;
        assert_int_equal(rec->kind, TRACE_OP);
        assert_int_equal(rec->what, TRACE_PUT);
        assert_int_equal(rec->id, next);
        assert_int_equal(rec->bytes, next * 3);
        assert_int_equal(rec->win, next % 5 + 1);
        assert_int_equal(rec->peer, -(int32_t)next);
        assert_int_equal(rec->arg, TRACE_PACKETS);
        next++;
    }
    assert_int_equal(next, n);
}

/* How many records are not the trace's own. */
static uint64_t added(const struct file *f)
{
    uint64_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += f->rec[i].kind != TRACE_WRITE;
    return n;
}

static void the_head_says_who(void **state)
{
    struct rig *rig = *state;
    struct file f = read_file(rig, 0);
    char host[SPOOL_TEXT] = "";
    gethostname(host, sizeof host - 1);
    assert_int_equal(f.head.magic, SPOOL_MAGIC);
    assert_int_equal(f.head.version, SPOOL_VERSION);
    assert_int_equal(f.head.record_size, sizeof(struct trace_record));
    assert_int_equal(f.head.rank, 3);
    assert_int_equal(f.head.nproc, 7);
    assert_int_equal(f.head.thread, 0);
    assert_int_equal(f.head.thread_kind, SPOOL_APPLICATION);
    assert_int_equal(f.head.machine, 0x1234567890);
    assert_string_equal(f.head.host_mpi, "a host");
    assert_string_equal(f.head.hostname, host);
    const int64_t since_1970 = (int64_t)f.head.start + f.head.to_realtime;
    assert_true(llabs(since_1970 / 1000000000 - (int64_t)time(NULL)) < 60);
    free(f.rec);
}

static void many_are_all_there_in_order(void **state)
{
    struct rig *rig = *state;
    for (uint64_t i = 0; i < MANY; i++)
        add(rig->tr, i);
    trace_close(rig->tr);
    rig->tr = NULL;
    struct file f = read_file(rig, 0);
    expect_adds(&f, MANY);
    size_t written = 0;
    for (size_t i = 0; i < f.n; i++)
        written += f.rec[i].kind == TRACE_WRITE && f.rec[i].bytes > 0;
    assert_int_equal(written, MANY * sizeof(struct trace_record) / (1 << 18));
    assert_int_equal(f.bytes, sizeof f.head + f.n * sizeof *f.rec); /* cut to its length */
    free(f.rec);
}

static void *thread(void *arg)
{
    struct trace *tr = arg;
    trace_thread_is(tr, SPOOL_AGENT);
    for (uint64_t i = 0; i < MANY / 2; i++)
        add(tr, i);
    return NULL;
}

static void *short_thread(void *arg)
{
    struct rig *rig = arg;
    add(rig->tr, 0);
    pthread_barrier_wait(&rig->recorded);
    return NULL;
}

/* MPI_Finalize may close a trace while threads of the program end. */
static void threads_may_end_while_it_is_closed(void **state)
{
    struct rig *rig = *state;
    pthread_t t[3];
    assert_int_equal(pthread_barrier_init(&rig->recorded, NULL, 4), 0);
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < 3; i++)
            assert_int_equal(pthread_create(&t[i], NULL, short_thread, rig), 0);
        pthread_barrier_wait(&rig->recorded);
        trace_close(rig->tr);
        for (int i = 0; i < 3; i++)
            pthread_join(t[i], NULL);
        for (unsigned i = 0; i < 4; i++) {
            struct file f = read_file(rig, i);
            assert_int_equal(added(&f), i ? 1 : 0);
            free(f.rec);
        }
        const struct trace_spec spec = spec_of(rig);
        assert_int_equal(trace_open(&spec, &rig->tr), MRMA_SUCCESS);
    }
    pthread_barrier_destroy(&rig->recorded);
}

static void each_thread_has_its_own_file(void **state)
{
    struct rig *rig = *state;
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&t[i], NULL, thread, rig->tr), 0);
    for (uint64_t i = 0; i < MANY; i++)
        add(rig->tr, i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    trace_close(rig->tr);
    rig->tr = NULL;
    for (unsigned i = 0; i < 4; i++) {
        struct file f = read_file(rig, i);
        assert_int_equal(f.head.thread, i);
        assert_int_equal(f.head.thread_kind, i ? SPOOL_AGENT : SPOOL_APPLICATION);
        assert_string_equal(f.head.host_mpi, "a host");
        expect_adds(&f, i ? MANY / 2 : MANY);
        free(f.rec);
    }
}

static void operations_have_different_numbers(void **state)
{
    struct rig *rig = *state;
    uint64_t before = 0;
    for (int i = 0; i < 1000; i++) {
        const uint64_t id = trace_next_op(rig->tr);
        assert_true(id > before);
        before = id;
    }
}

static void ranks_follow_their_record(void **state)
{
    struct rig *rig = *state;
    int ranks[20];
    size_t at = 1;
    for (int i = 0; i < 20; i++)
        ranks[i] = 100 + i;
    const uint64_t now = trace_now(rig->tr);
    trace_add(rig->tr, &(struct trace_record){.time = now, .kind = TRACE_START, .id = 20});
    trace_add_ranks(rig->tr, now, ranks, 20);
    struct file f = read_file(rig, 0);
    for (int done = 0; done < 20; at++) {
        struct trace_ranks part;
        memcpy(&part, &f.rec[at], sizeof part);
        assert_int_equal(part.kind, TRACE_RANKS);
        assert_int_equal(part.time, now);
        assert_int_equal(part.n, done + TRACE_RANKS_MAX < 20 ? TRACE_RANKS_MAX : 20 - done);
        for (int i = 0; i < part.n; i++)
            assert_int_equal(part.rank[i], ranks[done + i]);
        done += part.n;
    }
    assert_int_equal(at, f.n);
    free(f.rec);
}

/* Texts of any length: one record, several, an exact multiple of what one holds. */
static void objects_have_their_paths(void **state)
{
    struct rig *rig = *state;
    char path[3][2 * TRACE_TEXT_MAX + 2] = {"/bin/program"};
    memset(path[1], 'a', 2 * TRACE_TEXT_MAX + 1);
    memset(path[2], 'b', 2 * TRACE_TEXT_MAX);
    for (uint32_t i = 0; i < 3; i++)
        trace_add_object(
            rig->tr, &(struct trace_object){.pages = i + 1, .begin = 4096, .base = 8, .build = 9},
            path[i]);
    struct file f = read_file(rig, 0);
    size_t at = 0;
    for (uint32_t i = 0; i < 3; i++) {
        struct trace_object object;
        size_t done = 0;
        memcpy(&object, &f.rec[at++], sizeof object);
        assert_int_equal(object.kind, TRACE_OBJECT);
        assert_int_equal(object.pages, i + 1);
        assert_true(object.begin == 4096 && object.base == 8 && object.build == 9);
        while (done < strlen(path[i])) {
            struct trace_text part;
            memcpy(&part, &f.rec[at++], sizeof part);
            assert_int_equal(part.kind, TRACE_TEXT);
            assert_int_equal(part.time, object.time);
            assert_true(part.length > 0 && part.length <= TRACE_TEXT_MAX);
            assert_memory_equal(part.text, path[i] + done, part.length);
            done += part.length;
        }
        assert_int_equal(done, strlen(path[i]));
    }
    assert_int_equal(at, f.n);
    free(f.rec);
}

static int record_until_killed(void *arg)
{
    struct trace *tr = arg;
    trace_close(NULL);
    for (uint64_t i = 0; i < MANY; i++)
        add(tr, i);
    kill(getpid(), SIGKILL);
    return 1;
}

/* The child makes a trace of its own in the same directory: what it inherits is not mapped there.
 */
static int open_and_be_killed(void *arg)
{
    const struct trace_spec spec = spec_of(arg);
    struct trace *tr;
    CHILD_CHECK(trace_open(&spec, &tr) == MRMA_SUCCESS);
    return record_until_killed(tr);
}

static void what_a_killed_process_recorded_is_there(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(run_child(open_and_be_killed, rig), 128 + SIGKILL);
    struct file f = read_file(rig, 0);
    expect_adds(&f, MANY);
    assert_true(f.bytes > sizeof f.head + f.n * sizeof *f.rec); /* nobody has cut it */
    free(f.rec);
}

/* A limit to the size of files stands for the end of the disk. */
static void a_full_disk_ends_the_recording_with_one_message(void **state)
{
    enum { ROOM = 1 << 20 };
    struct rig *rig = *state;
    char text[1024];
    struct rlimit before, limit;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = ROOM;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (uint64_t i = 0; i < MANY; i++)
        add(rig->tr, i);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    log_text(&rig->log, text, sizeof text);
    assert_non_null(strstr(text, "MPIRMA_TRACE"));
    assert_non_null(strstr(text, rig->dir));
    assert_non_null(strstr(text, strerror(EFBIG)));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    struct file f = read_file(rig, 0);
    assert_true(f.n > ROOM / 2 / sizeof *f.rec && f.n < ROOM / sizeof *f.rec);
    assert_true(f.bytes <= ROOM);
    assert_int_equal(f.head.full, EFBIG);
    assert_int_equal(f.head.threads, 1);
    expect_adds(&f, added(&f));
    free(f.rec);
}

static void a_directory_that_cannot_be_made_is_an_error(void **state)
{
    struct rig *rig = *state;
    char text[1024], dir[128];
    struct trace_spec spec = spec_of(rig);
    struct trace *tr;
    snprintf(dir, sizeof dir, "%s/not/there", rig->dir);
    spec.dir = dir;
    assert_int_equal(trace_prepare(&spec), MRMA_ERR_OTHER);
    assert_int_equal(trace_open(&spec, &tr), MRMA_ERR_OTHER);
    log_text(&rig->log, text, sizeof text);
    assert_non_null(strstr(text, dir));
    assert_non_null(strstr(text, strerror(ENOENT)));
}

static void preparing_removes_files_of_an_earlier_job_only(void **state)
{
    struct rig *rig = *state;
    const struct trace_spec spec = spec_of(rig);
    static const char *const names[] = {"3-0", "12-34", "notes", "3-", "-3", "3-0x", "traces.otf2"};
    char name[128];
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "%s/" SPOOL_DIR "/%s", rig->dir, names[i]);
        fclose(fopen(name, "a"));
    }
    assert_int_equal(trace_prepare(&spec), MRMA_SUCCESS);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "%s/" SPOOL_DIR "/%s", rig->dir, names[i]);
        assert_int_equal(unlink(name), i < 2 ? -1 : 0);
    }
}

/* What has begun before the recording is stopped gets its end, and windows are recorded always; a
 * second stop is none. */
static void test_stop(void **state)
{
    static const uint16_t kinds[] = {TRACE_OP,    TRACE_WIN_CREATE, TRACE_LEAVE,
                                     TRACE_SERVE, TRACE_REGION_END, TRACE_ENTER};
    static const uint16_t expected[] = {TRACE_OP,         TRACE_WIN_CREATE, TRACE_LEAVE,
                                        TRACE_SERVE,      TRACE_REGION_END, TRACE_ENTER,
                                        TRACE_RECORDING,  TRACE_WIN_CREATE, TRACE_LEAVE,
                                        TRACE_REGION_END, TRACE_RECORDING,  TRACE_OP};
    struct rig *rig = *state;

    for (int stopped = 0; stopped < 2; stopped++) {
        if (stopped) {
            trace_recording(rig->tr, false);
            trace_recording(rig->tr, false);
        }
        assert_int_equal(trace_is_stopped(rig->tr), stopped);
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            trace_add(rig->tr,
                      &(struct trace_record){.time = trace_now(rig->tr), .kind = kinds[i]});
    }
    trace_recording(rig->tr, true);
    trace_recording(rig->tr, true);
    trace_add(rig->tr, &(struct trace_record){.time = trace_now(rig->tr), .kind = TRACE_OP});
    struct file f = read_file(rig, 0);
    assert_int_equal(f.n, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < f.n; i++)
        assert_int_equal(f.rec[i].kind, expected[i]);
    assert_int_equal(f.rec[6].arg, 0);
    assert_int_equal(f.rec[10].arg, 1);
    free(f.rec);
}

int main(void)
{
#define IN_A_RIG(test) cmocka_unit_test_setup_teardown(test, rig_open, rig_close)
    const struct CMUnitTest tests[] = {
        IN_A_RIG(test_stop),
        IN_A_RIG(the_head_says_who),
        IN_A_RIG(many_are_all_there_in_order),
        IN_A_RIG(each_thread_has_its_own_file),
        IN_A_RIG(threads_may_end_while_it_is_closed),
        IN_A_RIG(operations_have_different_numbers),
        IN_A_RIG(ranks_follow_their_record),
        IN_A_RIG(objects_have_their_paths),
        IN_A_RIG(what_a_killed_process_recorded_is_there),
        IN_A_RIG(a_full_disk_ends_the_recording_with_one_message),
        IN_A_RIG(a_directory_that_cannot_be_made_is_an_error),
        IN_A_RIG(preparing_removes_files_of_an_earlier_job_only),
    };
    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
