/*
 * mixed_modes.c - epochs of all kinds on the same memory, one after another, with nothing between them but what
 * the standard asks for.
 *
 * mixed_modes [STEPS]. All ranks draw the same steps on two windows: fences with asserts, PSCW with random groups,
 * locks of both kinds, lock_all epochs that stay open while others do something else, loads and stores, messages.
 * hborder.h says which accesses are ordered by that alone; what is not is drawn anew, or one message makes it so.
 * Accesses are therefore determined, and every rank computes the contents of all memory and what is fetched.
 * What is not relied upon: that a fence orders a passive epoch behind the exposure of another rank (12.5.1: it
 * completes operations at the target when the target returns from it, which nobody else knows), that MPI_Win_complete
 * means anything at the target, and that a lock keeps the order of the calls of several ranks.
 * MTEST_SEED replays a failure, MTEST_ROUNDS says how many pairs of windows.
 */
#include "hborder.h"
#include "mtcomm.h"

enum { POOL = 1 << 21, MOST_OPS = 10, MOST_RESULTS = 4096 };

enum kind { PUT, PIECES, GET, GET_PIECES, SUMS, FETCH, FETCH_OP, CAS, PUTS, GETS, ADDS, KINDS };

struct op {
    enum kind kind;
    enum hb_use use;
    int target, block;
    size_t at, bytes;   /* in the target's memory; all of the pieces */
    int n, len, stride; /* pieces, or how many of a burst and their bytes */
    size_t from;        /* operand, in the pool */
    int op;             /* of accumulates: an index of mpi_op */
    bool request, wait; /* an R-operation, waited for at once */
};

/* An origin buffer in use (want: what it must hold in the end, or NULL), until the operation is complete here. */
struct pending {
    int target, step;
    enum kind kind;
    char *buf, *want;
    size_t bytes;
};

static const char *const names[KINDS] = {
    "put", "put of pieces", "get", "get of pieces", "accumulate", "get_accumulate", "fetch_and_op",
    "compare_and_swap", "puts", "gets", "fetch_and_ops",
};
enum { OP_SUM, OP_XOR, OP_REPLACE, OP_CAS };
static const enum hb_use commutes[] = {HB_SUM, HB_SUM, HB_ORDERED};

static struct mt_win win[HB_WINDOWS];
static struct pending *pending[HB_WINDOWS];
static int npending[HB_WINDOWS], nrequests, step, ranks;
static MPI_Request request[MOST_RESULTS];
static bool session[HB_WINDOWS][HB_RANKS]; /* in an epoch of lock_all */
static bool fence_open[HB_WINDOWS]; /* the last fence was one that a phase may follow */
static char *pool;

static int roll(int n)
{
    return (int)mt_rand((uint64_t)n);
}

static bool me(int rank)
{
    return rank == mt_rank;
}

/* Some rank takes its time now and then. */
static void late(void)
{
    const int who = roll(8 * ranks), tenths = roll(10);
    if (me(who))
        mt_compute(tenths * 1e-4);
}

/* --- what is known ------------------------------------------------------------------------------------------------ */

