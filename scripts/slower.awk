# slower.awk - every case in which the library is slower than send and receive, or than the host's
# own one-sided calls, in Markdown, from the CSV files of bench/rma and bench/halo.
#
#   awk -F, [-v margin=1.1] -f scripts/slower.awk round1/FILE.csv... round2/FILE.csv...
#
# A case is listed from margin times the other's time on, as single runs differ by some per cent, and
# only if it is so in every round that has it. Its ratio is that of the round in the middle. The cases stand under
# what makes them slow, as far as that is known.

BEGIN {
    if (!margin)
        margin = 1.1
}

function unit(n) {
    return n >= 1048576 ? n / 1048576 " Mi" : n >= 1024 ? n / 1024 " Ki" : n
}

function name(h) {
    return h == "mpich" ? "MPICH" : h == "openmpi" ? "Open MPI" : h
}

FNR == 1 {
    halo = $10 == "mode"
    net = FILENAME ~ /\/round[0-9]+\/net\//
    round = FILENAME
    sub(/.*round/, "", round)
    round += 0
    rounds = round > rounds ? round : rounds
    next
}

# us and isend_us; of the two runs each has its own send and receive.
# Load and store, and bare barriers, are no calls of the library.
halo && $12 != "" && $10 !~ /^(shm|barriers|isend)$/ {
    what = "halo exchange" (net ? " over tcp" : "") ", " $10 SUBSEP $3 SUBSEP $8 SUBSEP $9
    add($1, $2, what, $12 * 1000, $11 * 1000)
}

# What only the rest is held against is no case of its own.
!halo && $9 != "" && $4 != "anchors" && $4 != "goal" && $7 != "isend_irecv" && $5 != "copies" && \
    $5 !~ /^malloc_|^allgather|^segment|^barrier|^compute/ {
    what = $4 ", " $5 ($7 == "" ? "" : ", " $7) SUBSEP $3 SUBSEP $6 SUBSEP $8
    add($1, $2, what, $9, $4 == "bw" && $14 > 0 ? $9 * $14 / $13 : "")
}
!halo && $9 != "" && $7 == "isend_irecv" {
    what = $4 ", " $5 ", pscw" SUBSEP $3 SUBSEP $6 SUBSEP $8
    messages[$1, $2, what, round] = $9
}

function add(h, lib, what, ns, send) {
    if (!((h, what) in known)) {
        known[h, what] = 1
        of[++n] = h
        what_at[n] = what
    }
    time[h, lib, what, round] = ns
    if (send != "")
        messages[h, lib, what, round] = send
}

# The middle one of the rounds' ratios; 0: not measured, or in some round less than margin and
# wanted is set.
function middle(i, against_send, wanted,   r, a, b, k, t, mine, other, all) {
    k = 0
    for (r = 1; r <= rounds; r++) {
        mine = time[of[i], 1, what_at[i], r]
        other = against_send ? messages[of[i], 1, what_at[i], r] : time[of[i], 0, what_at[i], r]
        if (!(mine > 0 && other > 0))
            continue
        all[++k] = mine / other
        if (wanted && all[k] < margin)
            return 0
        for (b = k; b > 1 && all[b - 1] > all[b]; b--) {
            t = all[b]
            all[b] = all[b - 1]
            all[b - 1] = t
        }
    }
    return k ? all[int((k + 1) / 2)] : 0
}

function cell(r, slow) {
    return r == 0 ? "-" : sprintf(slow ? "**%.2f**" : "%.2f", r)
}

# Number of the cause; the last one is "not known".
function cause(what, memory, ranks) {
    if (what ~ /over tcp/)
        return NETWORK
    if (what ~ /^create/)
        return CREATE
    if (what ~ /^memory/)
        return SEGMENT
    if (what ~ /^skew|^overlap/)
        return COPIES
    if (what ~ /_both|contended/)
        return LINE
    if (memory ~ /^(malloc|dynamic)$/ && what ~ /^acc/)
        return ACCUMULATE
    if (memory ~ /^(malloc|dynamic)$/)
        return KERNEL
    if (ranks > cpus)
        return CROWD
    return UNKNOWN
}

function causes() {
    CREATE = 1
    text[1] = "Creation: the window that carries attributes, name and error handler is the host's and costs what it costs there"
    COPIES = 2
    text[2] = "Copies: the call that puts or gets makes the copy itself, so that nothing overlaps, and it shares the memory's bandwidth with a target that computes"
    LINE = 3
    text[3] = "One cache line: both processes change the same word, and between two operations stand two calls"
    ACCUMULATE = 4
    text[4] = "Accumulates on memory given to MPI_Win_create: what the target's processor would add is read and written by the kernel, piece by piece"
    KERNEL = 5
    text[5] = "Memory given to MPI_Win_create: a system call for each operation, or a round trip through the ring, and one processor that copies"
    CROWD = 6
    text[6] = "More processes than processors: each barrier, grant or reply takes a change of processes, and a message has one less"
    SEGMENT = 7
    text[7] = "Memory that others map: the kernel makes the pages of shared memory one by one, and gives huge ones, where it does, to private memory only"
    NETWORK = 8
    text[8] = "Network: a lock or a flush takes a round trip, and an epoch a post before its data, where a message goes one way; Open MPI's own windows of MPI_Win_allocate stay in shared memory, and are no comparison"
    UNKNOWN = 9
    text[9] = "Not known"
}

END {
    causes()
    for (i = 1; i <= n; i++) {
        send = middle(i, 1)
        host = middle(i, 0)
        compared += (send > 0 || host > 0)
        slow_send = middle(i, 1, 1) > 0
        slow_host = middle(i, 0, 1) > 0
        if (!slow_send && !slow_host)
            continue
        split(what_at[i], part, SUBSEP)
        worst = slow_send && send > host ? send : slow_host ? host : send
        why = cause(part[1], part[3], part[2])
        line[++lines] = sprintf("%d%012.3f|| %s | %s | %s | %s | %s | %s | %s |", 9 - why, worst, name(of[i]), part[1], part[3],
            part[2], unit(part[4]), cell(send, slow_send), cell(host, slow_host))
        listed[why]++
    }
    printf "\n## Where the library is slower\n\n"
    printf "Every case in which it takes at least %.1f times as long as `MPI_Isend` and `MPI_Irecv` of the same bytes, where they were\n", margin
    printf "measured, or as the host's own call%s: %d of %d, the worst of each cause first.\n", \
        (rounds > 1 ? ", in each of the " rounds " rounds" : ""), lines, compared
    for (i = 2; i <= lines; i++)
        for (j = i; j > 1 && line[j - 1] < line[j]; j--) {
            t = line[j]
            line[j] = line[j - 1]
            line[j - 1] = t
        }
    for (i = 1; i <= lines; i++) {
        why = 9 - substr(line[i], 1, 1)
        if (why != before) {
            printf "\n### %s (%d)\n\n", text[why], listed[why]
            print "| host | case | memory | processes | bytes | over send/receive | over the host |"
            print "|---|---|---|--:|--:|--:|--:|"
        }
        before = why
        print substr(line[i], index(line[i], "||") + 1)
    }
}
