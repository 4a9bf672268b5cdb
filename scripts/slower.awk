# SPDX-License-Identifier: BSD-3-Clause
# slower.awk - every case in which the library is slower than send and receive, or than the host's
# own one-sided calls, in Markdown, from the CSV files of bench/rma and bench/halo.
#
#   awk -F, -v cpus=N [-v margin=1.1] -f scripts/slower.awk round1/FILE.csv... round2/FILE.csv...
#
# A case is an operation in a kind of memory with so many processes on one host; it has a row with all
# its sizes that are slow. A size is listed from margin times the other's time on, as single runs differ
# by some per cent, and only if it is so in every round that has it. Its ratio is that of the round in the
# middle. Beside these stands how long it takes over the bare calls that it cannot do without, where the
# same round has measured them. The cases stand under what makes them slow, as far as that is known.

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
    goals = FILENAME ~ /\/goals-/
    net = FILENAME ~ /\/round[0-9]+\/net\//
    round = FILENAME
    sub(/.*round/, "", round)
    round += 0
    rounds = round > rounds ? round : rounds
    next
}

# What the machine takes: of the runs with the library, by operation, processes, memory and bytes.
halo && $2 == 1 && $12 != "" && (net ? $10 ~ /_msgs$/ : $10 ~ /^(writev|barriers)$/) { bare[$1, $10, $3, $9, round] = $12 * 1000 }
!halo && $2 == 1 && $9 != "" && $4 == "anchors" { bare[$1, $5, 2, $8, round] = $9 }
!halo && $2 == 1 && $9 != "" && $5 == "copies" { bare[$1, $4 " copies " $6, 2, $8, round] = $9 }

# us and isend_us; of the two runs each has its own send and receive.
# Load and store, and bare calls, are no calls of the library.
halo && $12 != "" && $10 !~ /^(shm|barriers|writev|isend|.*_msgs)$/ {
    floor = ""
    if (net && $10 ~ /^(fence|pscw|lock|lock_all)$/)
        floor = $10 "_msgs"
    else if (!net && $10 == "fence")
        floor = "barriers"
    else if (!net && $8 == "malloc" && $10 ~ /^lock/)
        floor = "writev"
    add($1, $2, "halo exchange" (net ? " over tcp" : "") ", " $10 SUBSEP $3 SUBSEP $8, unit($9), $9, $12 * 1000, $11 * 1000, floor)
}

# What only the rest is held against is no case of its own.
!halo && !goals && $9 != "" && $4 != "anchors" && $7 != "isend_irecv" && $5 != "copies" && \
    $5 !~ /^malloc_|^allgather|^segment|^barrier|^compute/ {
    add($1, $2, case_of($7) SUBSEP $3 SUBSEP $6, label(), $8, $9, $4 == "bw" && $14 > 0 ? $9 * $14 / $13 : "", floor_of())
}
!halo && !goals && $9 != "" && $7 == "isend_irecv" {
    messages[$1, $2, case_of("pscw") SUBSEP $3 SUBSEP $6, label(), round] = $9
}

# The operations of a case that differ by a number only have that in their sizes' names.
function case_of(sync,   op) {
    op = $5
    if ($4 == "origins")
        op = op ~ /origin/ ? "origins" : "targets"
    sub(/_[0-9.]+$/, "", op)
    return ($4 == "origins" ? "many" : $4) ", " op (sync == "" ? "" : ", " sync)
}

function label(   of) {
    if ($4 == "origins")
        return $5 + 0 " x " unit($8)
    of = $5
    return unit($8) (sub(/.*_/, "", of) && of ~ /^[0-9.]+$/ ? " (" of ")" : "")
}

# The bare call of this operation on memory that only the kernel reaches. That of a large one moves the
# same bytes again and again, which stay in the cache, and 32 different ones of an epoch do not.
function floor_of() {
    if ($4 == "skew")
        return "skew copies " $6
    if ($6 !~ /^(malloc|dynamic)$/)
        return ""
    if ($4 == "latency" || $4 == "bw" && $8 <= 4096)
        return $5 == "put" ? "cma_write" : "cma_read"
    if ($4 == "atomic")
        return "cma_acc"
    if ($4 == "acc")
        return $5 ~ /strided/ ? "cma_acc_strided" : "cma_acc"
    return ""
}