/* A message: the second rank knows all that the first does. */
static void message(int from, int to)
{
    int token = step;
    hb_learn(&hb_know[to], &hb_know[from]);
    if (me(from) && from != to)
        MT_OK(MPI_Send(&token, 1, MPI_INT, to, 1, MPI_COMM_WORLD));
    if (me(to) && from != to)
        MT_OK(MPI_Recv(&token, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(token == step || from == to, "message of step %d in step %d", token, step);
}

static void everybody_knows(const struct hb_clock *what)
{
    for (int r = 0; r < ranks; r++)
        hb_learn(&hb_know[r], what);
}

static struct hb_clock all_know(void)
{
    struct hb_clock all = hb_know[0];
    for (int r = 1; r < ranks; r++)
        hb_learn(&all, &hb_know[r]);
    return all;
}

static bool any_session(int w)
{
    bool any = false;
    for (int r = 0; r < ranks; r++)
        any = any || session[w][r];
    return any;
}

/* All locks on this part have been given back, as far as the clock knows (a window must not be locked and
 * exposed at the same time: 12.5.3). */
static bool unlocked(const struct hb_part *p, const struct hb_clock *know)
{
    return hb_behind(know, &p->shared) && hb_behind(know, &p->exclusive);
}

/* --- results ------------------------------------------------------------------------------------------------------ */

static void finish_one(struct pending *p)
{
    const bool same = !p->want || CHECK_EQUAL(p->buf, p->want, p->bytes);
    CHECK(same, "%s of step %d at rank %d", names[p->kind], p->step, p->target);
    memset(p->buf, 0xEE, p->bytes); /* nobody may read it any more */
    free(p->buf);
    free(p->want);
}

static void finish(int w, int target)
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

static void finish_requests(void)
{
    while (nrequests > 0)
        MT_OK(MPI_Wait(&request[--nrequests], MPI_STATUS_IGNORE));
}

/* A buffer with the operand, or for results. want: filled by the caller. */
static struct pending *use_buffer(int w, const struct op *op, size_t bytes, bool result)
{
    struct pending *p = &pending[w][npending[w]++];
    *p = (struct pending){op->target, step, op->kind, mt_alloc(bytes), result ? mt_alloc(bytes) : NULL, bytes};
    memset(p->buf, 0x55, bytes);
    if (result)
        memset(p->want, 0x55, bytes);
    else
        memcpy(p->buf, pool + op->from, bytes);
    return p;
}

/* --- operations --------------------------------------------------------------------------------------------------- */

static size_t span(const struct op *op)
{
    return (size_t)((op->n - 1) * op->stride + op->len);
}

static uint64_t element(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static uint64_t combine(int op, uint64_t old, uint64_t operand)
{
    return op == OP_SUM ? old + operand : op == OP_XOR ? old ^ operand : operand;
}

/* Where number i of a burst of fetch-and-ops goes: all over its elements. */
static size_t spread(const struct op *op, int i)
{
    return 8 * ((size_t)i * 7 % (op->bytes / 8));
}

/* The model's memory behind the operation; want: what it fetches, if anything does. */
static void model_op(const struct op *op, char *mem, char *want)
{
    char *at = mem + op->at;
    const char *from = pool + op->from;
    switch (op->kind) {
    case PUT:
    case PUTS:
        memcpy(at, from, op->bytes);
        return;
    case PIECES:
        for (int i = 0; i < op->n; i++)
            memcpy(at + i * op->stride, from + i * op->stride, (size_t)op->len);
        return;
    case GET:
    case GETS:
        if (want)
            memcpy(want, at, op->bytes);
        return;
    case GET_PIECES:
        for (int i = 0; want && i < op->n; i++)
            memcpy(want + i * op->stride, at + i * op->stride, (size_t)op->len);
        return;
    case CAS: { /* the compare value is right for odd operands */
        const uint64_t old = element(at), new = element(from);
        if (want)
            memcpy(want, &old, 8);
        if (new & 1)
            memcpy(at, &new, 8);
        return;
    }
    default:
        for (int i = 0; i < op->n; i++) {
            char *e = at + (op->kind == ADDS ? spread(op, i) : 8 * (size_t)i);
            const uint64_t old = element(e), new = combine(op->op, old, element(from + 8 * i));
            if (want)
                memcpy(want + 8 * i, &old, 8);
            memcpy(e, &new, 8);
        }
    }
}

static void issue_pieces(int w, const struct op *op, char *buf, MPI_Request *req)
{
    const MPI_Aint at = mt_disp(&win[w], op->target, (MPI_Aint)op->at);
    MPI_Datatype type;
    MT_OK(MPI_Type_vector(op->n, op->len, op->stride, MPI_BYTE, &type));
    MT_OK(MPI_Type_commit(&type));
    if (op->kind == PIECES && req)
        MT_OK(MPI_Rput(buf, 1, type, op->target, at, 1, type, win[w].win, req));
    else if (op->kind == PIECES)
        MT_OK(MPI_Put(buf, 1, type, op->target, at, 1, type, win[w].win));
    else if (req)
        MT_OK(MPI_Rget(buf, 1, type, op->target, at, 1, type, win[w].win, req));
    else
        MT_OK(MPI_Get(buf, 1, type, op->target, at, 1, type, win[w].win));
    MPI_Type_free(&type);
}

static void issue_plain(int w, const struct op *op, char *buf, MPI_Request *req)
{
    const MPI_Aint at = mt_disp(&win[w], op->target, (MPI_Aint)op->at);
    const int n = (int)op->bytes, t = op->target;
    if (op->kind == PUT && req)
        MT_OK(MPI_Rput(buf, n, MPI_BYTE, t, at, n, MPI_BYTE, win[w].win, req));
    else if (op->kind == PUT)
        MT_OK(MPI_Put(buf, n, MPI_BYTE, t, at, n, MPI_BYTE, win[w].win));
    else if (req)
        MT_OK(MPI_Rget(buf, n, MPI_BYTE, t, at, n, MPI_BYTE, win[w].win, req));
    else
        MT_OK(MPI_Get(buf, n, MPI_BYTE, t, at, n, MPI_BYTE, win[w].win));
}

static void issue_burst(int w, const struct op *op, char *buf, char *got)
{
    static const MPI_Op ops[] = {MPI_SUM, MPI_BXOR, MPI_REPLACE};
    for (int i = 0; i < op->n; i++) {
        const size_t off = op->kind == ADDS ? spread(op, i) : (size_t)(i * op->len);
        const MPI_Aint at = mt_disp(&win[w], op->target, (MPI_Aint)(op->at + off));
        if (op->kind == PUTS)
            MT_OK(MPI_Put(buf + off, op->len, MPI_BYTE, op->target, at, op->len, MPI_BYTE, win[w].win));
        else if (op->kind == GETS)
            MT_OK(MPI_Get(buf + off, op->len, MPI_BYTE, op->target, at, op->len, MPI_BYTE, win[w].win));
        else
            MT_OK(MPI_Fetch_and_op(buf + 8 * i, got + 8 * i, MPI_UINT64_T, op->target, at, ops[op->op], win[w].win));
    }
}

static void issue_acc(int w, const struct op *op, char *buf, char *got, MPI_Request *req)
{
    static const MPI_Op ops[] = {MPI_SUM, MPI_BXOR, MPI_REPLACE};
    const MPI_Aint at = mt_disp(&win[w], op->target, (MPI_Aint)op->at);
    const int n = op->n, t = op->target;
    const MPI_Datatype u = MPI_UINT64_T;
    if (op->kind == FETCH_OP)
        MT_OK(MPI_Fetch_and_op(buf, got, u, t, at, ops[op->op], win[w].win));
    else if (op->kind == SUMS && req)
        MT_OK(MPI_Raccumulate(buf, n, u, t, at, n, u, ops[op->op], win[w].win, req));
    else if (op->kind == SUMS)
        MT_OK(MPI_Accumulate(buf, n, u, t, at, n, u, ops[op->op], win[w].win));
    else if (req)
        MT_OK(MPI_Rget_accumulate(buf, n, u, got, n, u, t, at, n, u, ops[op->op], win[w].win, req));
    else
        MT_OK(MPI_Get_accumulate(buf, n, u, got, n, u, t, at, n, u, ops[op->op], win[w].win));
}

/* expected: the compare value that holds. */
static void issue_cas(int w, const struct op *op, char *buf, char *got, uint64_t expected)
{
    const uint64_t right = element(buf) & 1 ? expected : ~expected;
    memcpy(buf + 8, &right, 8);
    MT_OK(MPI_Compare_and_swap(buf, buf + 8, got, MPI_UINT64_T, op->target,
                               mt_disp(&win[w], op->target, (MPI_Aint)op->at), win[w].win));
}

/* This rank's operation: on the model, and on the window. */
static void issue(int w, const struct op *op)
{
    const bool get = op->kind == GET || op->kind == GETS || op->kind == GET_PIECES;
    const bool fetch = op->kind == FETCH || op->kind == FETCH_OP || op->kind == CAS || op->kind == ADDS;
    char *mem = hb_part[w][op->target].mem;
    const uint64_t old = op->kind == CAS ? element(mem + op->at) : 0;
    const size_t pieces = op->kind == PIECES || op->kind == GET_PIECES ? span(op) : op->bytes;
    const size_t operand = op->kind == CAS ? 16 : op->kind == ADDS ? 8 * (size_t)op->n : pieces;
    MPI_Request one, *req = op->request ? &one : NULL;
    const int first = npending[w];
    char *got = fetch ? use_buffer(w, op, op->kind == ADDS ? operand : op->bytes, true)->buf : NULL;
    char *buf = use_buffer(w, op, operand, get)->buf;
    model_op(op, mem, fetch || get ? pending[w][first].want : NULL);
    if (fetch && op->use == HB_SUM) { /* others add at the same time */
        free(pending[w][first].want);
        pending[w][first].want = NULL;
    }
    switch (op->kind) {
    case PUT:
    case GET: issue_plain(w, op, buf, req); break;
    case PIECES:
    case GET_PIECES: issue_pieces(w, op, buf, req); break;
    case PUTS:
    case GETS:
    case ADDS: issue_burst(w, op, buf, got); break;
    case CAS: issue_cas(w, op, buf, got, old); break;
    default: issue_acc(w, op, buf, got, req);
    }
    if (req && op->wait) {
        MT_OK(MPI_Wait(req, MPI_STATUS_IGNORE));
        while (npending[w] > first)
            finish_one(&pending[w][--npending[w]]);
    } else if (req) {
        request[nrequests++] = one;
    }
}

static size_t draw_bytes(size_t most)
{
    static const int upto[] = {1, 8, 8, 64, 256, 4096, 4200, 20000, 70000, 1 << 20};
    size_t n = (size_t)upto[roll(10)];
    n = roll(2) ? n : 1 + (size_t)roll((int)n);
    return n < most ? n : most;
}

static void draw_burst(struct op *op, const struct hb_block *b)
{
    op->len = 1 + roll(op->kind == ADDS ? 8 : b->bytes > 4096 ? 4096 : 16);
    op->n = 1 + roll(roll(2) ? 300 : 20);
    if (op->kind == ADDS) {
        op->bytes = 8 * (size_t)op->len;
    } else {
        op->n = (size_t)(op->n * op->len) > b->bytes ? (int)(b->bytes / (size_t)op->len) : op->n;
        op->bytes = (size_t)(op->n * op->len);
    }
}

static void draw_pieces(struct op *op, const struct hb_block *b)
{
    op->len = 1 + roll(roll(2) ? 16 : 200);
    op->stride = op->len + roll(40);
    op->n = 1 + roll(roll(4) ? 20 : 2000);
    while (op->n > 1 && span(op) > b->bytes)
        op->n /= 2;
    op->bytes = span(op);
}

static enum hb_use use_of(const struct op *op, bool ordered)
{
    switch (op->kind) {
    case PUT:
    case PUTS:
    case PIECES: return HB_WRITE;
    case GET:
    case GETS:
    case GET_PIECES: return HB_READ;
    case CAS: return HB_ORDERED;
    default: return ordered && op->kind != SUMS ? HB_ORDERED : commutes[op->op];
    }
}

/* An operation on some block, whether it is allowed or not. */
static struct op draw(int w, int target, bool gets_only)
{
    static const enum kind kinds[] = {PUT, PUT, PUT, PUT, PIECES, GET, GET, GET, GET_PIECES, SUMS,
                                      SUMS, FETCH, FETCH_OP, FETCH_OP, CAS, PUTS, PUTS, GETS, ADDS};
    struct op op = {.target = target, .n = 1};
    const int block = roll(6) ? 4 + roll(HB_BLOCKS - 4) : roll(4);
    const struct hb_block *b = &hb_part[w][target].block[block];
    const enum kind kind = kinds[roll(sizeof kinds / sizeof *kinds)];
    const bool ordered = roll(2);
    op.kind = !gets_only || kind == GET || kind == GETS || kind == GET_PIECES ? kind : GET;
    op.block = block;
    op.op = op.kind == CAS ? OP_CAS : roll(3);
    op.use = use_of(&op, ordered);
    if (op.kind == PUTS || op.kind == GETS || op.kind == ADDS)
        draw_burst(&op, b);
    else if (op.kind == PIECES || op.kind == GET_PIECES)
        draw_pieces(&op, b);
    else
        op.bytes = op.kind == CAS || op.kind == FETCH_OP ? 8 : draw_bytes(b->bytes);
    if (op.kind == SUMS || op.kind == FETCH) {
        op.bytes = (op.bytes + 7) & ~(size_t)7;
        op.n = (int)(op.bytes / 8);
    }
    op.at = b->at + (size_t)roll((int)(b->bytes - op.bytes) + 1);
    if (op.kind >= SUMS && op.kind != PUTS && op.kind != GETS)
        op.at &= ~(size_t)7;
    op.from = 8 * (size_t)roll((POOL - (1 << 20) - 4096) / 8);
    return op;
}

/* One operation of origin on target, which knows this much; *who: whom it would have to hear of if there is none. */
static bool operate(int w, int origin, int target, const struct hb_clock *know, bool gets_only, bool passive, int *who)
{
    *who = HB_BUSY;
    for (int tries = 0; tries < 5; tries++) {
        struct op op = draw(w, target, gets_only);
        struct hb_block *b = &hb_part[w][target].block[op.block];
        const int missing = hb_missing(b, know, origin, op.use, op.op);
        const bool single = op.kind <= FETCH;
        op.request = passive && roll(4) == 0 && single;
        op.wait = roll(2);
        if (missing != HB_UNORDERED) {
            *who = missing;
            continue;
        }
        hb_note(b, origin, op.use, op.op);
        if (me(origin))
            issue(w, &op);
        else
            model_op(&op, hb_part[w][target].mem, NULL);
        return true;
    }
    return false;
}

/* --- loads and stores --------------------------------------------------------------------------------------------- */

/* The owner looks at what nobody may be changing; its accesses are complete with its next event. */
static void load_own(int w, int owner)
{
    struct hb_part *p = &hb_part[w][owner];
    for (int b = 0; b < HB_BLOCKS; b++) {
        struct hb_block *k = &p->block[b];
        if (hb_missing(k, &hb_know[owner], owner, HB_READ, 0) != HB_UNORDERED)
            continue;
        hb_note_local(k, owner, HB_READ);
        const bool same = !me(owner) || CHECK_EQUAL(win[w].base + k->at, p->mem + k->at, k->bytes);
        CHECK(same, "window %d, block %d at %zu", w, b, k->at);
    }
}

static void store_own(int w, int owner)
{
    struct hb_part *p = &hb_part[w][owner];
    for (int i = roll(4); i > 0; i--) {
        struct hb_block *b = &p->block[roll(HB_BLOCKS)];
        const size_t from = (size_t)roll(POOL - (1 << 20)), bytes = 1 + (size_t)roll((int)b->bytes);
        if (hb_missing(b, &hb_know[owner], owner, HB_WRITE, 0) != HB_UNORDERED)
            continue;
        hb_note_local(b, owner, HB_WRITE);
        memcpy(p->mem + b->at, pool + from, bytes);
        if (me(owner))
            memcpy(win[w].base + b->at, pool + from, bytes);
        p->stored = true;
    }
}

/* The counter is changed under exclusive locks only, in an order that nobody knows. */
static void look_at_counter(int w, int owner)
{
    const struct hb_part *p = &hb_part[w][owner];
    if (hb_behind(&hb_know[owner], &p->counted) && me(owner))
        CHECK(element(win[w].base + HB_COUNTER) == element(p->mem + HB_COUNTER), "step %d: counter %llu, expected %llu",
              step, (unsigned long long)element(win[w].base + HB_COUNTER),
              (unsigned long long)element(p->mem + HB_COUNTER));
}

/* In an epoch of its own, or in that of lock_all. Not store: at the end, when all is known. */
static void local(int w, int owner, bool store)
{
    const bool sync = session[w][owner], exclusive = !any_session(w) && roll(2);
    struct hb_part *p = &hb_part[w][owner];
    /* What others have done with MPI_MODE_NOCHECK must be over. */
    if (!sync && !hb_behind(&hb_know[owner], exclusive ? &p->free_shared : &p->free_exclusive))
        return;
    if (!sync && !hb_behind(&hb_know[owner], &p->free_exclusive))
        return;
    if (me(owner))
        MT_OK(sync ? MPI_Win_sync(win[w].win)
                   : MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, owner, 0, win[w].win));
    load_own(w, owner);
    if (store)
        store_own(w, owner);
    else
        look_at_counter(w, owner);
    if (me(owner))
        MT_OK(sync ? MPI_Win_sync(win[w].win) : MPI_Win_unlock(owner, win[w].win));
    const int64_t now = hb_tick(owner);
    if (!sync)
        (exclusive ? &p->exclusive : &p->shared)->t[owner] = now;
}

/* --- fence -------------------------------------------------------------------------------------------------------- */

/* last: no phase follows. Who asserts what is a matter of each rank but for NOPRECEDE and NOSUCCEED. */
static void fence(int w, bool precede, bool last, const bool *noput)
{
    const struct hb_clock entered = all_know();
    const bool no_succeed = last && roll(4), say_noput = roll(2);
    for (int r = 0; r < ranks; r++) {
        struct hb_part *p = &hb_part[w][r];
        const bool nostore = roll(2) && !p->stored;
        int asserts = (precede ? 0 : MPI_MODE_NOPRECEDE) | (no_succeed ? MPI_MODE_NOSUCCEED : 0);
        asserts |= (nostore ? MPI_MODE_NOSTORE : 0) | (noput[r] && say_noput ? MPI_MODE_NOPUT : 0);
        if (me(r))
            MT_OK(MPI_Win_fence(asserts, win[w].win));
        p->stored = false;
    }
    if (precede && fence_open[w]) /* a barrier where it may end an epoch (12.5.1) */
        everybody_knows(&entered);
    fence_open[w] = !no_succeed;
    for (int r = 0; r < ranks; r++) {
        struct hb_part *p = &hb_part[w][r];
        const int64_t now = hb_tick(r);
        hb_active_done(p, r, now);
        if (p->target)
            p->exposed = now;
        p->target = false;
    }
    if (precede)
        finish(w, -1);
}

/* The operations of one phase; they come behind what the target knew when it returned from the fence that began it. */
static void fence_phase(int w, const bool *noput, const struct hb_clock *begun)
{
    for (int o = 0; o < ranks; o++) {
        int who;
        late();
        for (int i = roll(3) ? roll(MOST_OPS) : 0; i > 0; i--) {
            const int t = roll(ranks);
            const struct hb_clock know = hb_both(&hb_know[o], &begun[t]);
            if (unlocked(&hb_part[w][t], &begun[t]) && operate(w, o, t, &know, noput[t], false, &who))
                hb_part[w][t].target = true;
        }
    }
}

static void fences(int w)
{
    struct hb_clock begun[HB_RANKS];
    bool noput[HB_RANKS];
    if (any_session(w))
        return;
    for (int r = 0; r < ranks; r++)
        if (roll(3) == 0)
            store_own(w, r);
    bool precede = roll(2);
    for (int phases = 1 + roll(4); phases >= 0; phases--) {
        for (int r = 0; r < ranks; r++)
            noput[r] = roll(4) == 0 && phases > 0;
        fence(w, precede, phases == 0, noput);
        precede = true;
        memcpy(begun, hb_know, sizeof begun);
        for (int r = 0; r < ranks; r++)
            if (roll(4) == 0) {
                load_own(w, r);
                (void)hb_tick(r);
            }
        if (phases > 0)
            fence_phase(w, noput, begun);
    }
}

/* --- post, start, complete, wait ---------------------------------------------------------------------------------- */

struct pscw {
    bool edge[HB_RANKS][HB_RANKS]; /* origin, target */
    bool gets_only[HB_RANKS];      /* the target says MPI_MODE_NOPUT */
    bool nocheck;
    struct hb_clock posted[HB_RANKS], completed[HB_RANKS];
};

/* Those on the other side of rank's edges. */
static int others(const struct pscw *g, int rank, bool origins, int *list)
{
    int n = 0;
    for (int r = 0; r < ranks; r++)
        if (origins ? g->edge[r][rank] : g->edge[rank][r])
            list[n++] = r;
    return n;
}

static void post(int w, struct pscw *g, int t)
{
    struct hb_part *p = &hb_part[w][t];
    int list[HB_RANKS];
    const int n = others(g, t, true, list);
    const bool nostore = roll(2);
    if (n == 0)
        return;
    if (roll(3) == 0)
        store_own(w, t);
    if (me(t)) {
        MPI_Group group = mt_group(&win[w], n, list);
        MT_OK(MPI_Win_post(group, (g->nocheck ? MPI_MODE_NOCHECK : 0) | (nostore && !p->stored ? MPI_MODE_NOSTORE : 0) |
                                      (g->gets_only[t] ? MPI_MODE_NOPUT : 0), win[w].win));
        MPI_Group_free(&group);
    }
    p->stored = false;
    (void)hb_tick(t);
    g->posted[t] = hb_know[t];
}

static void access(int w, struct pscw *g, int o)
{
    int list[HB_RANKS], who;
    const int n = others(g, o, false, list);
    if (n == 0)
        return;
    late();
    if (me(o)) {
        MPI_Group group = mt_group(&win[w], n, list);
        MT_OK(MPI_Win_start(group, g->nocheck ? MPI_MODE_NOCHECK : 0, win[w].win));
        MPI_Group_free(&group);
    }
    for (int i = roll(MOST_OPS); i > 0; i--) {
        const int t = list[roll(n)];
        const struct hb_clock know = hb_both(&hb_know[o], &g->posted[t]);
        (void)operate(w, o, t, &know, g->gets_only[t], false, &who);
    }
    late();
    if (me(o)) {
        MT_OK(MPI_Win_complete(win[w].win));
        finish(w, -1);
    }
    (void)hb_tick(o);
    g->completed[o] = hb_know[o];
}

static void wait_exposure(int w, struct pscw *g, int t)
{
    int list[HB_RANKS], done = 0;
    const int n = others(g, t, true, list);
    const bool test = roll(2), look = roll(2);
    if (n == 0)
        return;
    while (me(t) && test && !done)
        MT_OK(MPI_Win_test(win[w].win, &done));
    if (me(t) && !test)
        MT_OK(MPI_Win_wait(win[w].win));
    for (int i = 0; i < n; i++)
        hb_learn(&hb_know[t], &g->completed[list[i]]);
    hb_part[w][t].exposed = hb_tick(t);
    hb_active_done(&hb_part[w][t], t, hb_part[w][t].exposed);
    if (look) {
        load_own(w, t);
        (void)hb_tick(t);
    }
}

static void pscw(int w)
{
    struct pscw g = {.nocheck = roll(4) == 0};
    const int often = 1 + roll(3);
    if (any_session(w))
        return;
    for (int t = 0; t < ranks; t++) {
        g.gets_only[t] = roll(5) == 0;
        for (int o = 0; o < ranks; o++)
            g.edge[o][t] = roll(often) == 0 && unlocked(&hb_part[w][t], &hb_know[t]);
    }
    for (int t = 0; t < ranks; t++)
        post(w, &g, t);
    for (int t = 0; g.nocheck && t < ranks; t++) /* the start comes behind the post (12.5.5) */
        for (int o = 0; o < ranks; o++)
            if (g.edge[o][t])
                message(t, o);
    for (int o = 0; o < ranks; o++)
        access(w, &g, o);
    for (int t = 0; t < ranks; t++)
        wait_exposure(w, &g, t);
}

/* --- locks -------------------------------------------------------------------------------------------------------- */

/* Operations of origin on target are complete: flush, or only here, or for all targets. */
static void flush(int w, int origin, int target)
{
    const int how = roll(4);
    const bool before = roll(2);
    if (me(origin)) {
        if (before)
            finish_requests();
        switch (how) {
        case 0: MT_OK(MPI_Win_flush(target, win[w].win)); break;
        case 1: MT_OK(MPI_Win_flush_all(win[w].win)); break;
        case 2: MT_OK(MPI_Win_flush_local(target, win[w].win)); break;
        default: MT_OK(MPI_Win_flush_local_all(win[w].win));
        }
        finish_requests();
        finish(w, how == 0 || how == 2 ? target : -1);
    }
    const int64_t now = hb_tick(origin);
    for (int t = 0; t < ranks; t++)
        if (how == 1 || (how == 0 && t == target))
            hb_passive_done(&hb_part[w][t], origin, now);
}

/* One more, with calls that others may come between but for the lock. */
static void count(int w, int origin, int target)
{
    struct hb_part *p = &hb_part[w][target];
    uint64_t v = element(p->mem + HB_COUNTER) + 1;
    const MPI_Aint at = mt_disp(&win[w], target, HB_COUNTER);
    memcpy(p->mem + HB_COUNTER, &v, 8);
    p->counted.t[origin] = hb_know[origin].t[origin] + 1; /* heard of behind the unlock: no messages under locks */
    if (!me(origin))
        return;
    MT_OK(MPI_Get(&v, 1, MPI_UINT64_T, target, at, 1, MPI_UINT64_T, win[w].win));
    MT_OK(MPI_Win_flush(target, win[w].win));
    v++;
    MT_OK(MPI_Put(&v, 1, MPI_UINT64_T, target, at, 1, MPI_UINT64_T, win[w].win));
    MT_OK(MPI_Win_flush(target, win[w].win)); /* the next one here reads it */
}

/* Exposures of the target are over, as far as the origin knows, and nobody holds what conflicts unseen. */
static bool may_lock(int w, int origin, int target, bool exclusive)
{
    const struct hb_part *p = &hb_part[w][target];
    if (hb_know[origin].t[target] < p->exposed && roll(3))
        message(target, origin);
    return hb_know[origin].t[target] >= p->exposed && hb_behind(&hb_know[origin], &p->free_exclusive) &&
           (!exclusive || (!any_session(w) && hb_behind(&hb_know[origin], &p->free_shared)));
}

/* Nobody holds or asks for a conflicting lock: the earlier ones are known to be over, later ones wait for a message. */
static bool may_nocheck(int w, int origin, int target, bool exclusive)
{
    const struct hb_part *p = &hb_part[w][target];
    return hb_behind(&hb_know[origin], &p->exclusive) && (!exclusive || hb_behind(&hb_know[origin], &p->shared));
}

static void give_back(int w, int origin, int target, bool exclusive, bool nocheck)
{
    struct hb_part *p = &hb_part[w][target];
    if (me(origin)) {
        finish_requests();
        MT_OK(MPI_Win_unlock(target, win[w].win));
        finish(w, target);
    }
    const int64_t now = hb_tick(origin);
    hb_passive_done(p, origin, now);
    (exclusive ? &p->exclusive : &p->shared)->t[origin] = now;
    if (nocheck)
        (exclusive ? &p->free_exclusive : &p->free_shared)->t[origin] = now;
}

/* Several targets only with shared locks: nobody holds one and waits for another. */
static void locked(int w, int origin)
{
    const bool exclusive = roll(2);
    const int most = exclusive || roll(3) ? 1 : 2 + roll(2), first = roll(ranks);
    int list[3], n = 0, who;
    bool nocheck[3];
    for (int i = 0; i < most && i < ranks; i++)
        if (may_lock(w, origin, (first + i) % ranks, exclusive))
            list[n++] = (first + i) % ranks;
    for (int i = 0; i < n; i++) {
        nocheck[i] = roll(3) == 0 && may_nocheck(w, origin, list[i], exclusive);
        if (me(origin))
            MT_OK(MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, list[i],
                               nocheck[i] ? MPI_MODE_NOCHECK : 0, win[w].win));
    }
    for (int i = n ? roll(MOST_OPS) : 0; i > 0; i--) {
        const int t = list[roll(n)];
        (void)operate(w, origin, t, &hb_know[origin], false, true, &who);
        if (exclusive && roll(4) == 0)
            count(w, origin, t);
        if (roll(5) == 0)
            flush(w, origin, t);
    }
    for (int i = 0; i < n; i++)
        give_back(w, origin, list[i], exclusive, nocheck[i]);
}

static void locks(int w)
{
    for (int o = 0; o < ranks; o++) {
        const bool takes_part = roll(3);
        late();
        if (takes_part && !session[w][o])
            locked(w, o);
    }
}

/* --- lock_all ----------------------------------------------------------------------------------------------------- */

/* No exclusive lock may be asked for any more: who waits for one could be who this rank then waits for. */
static bool may_lock_all(int w, int origin)
{
    for (int t = 0; t < ranks; t++)
        if (!may_lock(w, origin, t, false) || !hb_behind(&hb_know[origin], &hb_part[w][t].exclusive))
            return false;
    return true;
}

static void begin_session(int w, int origin)
{
    const bool nocheck = roll(3) == 0;
    session[w][origin] = true;
    if (me(origin))
        MT_OK(MPI_Win_lock_all(nocheck ? MPI_MODE_NOCHECK : 0, win[w].win));
    for (int t = 0; t < ranks; t++) {
        hb_part[w][t].shared.t[origin] = HB_OPEN;
        if (nocheck)
            hb_part[w][t].free_shared.t[origin] = HB_OPEN;
    }
}

static void end_session(int w, int origin)
{
    if (me(origin)) {
        finish_requests();
        MT_OK(MPI_Win_unlock_all(win[w].win));
        finish(w, -1);
    }
    const int64_t now = hb_tick(origin);
    session[w][origin] = false;
    for (int t = 0; t < ranks; t++) {
        struct hb_part *p = &hb_part[w][t];
        hb_passive_done(p, origin, now);
        p->shared.t[origin] = now;
        if (p->free_shared.t[origin] == HB_OPEN)
            p->free_shared.t[origin] = now;
    }
}

static void work_in_session(int w, int origin)
{
    int who;
    for (int i = roll(MOST_OPS); i > 0; i--) {
        const int t = roll(ranks);
        const bool done = operate(w, origin, t, &hb_know[origin], false, true, &who);
        if (!done && who >= 0 && roll(2))
            message(who, origin);
        if (roll(4) == 0)
            flush(w, origin, t);
    }
}

static void lock_alls(int w)
{
    for (int o = 0; o < ranks; o++) {
        const int what = roll(4);
        late();
        if (session[w][o] && what == 0)
            end_session(w, o);
        else if (session[w][o])
            work_in_session(w, o);
        else if (what && may_lock_all(w, o))
            begin_session(w, o);
    }
}

static void end_sessions(int w)
{
    for (int o = 0; o < ranks; o++)
        if (session[w][o])
            end_session(w, o);
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

static void barrier(void)
{
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    const struct hb_clock all = all_know();
    everybody_knows(&all);
}

static void take_step(int w)
{
    switch (roll(13)) {
    case 0:
    case 1:
    case 2: fences(w); break;
    case 3:
    case 4:
    case 5: pscw(w); break;
    case 6:
    case 7:
    case 8: locks(w); break;
    case 9: lock_alls(w); break;
    case 10: local(w, roll(ranks), true); break;
    case 11: roll(3) ? message(roll(ranks), roll(ranks)) : barrier(); break;
    default: roll(2) ? end_sessions(w) : lock_alls(w);
    }
}

static void make(struct mt_win *w)
{
    for (;;) {
        const enum mt_kind kind = (enum mt_kind)roll(MT_KINDS);
        if (kind == MT_CREATE_ODD) /* elements at odd addresses are acc_ops's */
            continue;
        if (mt_win_make(w, kind, HB_AREA, 1, MPI_COMM_WORLD))
            return;
    }
}

static void play(int steps)
{
    mt_section("windows");
    for (int w = 0; w < HB_WINDOWS; w++)
        make(&win[w]);
    hb_begin(ranks);
    memset(session, 0, sizeof session);
    memset(fence_open, 0, sizeof fence_open);
    barrier();
    for (step = 0; step < steps; step++) {
        const int w = roll(HB_WINDOWS);
        mt_section("%s and %s, step %d", mt_kind_name(win[0].kind), mt_kind_name(win[1].kind), step);
        take_step(w);
    }
    for (int w = 0; w < HB_WINDOWS; w++)
        end_sessions(w);
    barrier();
    for (int w = 0; w < HB_WINDOWS; w++)
        for (int r = 0; r < ranks; r++)
            local(w, r, false);
    for (int w = 0; w < HB_WINDOWS; w++)
        mt_win_free(&win[w]);
    hb_end();
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    const int steps = argc > 1 ? atoi(argv[1]) : 60;
    const long rounds = mt_env("MTEST_ROUNDS", 4);
    CHECK(steps > 0, "steps %s, expected a positive number", argc > 1 ? argv[1] : "");
    ranks = mt_size;
    if (!CHECK(ranks <= HB_RANKS, "%d ranks, expected at most %d", ranks, HB_RANKS))
        return MT_FINISH();
    pool = mt_alloc(POOL);
    mt_fill(pool, POOL, (uint32_t)mt_seed);
    for (int w = 0; w < HB_WINDOWS; w++)
        pending[w] = mt_alloc(MOST_RESULTS * sizeof **pending);
    for (long r = 0; r < rounds; r++)
        play(steps);
    for (int w = 0; w < HB_WINDOWS; w++)
        free(pending[w]);
    free(pool);
    return MT_FINISH();
}
