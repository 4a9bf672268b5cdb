/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_boot_mpi.c - the exchange of window creation (boot/boot_mpi.c): everybody gets what
 * everybody gave, but where many give one digest; who refuses, or has no memory to receive, is
 * heard by all; a long wait is reported.
 *
 * Ranks are threads. The host's functions that are used are the ones below, for one collective
 * at a time: a rank that does not come, or comes to another one, shows as a hang or a failed check.
 */
#include "test/support/base_helper.h"

#include <pthread.h>
#include <sched.h>

#include "test/sim/fabric.h"
#include "base/err.h"
#include "boot/boot_mpi.h"

enum { FEW = 2, MANY = BOOT_FEW + 8, ROW = 64, BYTES = BOOT_FIRST_BYTES };

/* ---- memory ---- */

static _Thread_local long until_failure; /* allocations; 0: none fails */

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
    return until_failure > 0 && --until_failure == 0 ? NULL : __real_malloc(size);
}

/* ---- the host ---- */

enum kind { GATHER, MAX, MAX_WORDS };

static struct {
    pthread_mutex_t mutex;
    int n;
    struct {
        int arrived;
        enum kind kind;
        size_t len;
        unsigned char rows[MANY][ROW];
    } rounds[2]; /* the present one and the one before, which some may not have left */
    unsigned done;
} meeting = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local int my_rank;
static _Thread_local unsigned my_round;
static _Thread_local void *my_result;
static _Thread_local int my_requests; /* that are not complete */
static _Thread_local int fail_test; /* so many calls of host_test to the one that fails; 0: none */

static int arrive(enum kind kind, const void *mine, void *result, size_t len)
{
    pthread_mutex_lock(&meeting.mutex);
    const unsigned at = my_round % 2;
    if (meeting.rounds[at].arrived++ == 0) {
        meeting.rounds[at].kind = kind;
        meeting.rounds[at].len = len;
    }
    FABRIC_CHECK(len <= ROW && meeting.rounds[at].kind == kind && meeting.rounds[at].len == len);
    memcpy(meeting.rounds[at].rows[my_rank], mine, len);
    my_result = result;
    if (meeting.rounds[at].arrived == meeting.n) {
        meeting.rounds[!at].arrived = 0;
        meeting.done++;
    }
    pthread_mutex_unlock(&meeting.mutex);
    return MPI_SUCCESS;
}

/* Any value but null. */
static void start_request(MPI_Request *request)
{
    my_requests++;
    if (request)
        memset(request, 1, sizeof *request);
}

int PMPI_Iallgather(const void *mine, int n, MPI_Datatype type, void *all, int each,
                    MPI_Datatype all_type, MPI_Comm comm, MPI_Request *request)
{
    (void)comm;
    start_request(request);
    FABRIC_CHECK(n == each && type == MPI_BYTE && all_type == MPI_BYTE);
    return arrive(GATHER, mine, all, (size_t)n);
}

int PMPI_Iallreduce(const void *mine, void *max, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                    MPI_Request *request)
{
    (void)comm;
    start_request(request);
    const bool words = type == MPI_UINT64_T;
    FABRIC_CHECK(words ? n == BOOT_DIGEST_WORDS : n == 1 && type == MPI_INT);
    FABRIC_CHECK(op == MPI_MAX);
    return arrive(words ? MAX_WORDS : MAX, mine, max, words ? sizeof(uint64_t[3]) : sizeof(int));
}

static void take_words(unsigned at)
{
    uint64_t max[BOOT_DIGEST_WORDS] = {0}, words[BOOT_DIGEST_WORDS];
    for (int i = 0; i < meeting.n; i++) {
        memcpy(words, meeting.rounds[at].rows[i], sizeof words);
        for (int k = 0; k < BOOT_DIGEST_WORDS; k++)
            max[k] = words[k] > max[k] ? words[k] : max[k];
    }
    memcpy(my_result, max, sizeof max);
}