function add(h, lib, what, size, bytes, ns, send, floor,   row) {
    row = h SUBSEP what
    if (!(row in nsizes))
        row_at[++n] = row
    if (!((row, size) in known)) {
        known[row, size] = 1
        size_at[row, ++nsizes[row]] = size
        bytes_of[row, size] = bytes
        floor_at[row, size] = floor
    }
    time[h, lib, what, size, round] = ns
    if (send != "")
        messages[h, lib, what, size, round] = send
}

# The time of round r that the library's is held against: send and receive's, the host's, or that of
# bare calls.
function other(row, size, r, against,   part) {
    split(row, part, SUBSEP)
    if (against == "bare")
        return bare[part[1], floor_at[row, size], part[3], bytes_of[row, size], r]
    if (against == "send")
        return messages[part[1], 1, part[2], part[3], part[4], size, r]
    return time[part[1], 0, part[2], part[3], part[4], size, r]
}

# The middle one of the rounds' ratios; 0: not measured, or in some round less than margin and
# wanted is set.
function middle(row, size, against, wanted,   r, b, k, t, mine, base, all, part) {
    k = 0
    split(row, part, SUBSEP)
    for (r = 1; r <= rounds; r++) {
        mine = time[part[1], 1, part[2], part[3], part[4], size, r]
        base = other(row, size, r, against)
        if (!(mine > 0 && base > 0))
            continue
        all[++k] = mine / base
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

# Which sizes of a row are slow: against send and receive or against the host. Their number.
function look(row,   s, size, count) {
    for (s = 1; s <= nsizes[row]; s++) {
        size = size_at[row, s]
        if (middle(row, size, "send") > 0 || middle(row, size, "host") > 0) {
            measured[row] = 1
            compared++
        }
        slow[row, size, "send"] = middle(row, size, "send", 1)
        slow[row, size, "host"] = middle(row, size, "host", 1)
        slow[row, size] = slow[row, size, "send"] > 0 || slow[row, size, "host"] > 0
        count += slow[row, size]
    }
    return count
}

# The sizes that are slow against it; if none is, the greatest ratio of those that are slow otherwise.
function cell(row, against,   s, size, ratio, text, most) {
    for (s = 1; s <= nsizes[row]; s++) {
        size = size_at[row, s]
        if (!slow[row, size])
            continue
        ratio = middle(row, size, against)
        most = ratio > most ? ratio : most
        if (ratio > 0 && (against == "bare" || slow[row, size, against] > 0))
            text = text (text == "" ? "" : ", ") sprintf("%s: %.2f", size, ratio)
    }
    return text != "" ? text : most > 0 ? sprintf("at most %.2f", most) : "-"
}

function worst(row,   s, size, most) {
    for (s = 1; s <= nsizes[row]; s++) {
        size = size_at[row, s]
        most = slow[row, size, "send"] > most ? slow[row, size, "send"] : most
        most = slow[row, size, "host"] > most ? slow[row, size, "host"] : most
    }
    return most
}

# Number of the cause; the last one is "not known".
function cause(what, memory, ranks) {
    if (what ~ /over tcp, lock/)
        return ROUND_TRIP
    if (what ~ /over tcp, fence$/)
        return MEETING
    if (what ~ /over tcp, pscw/)
        return POST
    if (what ~ /over tcp, fence_/)
        return MARKERS
    if (what ~ /^create/)
        return CREATE
    if (what ~ /^memory, first/)
        return FIRST
    if (what ~ /^memory/)
        return SEGMENT
    if (what ~ /^calls, sync/)
        return SYNC
    if (what ~ /^skew|^overlap/)
        return COPIES
    if (what ~ /^many, targets/)
        return TARGETS
    if (memory ~ /^(malloc|dynamic)$/ && what ~ /^atomic|fetch_and_op/)
        return ATOMICS
    if (what ~ /_both/)
        return LINE
    if (what ~ /^halo exchange, fence$/)
        return BARRIERS
    if (memory ~ /^(malloc|dynamic)$/ && what ~ /^acc/)
        return ACCUMULATE
    if (memory ~ /^(malloc|dynamic)$/)
        return KERNEL
    if (ranks > cpus)
        return CROWD
    return UNKNOWN
}

function causes() {
    text[CREATE = ++ncauses] = "Creation: the window that carries attributes, name and error handler is the host's and costs what it costs there"
    text[COPIES = ++ncauses] = "Copies: the call that puts or gets makes the copy itself, so that nothing overlaps, and it shares the memory's bandwidth with a target that computes; bare calls: plain copies of the same bytes"
    text[TARGETS = ++ncauses] = "One origin, many targets: the origin copies for all of them, one after the other, where of messages each receiver copies its own"
    text[LINE = ++ncauses] = "One cache line: both processes change the same word, and between two operations stand two calls"
    text[ACCUMULATE = ++ncauses] = "Accumulates on memory given to MPI_Win_create: what the target's processor would add is read and written by the kernel, piece by piece; bare calls: read, add and write"
    text[ATOMICS = ++ncauses] = "Atomic operations on memory given to MPI_Win_create: on MPICH a read and a write by the kernel, which need no target, where the host's are a message and an answer of a target that is inside MPI; on Open MPI both are that, and the target looks into the library's rings in turns with the host's; bare calls: a read and a write by the kernel"
    text[KERNEL = ++ncauses] = "Memory given to MPI_Win_create: a system call for each operation, or a round trip through the ring, and one processor that copies; bare calls: process_vm_writev or process_vm_readv of the same bytes, in the halo exchange one for each strip and one for each flag"
    text[BARRIERS = ++ncauses] = "Fences without asserts: all processes meet twice in a step, where messages meet once; bare calls: two barriers on a counter in shared memory, with copies between"
    text[SYNC = ++ncauses] = "MPI_Win_sync: besides the fence in memory, which is all that MPICH does, the call makes progress where the process may get packets, so that who waits in a loop of it waits for no other thread"
    text[CROWD = ++ncauses] = "More processes than processors: each barrier, grant or reply takes a change of processes, and a message has one less"
    text[SEGMENT = ++ncauses] = "Memory that others map: the kernel makes the pages of shared memory one by one, and gives huge ones, where it does, to private memory only"
    text[FIRST = ++ncauses] = "The first call of a process: the library makes what it needs later, which the host has made in MPI_Init"
    text[ROUND_TRIP = ++ncauses] = "Network, lock and flush: each takes a round trip, and the notice behind it goes one way more, where a message goes one way; bare calls: the host's messages that this needs, a strip and an answer for each neighbour in turn or for all at once, and a notice"
    text[MEETING = ++ncauses] = "Network, fence without asserts: all processes meet before the data leaves, and messages need not; bare calls: a barrier and the messages, by the host"
    text[POST = ++ncauses] = "Network, post and start: a post is on its way before the data leaves, and a message has none; bare calls: an empty message each way and the messages, by the host"
    text[MARKERS = ++ncauses] = "Network, other fences: each process hears from all others how much they have put, those too that no strip goes to; why large strips take longer is not known"
    text[UNKNOWN = ++ncauses] = "Not known"
}

END {
    causes()
    for (i = 1; i <= n; i++) {
        row = row_at[i]
        slow_sizes = look(row)
        cases += measured[row]
        if (!slow_sizes)
            continue
        sizes += slow_sizes
        split(row, part, SUBSEP)
        why = cause(part[2], part[4], part[3])
        line[++lines] = sprintf("%02d%012.3f|| %s | %s | %s | %s | %s | %s | %s |", ncauses - why, worst(row), name(part[1]), part[2], \
            part[4], part[3], cell(row, "send"), cell(row, "host"), cell(row, "bare"))
        listed[why]++
    }
    printf "\n## Where the library is slower\n\n"
    printf "Every case in which it takes at least %.1f times as long as `MPI_Isend` and `MPI_Irecv` of the same bytes, where they were\n", margin
    printf "measured, or as the host's own call%s: %d of %d cases, with %d of their %d sizes, the worst of each\n", \
        (rounds > 1 ? ", in each of the " rounds " rounds" : ""), lines, cases, sizes, compared
    print "cause first. A cell has the bytes that are slow and how many times as long they take; `at most` is for those that are slow in"
    print "the other column only. The last column is what the library takes over the bare calls in the same round that an operation can't"
    print "do without, where such were measured: near 1 it is the machine that takes the time. `3 x 64 Ki` are three origins or targets,"
    print "`1 Mi (0.5)` is a computation of half the epoch's length."
    for (i = 2; i <= lines; i++)
        for (j = i; j > 1 && line[j - 1] < line[j]; j--) {
            t = line[j]
            line[j] = line[j - 1]
            line[j - 1] = t
        }
    for (i = 1; i <= lines; i++) {
        why = ncauses - substr(line[i], 1, 2)
        if (why != before) {
            printf "\n### %s (%d)\n\n", text[why], listed[why]
            print "| host | case | memory | processes | over send/receive | over the host | over bare calls |"
            print "|---|---|---|--:|---|---|---|"
        }
        before = why
        print substr(line[i], index(line[i], "||") + 1)
    }
}
