/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pcg.c - conjugate gradients with a symmetric Gauss-Seidel preconditioner, on the seven-point
 * Laplacian of a box that is cut into slabs, one for each process.
 *
 * Gauss-Seidel uses new values as soon as they are there, which couples all points in an order. A
 * program of messages cuts that order at the slabs: each process sweeps over its own points alone,
 * and the more processes there are, the worse the preconditioner and the more iterations. Here the
 * domain of a sweep is one process's slab, or all slabs of a node: the vector lies in a window of
 * MPI_Win_allocate_shared, each process reads its neighbours' planes, and goes line by line, as
 * soon as the neighbour has finished the same line. So the processes of a node work at the same
 * time, and compute what one process would. Only the preconditioner knows of it: the matrix
 * product, with its MPI_Isend and MPI_Irecv, is the same for both.
 *
 * How far a process is stands in its window too, as a C11 atomic: a store with release after the
 * line, a load with acquire before the neighbour uses it. That orders the plain loads and stores of
 * the lines; no MPI call is needed for it.
 *
 * Checked: the solution, which is 1 everywhere; that the sweeps solve what they are meant to, on
 * their whole domain; and that a job within one node takes the iterations of one process.
 */
#include "example.h"
#include <stdatomic.h>

static int rank, size;
static long nx, ny, nz; /* points of the box; planes of constant z are shared out */

static MPI_Comm group;             /* the processes that take part now */
static int me, processes;          /* rank and size of it */
static int slab_below, slab_above; /* the processes that have the slabs beside ours, if any */

/* Our slab has this many planes. Vectors have one more at each end, for the neighbours' copies. */
static long planes, plane;
static double *x, *r, *p, *q;

static long planes_of(int process)
{
    return nz * (process + 1) / processes - nz * process / processes;
}

/* ---- the preconditioner's domain ---- */

/* How many lines of how many sweeps a process has finished; in its part of the window, with a cache
 * line of its own, before its planes. */
struct progress {
    _Atomic long forward;
    _Atomic long backward;
    char rest[64 - 2 * sizeof(long)];
};

static MPI_Win win;
static struct progress *mine, *below, *above;  /* of the neighbours: NULL outside the domain */
static double *z;                              /* our planes */
static const double *last_below, *first_above; /* the planes beside ours, or zeros */
static double *zeros;
static long sweeps;

/* The window's part of a neighbour in the same domain, or NULL. */
static struct progress *part_of(int process, MPI_Comm domain)
{
    MPI_Group all, here;
    int there = MPI_UNDEFINED, unit;
    MPI_Aint bytes;
    struct progress *part = NULL;
    MPI_Comm_group(group, &all);
    MPI_Comm_group(domain, &here);
    if (process != MPI_PROC_NULL)
        MPI_Group_translate_ranks(all, 1, &process, here, &there);
    if (there != MPI_UNDEFINED)
        MPI_Win_shared_query(win, there, &bytes, &unit, &part);
    MPI_Group_free(&all);
    MPI_Group_free(&here);
    return part;
}

static void make_domain(MPI_Comm domain)
{
    size_t bytes = sizeof(struct progress) + (size_t)(planes * plane) * sizeof(double);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    MPI_Win_allocate_shared(whole_lines(bytes), 1, info, domain, &mine, &win);
    MPI_Info_free(&info);
    atomic_init(&mine->forward, 0);
    atomic_init(&mine->backward, 0);
    z = (double *)(mine + 1);
    memset(z, 0, (size_t)(planes * plane) * sizeof(double));
    below = part_of(slab_below, domain);
    above = part_of(slab_above, domain);
    last_below = below ? (double *)(below + 1) + (planes_of(slab_below) - 1) * plane : zeros;
    first_above = above ? (double *)(above + 1) : zeros;
    sweeps = 0;
    /* From here to the end of the epoch, loads and stores are ordered by the atomics. */
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Win_sync(win);
    MPI_Barrier(group);
}