static void take_result(unsigned at)
{
    const size_t len = meeting.rounds[at].len;
    int max, value;
    if (meeting.rounds[at].kind == GATHER) {
        for (int i = 0; i < meeting.n; i++)
            memcpy((char *)my_result + (size_t)i * len, meeting.rounds[at].rows[i], len);
        return;
    }
    if (meeting.rounds[at].kind == MAX_WORDS) {
        take_words(at);
        return;
    }
    memcpy(&max, meeting.rounds[at].rows[0], sizeof max);
    for (int i = 1; i < meeting.n; i++) {
        memcpy(&value, meeting.rounds[at].rows[i], sizeof value);
        max = value > max ? value : max;
    }
    memcpy(my_result, &max, sizeof max);
}

static int host_test(MPI_Request *request, int *flag, MPI_Status *status)
{
    (void)status;
    if (fail_test && !--fail_test)
        return MPI_ERR_OTHER;
    pthread_mutex_lock(&meeting.mutex);
    *flag = meeting.done != my_round;
    if (*flag)
        take_result(my_round++ % 2);
    pthread_mutex_unlock(&meeting.mutex);
    my_requests -= *flag;
    if (*flag && request)
        *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

static int host_wait(MPI_Request *request, MPI_Status *status)
{
    for (int done = 0; !done; sched_yield())
        FABRIC_CHECK(host_test(request, &done, status) == MPI_SUCCESS);
    return MPI_SUCCESS;
}

/* Used on a host that gives the processor away in them, in place of those above. */
int PMPI_Allgather(const void *mine, int n, MPI_Datatype type, void *all, int each,
                   MPI_Datatype all_type, MPI_Comm comm)
{
    int err = PMPI_Iallgather(mine, n, type, all, each, all_type, comm, NULL);
    for (int done = 0; !err && !done; sched_yield())
        err = host_test(NULL, &done, MPI_STATUS_IGNORE);
    return err;
}

int PMPI_Allreduce(const void *mine, void *max, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int err = PMPI_Iallreduce(mine, max, n, type, op, comm, NULL);
    for (int done = 0; !err && !done; sched_yield())
        err = host_test(NULL, &done, MPI_STATUS_IGNORE);
    return err;
}

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = my_rank;
    return MPI_SUCCESS;
}

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    (void)comm;
    *size = meeting.n;
    return MPI_SUCCESS;
}

/* ---- ranks ---- */

static bool host_yields; /* the same for all */

static struct rank {
    pthread_t thread;
    int rank;
    void (*body)(struct rank *r, struct boot_mpi *bm);
    int refuses;
    long nth; /* allocation that fails, 0: none */
    bool ran_out;
    int err, refused_by;
    uint64_t digest;
    bool alike;
} ranks[MANY];

static void *run_rank(void *arg)
{
    struct rank *r = arg;
    struct boot_mpi bm;
    my_rank = r->rank;
    my_round = 0;
    FABRIC_CHECK(boot_mpi_init(&bm, (MPI_Comm){0}, (struct boot_mpi_host){host_test, host_wait}) ==
                 MRMA_SUCCESS);
    bm.host_yields = host_yields;
    if (r->refuses)
        boot_mpi_refuse(&bm, r->refuses, 0);
    r->body(r, &bm);
    r->refused_by = bm.refused_by;
    return NULL;
}

/* n ranks, of whom one may be special, in body. */
static void run(int n, void (*body)(struct rank *r, struct boot_mpi *bm), struct rank special)
{
    meeting.n = n;
    meeting.done = 0;
    meeting.rounds[0].arrived = meeting.rounds[1].arrived = 0;
    for (int i = 0; i < n; i++) {
        ranks[i] = i == special.rank ? special : (struct rank){.rank = i};
        ranks[i].body = body;
    }
    for (int i = 0; i < n; i++)
        assert_int_equal(pthread_create(&ranks[i].thread, NULL, run_rank, &ranks[i]), 0);
    for (int i = 0; i < n; i++)
        pthread_join(ranks[i].thread, NULL);
}

static const int sizes[] = {FEW, MANY};

