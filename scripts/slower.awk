# slower.awk - every case in which the library is slower than send and receive, or than the host's
# own one-sided calls, in Markdown, from the CSV files of bench/rma and bench/halo.
#
#   awk -F, [-v margin=1.1] -f scripts/slower.awk FILE.csv...
#
# A case is listed from margin times the other's time on, as single runs differ by some per cent.

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
    next
}

# us and isend_us; of the two runs each has its own send and receive.
# Load and store, and bare barriers, are no calls of the library.
halo && $12 != "" && $10 !~ /^(shm|barriers|isend)$/ {
    what = "halo exchange, " $10 SUBSEP $3 SUBSEP $8 SUBSEP $9
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
    messages[$1, $2, what] = $9
}

function add(h, lib, what, ns, send) {
    if (!((h, what) in known)) {
        known[h, what] = 1
        of[++n] = h
        what_at[n] = what
    }
    time[h, lib, what] = ns
    if (send != "")
        messages[h, lib, what] = send
}

function ratio(a, b) {
    return a > 0 && b > 0 ? a / b : 0
}

function cell(r) {
    return r == 0 ? "-" : sprintf(r >= margin ? "**%.2f**" : "%.2f", r)
}

END {
    for (i = 1; i <= n; i++) {
        mine = time[of[i], 1, what_at[i]]
        send = ratio(mine, messages[of[i], 1, what_at[i]])
        host = ratio(mine, time[of[i], 0, what_at[i]])
        compared += (send > 0 || host > 0)
        if (send < margin && host < margin)
            continue
        split(what_at[i], part, SUBSEP)
        worst = send > host ? send : host
        line[++lines] = sprintf("%012.3f|| %s | %s | %s | %s | %s | %s | %s |", worst, name(of[i]), part[1], part[3],
            part[2], unit(part[4]), cell(send), cell(host))
    }
    printf "\n## Where the library is slower\n\n"
    printf "Every case of this run in which it takes at least %.1f times as long as `MPI_Isend` and `MPI_Irecv` of the same bytes, where\n", margin
    printf "they were measured, or as the host's own call: %d of %d, the worst first.\n\n", lines, compared
    print "| host | case | memory | processes | bytes | over send/receive | over the host |"
    print "|---|---|---|--:|--:|--:|--:|"
    for (i = 2; i <= lines; i++)
        for (j = i; j > 1 && line[j - 1] < line[j]; j--) {
            t = line[j]
            line[j] = line[j - 1]
            line[j - 1] = t
        }
    for (i = 1; i <= lines; i++)
        print substr(line[i], index(line[i], "||") + 1)
}