static void free_domain(void)
{
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

static void wait_for(_Atomic long *finished, long lines)
{
    while (atomic_load_explicit(finished, memory_order_acquire) < lines)
        let_others_run();
}

/* Solves (D + L) y = r, then (I + U/D) z = y, where L and U are -1 for each neighbour before and
 * after a point in the domain, and D is 6. A line of all our planes is finished before the next one
 * begins, which keeps the order that matters: a point comes after its neighbours before it. */
static void precondition(void)
{
    const double *rhs = r + plane;
    for (long j = 0; j < ny; j++) {
        if (below)
            wait_for(&below->forward, sweeps * ny + j + 1);
        for (long k = 0; k < planes; k++) {
            double *line = &z[k * plane + j * nx];
            const double *under = k > 0 ? line - plane : last_below + j * nx;
            const double *before = j > 0 ? line - nx : zeros;
            for (long i = 0; i < nx; i++)
                line[i] = (rhs[k * plane + j * nx + i] + under[i] + before[i] +
                           (i > 0 ? line[i - 1] : 0)) /
                          6;
        }
        atomic_store_explicit(&mine->forward, sweeps * ny + j + 1, memory_order_release);
    }
    for (long j = ny - 1; j >= 0; j--) {
        if (above)
            wait_for(&above->backward, sweeps * ny + ny - j);
        for (long k = planes - 1; k >= 0; k--) {
            double *line = &z[k * plane + j * nx];
            const double *over = k + 1 < planes ? line + plane : first_above + j * nx;
            const double *behind = j + 1 < ny ? line + nx : zeros;
            for (long i = nx - 1; i >= 0; i--)
                line[i] += (over[i] + behind[i] + (i + 1 < nx ? line[i + 1] : 0)) / 6;
        }
        atomic_store_explicit(&mine->backward, sweeps * ny + ny - j, memory_order_release);
    }
    sweeps++;
}

/* What the forward sweep must have given at a point, from the result: y = (I + U/D) z. Plane -1 is
 * the last one below. */
static double forward_value(long k, long j, long i)
{
    const double *here = k < 0 ? last_below : &z[k * plane];
    const double *over = k + 1 < planes ? &z[(k + 1) * plane] : first_above;
    long at = j * nx + i;
    if (k < 0 && !below)
        return 0;
    return here[at] -
           (over[at] + (j + 1 < ny ? here[at + nx] : 0) + (i + 1 < nx ? here[at + 1] : 0)) / 6;
}

/* Applied to the result, the preconditioner's matrix must give the right-hand side. */
static void check_precondition(void)
{
    precondition();
    MPI_Barrier(group);
    for (long k = 0; k < planes; k++)
        for (long j = 0; j < ny; j++)
            for (long i = 0; i < nx; i++) {
                double sum = 6 * forward_value(k, j, i) - forward_value(k - 1, j, i);
                double want = r[(k + 1) * plane + j * nx + i];
                sum -= j > 0 ? forward_value(k, j - 1, i) : 0;
                sum -= i > 0 ? forward_value(k, j, i - 1) : 0;
                if (!(sum - want < 1e-10 && want - sum < 1e-10))
                    wrong("the sweeps leave %.15g instead of %.15g at plane %ld, line %ld, %ld",
                          sum, want, k, j, i);
            }
    MPI_Barrier(group);
}

/* ---- conjugate gradients ---- */

static double dot(const double *a, const double *b)
{
    double sum = 0, all;
    for (long i = 0; i < planes * plane; i++)
        sum += a[i] * b[i];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, group);
    return all;
}

/* q = A v, with the neighbours' planes of v by messages. */
static void multiply(double *v)
{
    MPI_Request requests[4];
    int count = (int)plane;
    MPI_Irecv(v, count, MPI_DOUBLE, slab_below, 0, group, &requests[0]);
    MPI_Irecv(v + (planes + 1) * plane, count, MPI_DOUBLE, slab_above, 1, group, &requests[1]);
    MPI_Isend(v + planes * plane, count, MPI_DOUBLE, slab_above, 0, group, &requests[2]);
    MPI_Isend(v + plane, count, MPI_DOUBLE, slab_below, 1, group, &requests[3]);
    wait_all(4, requests);
    for (long k = 1; k <= planes; k++)
        for (long j = 0; j < ny; j++)
            for (long i = 0; i < nx; i++) {
                const double *at = &v[k * plane + j * nx + i];
                q[k * plane + j * nx + i] = 6 * at[0] - at[-plane] - at[plane] -
                                            (j > 0 ? at[-nx] : 0) - (j + 1 < ny ? at[nx] : 0) -
                                            (i > 0 ? at[-1] : 0) - (i + 1 < nx ? at[1] : 0);
            }
}