/* As src/mpi does: who cannot begin comes nevertheless. The second exchange is another size. */
static void create(struct rank *r, struct boot_mpi *bm)
{
    struct boot_records recs = {.all = NULL};
    unsigned char mine[BYTES];
    int max = -1;
    memset(mine, r->rank + 1, sizeof mine);
    mine[0] = MRMA_SUCCESS;
    until_failure = r->nth;
    r->err = boot_gather(&bm->boot, mine, sizeof mine, &recs);
    r->ran_out = r->nth && !until_failure;
    until_failure = 0;
    if (r->err) {
        FABRIC_CHECK(!recs.all);
        if (!bm->begun) {
            boot_mpi_refuse(bm, r->err, 0);
            boot_mpi_leave(bm);
        }
        FABRIC_CHECK(bm->boot.allmax(&bm->boot, r->rank, &max) == r->err); /* nobody goes on */
        return;
    }
    for (int i = 0; i < bm->boot.nproc; i++)
        for (int k = 1; k < BYTES; k++)
            FABRIC_CHECK(((const unsigned char *)recs.all)[i * BYTES + k] == i + 1);
    boot_release(&recs);
    FABRIC_CHECK(bm->boot.allmax(&bm->boot, r->rank, &max) == MRMA_SUCCESS);
    FABRIC_CHECK(max == bm->boot.nproc - 1);
    FABRIC_CHECK(!my_requests);
}

/* The special rank's first test fails. */
static void fails_once(struct rank *r, struct boot_mpi *bm)
{
    unsigned char mine[BYTES] = {0}, all[FEW * BYTES];
    fail_test = (int)r->nth;
    r->err = bm->boot.allgather(&bm->boot, mine, all, sizeof mine);
    FABRIC_CHECK(!my_requests);
}

static void all_ended_with(int n, int err, int refused_by)
{
    for (int i = 0; i < n; i++) {
        assert_int_equal(ranks[i].err, err);
        assert_int_equal(ranks[i].refused_by, refused_by);
    }
}

static void test_exchange(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        run(sizes[i], create, (struct rank){.rank = -1});
        all_ended_with(sizes[i], MRMA_SUCCESS, -1);
    }
}

static void test_refusal(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        run(sizes[i], create, (struct rank){.rank = 1, .refuses = MRMA_ERR_SIZE});
        all_ended_with(sizes[i], MRMA_ERR_SIZE, 1);
    }
}

/* Every allocation of the exchange in turn: all get MPI_ERR_NO_MEM, or all go on. */
static void test_no_memory(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        long nth = 1;
        int failed = 0;
        do {
            run(sizes[i], create, (struct rank){.rank = 1, .nth = nth++});
            failed += ranks[1].err != MRMA_SUCCESS;
            for (int k = 0; k < sizes[i]; k++)
                assert_int_equal(ranks[k].err, ranks[1].ran_out ? MRMA_ERR_NO_MEM : MRMA_SUCCESS);
        } while (ranks[1].ran_out);
        assert_int_equal(failed, 1); /* the records */
    }
}

/* One refuses, and has no memory for what the others say. */
static void leave(struct rank *r, struct boot_mpi *bm)
{
    if (!r->refuses) {
        create(r, bm);
        return;
    }
    until_failure = r->nth;
    r->err = boot_mpi_leave(bm);
    r->ran_out = !until_failure;
    until_failure = 0;
}

static void test_refusal_without_memory(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        run(sizes[i], leave, (struct rank){.rank = 1, .refuses = MRMA_ERR_SIZE, .nth = 1});
        assert_int_equal(ranks[1].ran_out, sizes[i] == MANY);
        for (int k = 0; k < sizes[i]; k++)
            assert_int_equal(ranks[k].err,
                             k == 1 || sizes[i] == FEW ? MRMA_ERR_SIZE : MRMA_ERR_NO_MEM);
    }
}

/* Each gives a digest, the special one its own. */
static void compare(struct rank *r, struct boot_mpi *bm)
{
    bm->boot.digest = r->digest ? r->digest : 7;
    if (r->digest == UINT64_MAX) /* its part must be seen */
        bm->boot.digest = 0;
    const unsigned before = my_round;
    unsigned char mine[BYTES];
    struct boot_records recs = {.all = NULL};
    memset(mine, r->rank + 1, sizeof mine);
    mine[0] = MRMA_SUCCESS;
    r->err = boot_gather(&bm->boot, mine, sizeof mine, &recs);
    r->alike = bm->boot.alike;
    if (!r->err && r->alike)
        FABRIC_CHECK(my_round == before + 1);
    for (int i = 0; !r->err && !r->alike && i < bm->boot.nproc; i++)
        for (int k = 1; k < BYTES; k++)
            FABRIC_CHECK(((const unsigned char *)recs.all)[i * BYTES + k] == i + 1);
    boot_release(&recs);
    int max = -1;
    FABRIC_CHECK(bm->boot.allmax(&bm->boot, r->rank, &max) == r->err);
    FABRIC_CHECK(r->err || max == bm->boot.nproc - 1);
}

