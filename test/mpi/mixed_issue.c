/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mixed_issue.c - issues the operations of mixed_modes on the windows, keeps their buffers until
 * they are complete and then looks at what was fetched.
 */
#include "mixed_op.h"

enum { MOST_RESULTS = 4096 };

/* An origin buffer in use (want: what it must hold in the end, or NULL), until the operation is
 * complete here. */
struct pending {
    int target, step;
    enum mm_kind kind;
    char *buf, *want;
    size_t bytes;
};

static const char *const names[MM_KINDS] = {
    "put",          "put of pieces",    "get",  "get of pieces", "accumulate",    "get_accumulate",
    "fetch_and_op", "compare_and_swap", "puts", "gets",          "fetch_and_ops",
};

static struct pending *pending[HB_WINDOWS];
static int npending[HB_WINDOWS], nrequests;
static MPI_Request request[MOST_RESULTS];

void mm_issue_begin(void)
{
    for (int w = 0; w < HB_WINDOWS; w++)
        pending[w] = mt_alloc(MOST_RESULTS * sizeof **pending);
}

void mm_issue_end(void)
{
    for (int w = 0; w < HB_WINDOWS; w++)
        free(pending[w]);
}

static void finish_one(struct pending *p)
{
    const bool same = !p->want || CHECK_EQUAL(p->buf, p->want, p->bytes);
    CHECK(same, "%s of step %d at rank %d", names[p->kind], p->step, p->target);
    memset(p->buf, 0xEE, p->bytes); /* nobody may read it any more */
    free(p->buf);
    free(p->want);
}

void mm_finish(int w, int target)
{
    int left = 0;
    for (int i = 0; i < npending[w]; i++) {
        struct pending *p = &pending[w][i];
        if (target < 0 || p->target == target)
            finish_one(p);
        else
            pending[w][left++] = *p;
    }
    npending[w] = left;
}

void mm_finish_requests(void)
{
    while (nrequests > 0)
        MT_OK(MPI_Wait(&request[--nrequests], MPI_STATUS_IGNORE));
}

/* A buffer with the operand, or for results. want: filled by the caller. */
static struct pending *use_buffer(int w, const struct mm_op *op, size_t bytes, bool result)
{
    struct pending *p = &pending[w][npending[w]++];
    *p = (struct pending){
        op->target, mm_step, op->kind, mt_alloc(bytes), result ? mt_alloc(bytes) : NULL, bytes};
    memset(p->buf, 0x55, bytes);
    if (result)
        memset(p->want, 0x55, bytes);
    else
        memcpy(p->buf, mm_pool + op->from, bytes);
    return p;
}

static void issue_pieces(int w, const struct mm_op *op, char *buf, MPI_Request *req)
{
    const MPI_Aint at = mt_disp(&mm_win[w], op->target, (MPI_Aint)op->at);
    MPI_Datatype type;
    MT_OK(MPI_Type_vector(op->n, op->len, op->stride, MPI_BYTE, &type));
    MT_OK(MPI_Type_commit(&type));
    if (op->kind == MM_PIECES && req)
        MT_OK(MPI_Rput(buf, 1, type, op->target, at, 1, type, mm_win[w].win, req));
    else if (op->kind == MM_PIECES)
        MT_OK(MPI_Put(buf, 1, type, op->target, at, 1, type, mm_win[w].win));
    else if (req)
        MT_OK(MPI_Rget(buf, 1, type, op->target, at, 1, type, mm_win[w].win, req));
    else
        MT_OK(MPI_Get(buf, 1, type, op->target, at, 1, type, mm_win[w].win));
    MPI_Type_free(&type);
}

static void issue_plain(int w, const struct mm_op *op, char *buf, MPI_Request *req)
{
    const MPI_Aint at = mt_disp(&mm_win[w], op->target, (MPI_Aint)op->at);
    const int n = (int)op->bytes, t = op->target;
    if (op->kind == MM_PUT && req)
        MT_OK(MPI_Rput(buf, n, MPI_BYTE, t, at, n, MPI_BYTE, mm_win[w].win, req));
    else if (op->kind == MM_PUT)
        MT_OK(MPI_Put(buf, n, MPI_BYTE, t, at, n, MPI_BYTE, mm_win[w].win));
    else if (req)
        MT_OK(MPI_Rget(buf, n, MPI_BYTE, t, at, n, MPI_BYTE, mm_win[w].win, req));
    else
        MT_OK(MPI_Get(buf, n, MPI_BYTE, t, at, n, MPI_BYTE, mm_win[w].win));
}