/* Solves A x = A 1 from x = 0. Returns the number of iterations. */
static long solve(void)
{
    size_t bytes = (size_t)((planes + 2) * plane) * sizeof(double);
    double *own_r = r + plane, *own_p = p + plane, *own_q = q + plane, *own_x = x + plane;
    long iterations = 0, points = planes * plane;
    memset(x, 0, bytes);
    memset(p, 0, bytes);
    for (long i = 0; i < points; i++)
        own_p[i] = 1;
    multiply(p);
    memcpy(r, q, bytes);
    double limit = 1e-20 * dot(own_r, own_r), before = 1;
    memset(p, 0, bytes);
    while (dot(own_r, own_r) > limit) {
        if (++iterations > 10000)
            wrong("no solution after 10000 iterations");
        precondition();
        double rz = dot(own_r, z);
        for (long i = 0; i < points; i++)
            own_p[i] = z[i] + rz / before * own_p[i];
        before = rz;
        multiply(p);
        double alpha = rz / dot(own_p, own_q);
        for (long i = 0; i < points; i++) {
            own_x[i] += alpha * own_p[i];
            own_r[i] -= alpha * own_q[i];
        }
    }
    return iterations;
}

static void check_solution(void)
{
    for (long i = plane; i < (planes + 1) * plane; i++)
        if (!(x[i] > 1 - 1e-6 && x[i] < 1 + 1e-6))
            wrong("the solution is %.10g instead of 1 at point %ld", x[i], i);
}

struct result {
    long iterations;
    double seconds;
};

static struct result run(MPI_Comm domain)
{
    struct result result;
    make_domain(domain);
    double began = MPI_Wtime(), mine_took;
    result.iterations = solve();
    mine_took = MPI_Wtime() - began;
    MPI_Allreduce(&mine_took, &result.seconds, 1, MPI_DOUBLE, MPI_MAX, group);
    check_solution();
    check_precondition();
    free_domain();
    return result;
}

static void make_vectors(void)
{
    size_t count = (size_t)((planes_of(me) + 2) * plane);
    planes = planes_of(me);
    slab_below = me > 0 ? me - 1 : MPI_PROC_NULL;
    slab_above = me + 1 < processes ? me + 1 : MPI_PROC_NULL;
    x = zeroed(count, sizeof(double));
    r = zeroed(count, sizeof(double));
    p = zeroed(count, sizeof(double));
    q = zeroed(count, sizeof(double));
    zeros = zeroed((size_t)plane, sizeof(double));
}

static void free_vectors(void)
{
    free(x);
    free(r);
    free(p);
    free(q);
    free(zeros);
}

/* Both domains with the first processes of the job, so many. */
static void measure(int count, long *alone)
{
    MPI_Comm node;
    int near;
    processes = count;
    MPI_Comm_split(MPI_COMM_WORLD, rank < count ? 0 : MPI_UNDEFINED, rank, &group);
    if (group == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(group, &me);
    MPI_Comm_split_type(group, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &near);
    make_vectors();
    struct result slab = run(MPI_COMM_SELF), whole = run(node);
    if (count == 1)
        *alone = whole.iterations;
    if (rank == 0 && near == count && labs(whole.iterations - *alone) > 1)
        wrong("%ld iterations with the node as domain, %ld with one process", whole.iterations,
              *alone);
    if (rank == 0)
        printf("  %9d %12ld %12ld %12.3f %12.3f %8.2f\n", count, slab.iterations, whole.iterations,
               slab.seconds * 1e3, whole.seconds * 1e3, whole.seconds / slab.seconds);
    write_value("pcg", count, nz, "slab", "iterations", (double)slab.iterations);
    write_value("pcg", count, nz, "node", "iterations", (double)whole.iterations);
    free_vectors();
    MPI_Comm_free(&node);
    MPI_Comm_free(&group);
}

int main(int argc, char **argv)
{
    struct argument a[] = {{"nx", 48, NULL, "points of a line"},
                           {"ny", 48, NULL, "lines of a plane"},
                           {"nz", 96, NULL, "planes, which the processes share"},
                           {"csv", 0, "", "file to which all values are written as well"},
                           {NULL, 0, NULL, NULL}};
    long alone = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    read_arguments(argc, argv, a);
    nx = a[0].number;
    ny = a[1].number;
    nz = a[2].number;
    plane = nx * ny;
    if (nz < size)
        wrong("%ld planes are too few for %d processes", nz, size);
    if (rank == 0)
        printf("pcg: %ld x %ld x %ld points; the domain of a sweep is a process's slab or its "
               "node's\n  %9s %12s %12s %12s %12s %8s\n",
               nx, ny, nz, "processes", "its., slab", "its., node", "ms, slab", "ms, node",
               "ratio");
    open_values(a[3].text);
    for (int count = 1; count < size; count *= 2)
        measure(count, &alone);
    measure(size, &alone);
    close_values();
    MPI_Finalize();
    return 0;
}