static void compared(int n, struct rank special, int err, bool alike)
{
    run(n, compare, special);
    for (int i = 0; i < n; i++) {
        assert_int_equal(ranks[i].err, err);
        assert_int_equal(ranks[i].alike, alike);
    }
}

/* Only where many all give one number, and none refuses, nothing is gathered. */
static void test_digests(void **state)
{
    (void)state;
    compared(MANY, (struct rank){.rank = -1}, MRMA_SUCCESS, true);
    for (int rank = 0; rank < MANY; rank += MANY - 1) {
        compared(MANY, (struct rank){.rank = rank, .digest = 6}, MRMA_SUCCESS, false);
        compared(MANY, (struct rank){.rank = rank, .digest = 8}, MRMA_SUCCESS, false);
        compared(MANY, (struct rank){.rank = rank, .digest = UINT64_MAX}, MRMA_SUCCESS, false);
    }
    compared(MANY, (struct rank){.rank = 1, .refuses = MRMA_ERR_SIZE}, MRMA_ERR_SIZE, false);
    compared(FEW, (struct rank){.rank = -1}, MRMA_SUCCESS, false);
}

/* No request is left behind with the buffers it refers to. */
static void test_host_fails(void **state)
{
    (void)state;
    run(FEW, fails_once, (struct rank){.rank = 1, .nth = 1});
    assert_int_equal(ranks[0].err, MRMA_SUCCESS);
    assert_int_equal(ranks[1].err, MRMA_ERR_OTHER);
}

/* ---- reports ---- */

static struct log_pipe said;
static _Atomic bool heard;

static void late(struct rank *r, struct boot_mpi *bm)
{
    if (r->rank == 1)
        while (!atomic_load(&heard))
            sched_yield();
    else
        bm->report =
            (struct boot_report){.log = &said.log, .call = "MPI_Win_create", .seconds = 0.001};
    create(r, bm);
}

static void *listen_for_two(void *arg)
{
    char text[2000];
    size_t at = 0;
    const char *const line = "rank 0 of a communicator of 2 waits for ";
    for (const char *first = NULL; !first || !strstr(first + 1, line); first = strstr(text, line)) {
        at += strlen(log_text(&said, text + at, sizeof text - at));
        sched_yield();
    }
    FABRIC_CHECK(strstr(text, " s in MPI_Win_create for other ranks"));
    atomic_store(&heard, true);
    return arg;
}

/* Again and again, until the late one comes. */
static void test_report(void **state)
{
    pthread_t listener;
    (void)state;
    log_to_pipe(&said, LOG_LEVEL_ERROR);
    assert_int_equal(pthread_create(&listener, NULL, listen_for_two, NULL), 0);
    run(FEW, late, (struct rank){.rank = -1});
    pthread_join(listener, NULL);
    all_ended_with(FEW, MRMA_SUCCESS, -1);
    log_pipe_close(&said);
}

/* From here on the blocking calls are used. */
static int let_host_yield(void **state)
{
    (void)state;
    host_yields = true;
    atomic_store(&heard, false);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exchange),
        cmocka_unit_test(test_refusal),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_host_fails),
        cmocka_unit_test(test_refusal_without_memory),
        cmocka_unit_test(test_digests),
        cmocka_unit_test(test_report),
        cmocka_unit_test_setup(test_exchange, let_host_yield),
        cmocka_unit_test(test_digests),
        cmocka_unit_test(test_refusal),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_report),
    };
    fabric_watchdog(100);
    return cmocka_run_group_tests_name("boot_mpi", tests, NULL, NULL);
}