static void issue_burst(int w, const struct mm_op *op, char *buf, char *got)
{
    static const MPI_Op ops[] = {MPI_SUM, MPI_BXOR, MPI_REPLACE};
    for (int i = 0; i < op->n; i++) {
        const size_t off = op->kind == MM_ADDS ? mm_spread(op, i) : (size_t)(i * op->len);
        const MPI_Aint at = mt_disp(&mm_win[w], op->target, (MPI_Aint)(op->at + off));
        if (op->kind == MM_PUTS)
            MT_OK(MPI_Put(buf + off, op->len, MPI_BYTE, op->target, at, op->len, MPI_BYTE,
                          mm_win[w].win));
        else if (op->kind == MM_GETS)
            MT_OK(MPI_Get(buf + off, op->len, MPI_BYTE, op->target, at, op->len, MPI_BYTE,
                          mm_win[w].win));
        else
            MT_OK(MPI_Fetch_and_op(buf + 8 * i, got + 8 * i, MPI_UINT64_T, op->target, at,
                                   ops[op->op], mm_win[w].win));
    }
}

static void issue_acc(int w, const struct mm_op *op, char *buf, char *got, MPI_Request *req)
{
    static const MPI_Op ops[] = {MPI_SUM, MPI_BXOR, MPI_REPLACE};
    const MPI_Aint at = mt_disp(&mm_win[w], op->target, (MPI_Aint)op->at);
    const int n = op->n, t = op->target;
    const MPI_Datatype u = MPI_UINT64_T;
    if (op->kind == MM_FETCH_OP)
        MT_OK(MPI_Fetch_and_op(buf, got, u, t, at, ops[op->op], mm_win[w].win));
    else if (op->kind == MM_SUMS && req)
        MT_OK(MPI_Raccumulate(buf, n, u, t, at, n, u, ops[op->op], mm_win[w].win, req));
    else if (op->kind == MM_SUMS)
        MT_OK(MPI_Accumulate(buf, n, u, t, at, n, u, ops[op->op], mm_win[w].win));
    else if (req)
        MT_OK(MPI_Rget_accumulate(buf, n, u, got, n, u, t, at, n, u, ops[op->op], mm_win[w].win,
                                  req));
    else
        MT_OK(MPI_Get_accumulate(buf, n, u, got, n, u, t, at, n, u, ops[op->op], mm_win[w].win));
}

/* expected: the compare value that holds. */
static void issue_cas(int w, const struct mm_op *op, char *buf, char *got, uint64_t expected)
{
    const uint64_t right = mm_element(buf) & 1 ? expected : ~expected;
    memcpy(buf + 8, &right, 8);
    MT_OK(MPI_Compare_and_swap(buf, buf + 8, got, MPI_UINT64_T, op->target,
                               mt_disp(&mm_win[w], op->target, (MPI_Aint)op->at), mm_win[w].win));
}

/* This rank's operation: on the model, and on the window. */
void mm_issue(int w, const struct mm_op *op)
{
    const bool get = op->kind == MM_GET || op->kind == MM_GETS || op->kind == MM_GET_PIECES;
    const bool fetch = op->kind == MM_FETCH || op->kind == MM_FETCH_OP || op->kind == MM_CAS ||
                       op->kind == MM_ADDS;
    char *mem = hb_part[w][op->target].mem;
    const uint64_t old = op->kind == MM_CAS ? mm_element(mem + op->at) : 0;
    const size_t pieces =
        op->kind == MM_PIECES || op->kind == MM_GET_PIECES ? mm_span(op) : op->bytes;
    const size_t operand = op->kind == MM_CAS    ? 16
                           : op->kind == MM_ADDS ? 8 * (size_t)op->n
                                                 : pieces;
    MPI_Request one, *req = op->request ? &one : NULL;
    const int first = npending[w];
    char *got =
        fetch ? use_buffer(w, op, op->kind == MM_ADDS ? operand : op->bytes, true)->buf : NULL;
    char *buf = use_buffer(w, op, operand, get)->buf;
    mm_model(op, mem, fetch || get ? pending[w][first].want : NULL);
    if (fetch && op->use == HB_SUM) { /* others add at the same time */
        free(pending[w][first].want);
        pending[w][first].want = NULL;
    }
    switch (op->kind) {
    case MM_PUT:
    case MM_GET:
        issue_plain(w, op, buf, req);
        break;
    case MM_PIECES:
    case MM_GET_PIECES:
        issue_pieces(w, op, buf, req);
        break;
    case MM_PUTS:
    case MM_GETS:
    case MM_ADDS:
        issue_burst(w, op, buf, got);
        break;
    case MM_CAS:
        issue_cas(w, op, buf, got, old);
        break;
    default:
        issue_acc(w, op, buf, got, req);
    }
    if (req && op->wait) {
        MT_OK(MPI_Wait(req, MPI_STATUS_IGNORE));
        while (npending[w] > first)
            finish_one(&pending[w][--npending[w]]);
    } else if (req) {
        request[nrequests++] = one;
    }
}
