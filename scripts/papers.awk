# SPDX-License-Identifier: BSD-3-Clause
# papers.awk - the tables of doc/performance.md that are counterparts of the papers' figures, in
# Markdown, from the CSV files of bench/rma, of the host alone and with the library.
#
#   awk -F, -f scripts/papers.awk FILE.csv...
#
# A cell is "-" where a run gave no figure.

function unit(n) {
    return n >= 1048576 ? n / 1048576 " Mi" : n >= 1024 ? n / 1024 " Ki" : n
}

function number(x, digits) {
    return x == "" ? "-" : sprintf("%." digits "f", x)
}

function us(ns) {
    return ns == "" ? "-" : sprintf(ns < 9950 ? "%.2f" : ns < 99500 ? "%.1f" : "%.0f", ns / 1000)
}

function heading(title, text) {
    printf "\n### %s\n\n%s\n", title, text
}

# A table's heading for each host: the row's name, then columns.
function columns(first, names,   n, i, list) {
    n = split(names, list, ",")
    printf "\n| %s |", first
    for (i = 1; i <= n; i++)
        printf " %s |", list[i]
    printf "\n|---|"
    for (i = 1; i <= n; i++)
        printf "--:|"
    print ""
}

FNR == 1 { next }
$9 == "" { next }
$4 == "net" { # bench/net, a file for each path
    unlock[$1, FILENAME ~ /net-packets/, $5] = $9
    unlocks = 1
    next
}
{
    key = $1 SUBSEP $2 SUBSEP $3 SUBSEP $4 SUBSEP $5 SUBSEP $6 SUBSEP $7 SUBSEP $8
    ns[key] = $9
    of[key] = $13
    beside[key] = $14
    if (!(($4, $8) in sized)) {
        sized[$4, $8] = 1
        size[$4, ++sizes[$4]] = $8 + 0
    }
    if (!($1 in hosts)) {
        hosts[$1] = 1
        host[++nhosts] = $1
    }
    if ($4 == "origins" && $3 > most)
        most = $3
    if ($4 == "active" && !($3 in ranks)) {
        ranks[$3] = 1
        p[++np] = $3 + 0
    }
}

function name(h) {
    return h == "mpich" ? "MPICH" : h == "openmpi" ? "Open MPI" : h
}

# Sizes and numbers of ranks come in the order of the runs.
function sort(list, n, suite,   i, j, t) {
    for (i = 2; i <= n; i++)
        for (j = i; j > 1; j--) {
            a = suite == "" ? j : suite SUBSEP j
            b = suite == "" ? j - 1 : suite SUBSEP (j - 1)
            if (list[b] <= list[a])
                break
            t = list[a]
            list[a] = list[b]
            list[b] = t
        }
}

# Time over that of send and receive, which was measured in turns with it.
function over_messages(h, lib, op, kind, sync, bytes,   key) {
    key = h SUBSEP lib SUBSEP 2 SUBSEP "bw" SUBSEP op SUBSEP kind SUBSEP sync SUBSEP bytes
    return beside[key] > 0 ? sprintf("%.2f", of[key] / beside[key]) : "-"
}

function bandwidth(   h, o, k, s, y, key) {
    split("put,get", op, ",")
    split("malloc,allocate", kind, ",")
    ny = split("fence,pscw,lock,lock_all", sync, ",")
    heading("32 operations an epoch",
        "Time of an epoch over that of 32 `MPI_Isend` and `MPI_Irecv` of the same bytes, measured in turns with it, by the host\n" \
        "itself / through the library; in front of it what send and receive move (truly one-sided paper, Figs. 4b, 5 and 6).")
    for (h = 1; h <= nhosts; h++) {
        columns(name(host[h]) ": operation, memory, bytes", "isend/irecv (MB/s),fence,pscw,lock,lock_all")
        for (o = 1; o <= 2; o++)
            for (k = 1; k <= 2; k++)
                for (s = 1; s <= sizes["bw"]; s++) {
                    bytes = size["bw", s]
                    key = host[h] SUBSEP 1 SUBSEP 2 SUBSEP "bw" SUBSEP op[o] SUBSEP kind[k] SUBSEP "lock_all" SUBSEP bytes
                    printf "| %s, %s, %s | %s |", op[o], kind[k], unit(bytes), number(beside[key] > 0 ? 1000 * bytes / beside[key] : "", 0)
                    for (y = 1; y <= ny; y++)
                        printf " %s / %s |", over_messages(host[h], 0, op[o], kind[k], sync[y], bytes),
                            over_messages(host[h], 1, op[o], kind[k], sync[y], bytes)
                    print ""
                }
    }
}

function pscw_latency(   h, o, k, s, lib) {
    heading("One operation a PSCW epoch",
        "Microseconds of an epoch (truly one-sided paper, Figs. 4a, 5a and 6a), by the host itself / through the library.")
    split("put,get", op, ",")
    for (h = 1; h <= nhosts; h++) {
        columns(name(host[h]) ": bytes", "put malloc,put allocate,get malloc,get allocate")
        for (s = 1; s <= sizes["latency"]; s++) {
            printf "| %s |", unit(size["latency", s])
            for (o = 1; o <= 2; o++)
                for (k = 1; k <= 2; k++)
                    printf " %s / %s |", us(ns[host[h], 0, 2, "latency", op[o], kind[k], "pscw", size["latency", s]]),
                        us(ns[host[h], 1, 2, "latency", op[o], kind[k], "pscw", size["latency", s]])
            print ""
        }
    }
}

function skew(   h, k, s, lib) {
    heading("Process skew",
        "16 puts of 256 KiB in a PSCW epoch, the target multiplying two matrices of this order between post and wait: microseconds of\n" \
        "the origin, and of the target's multiplication (truly one-sided paper, Table 1), by the host itself / through the library;\n" \
        "bare copies of the same bytes beside the same multiplication.")
    for (h = 1; h <= nhosts; h++) {
        columns(name(host[h]) ": memory, order", "origin,target's computation,bare copies")
        for (k = 1; k <= 2; k++)
            for (s = 1; s <= sizes["skew"]; s++) {
                printf "| %s, %s |", kind[k], size["skew", s]
                for (lib = 0; lib < 2; lib++)
                    epoch[lib] = us(ns[host[h], lib, 2, "skew", "epoch", kind[k], "pscw", size["skew", s]])
                printf " %s / %s |", epoch[0], epoch[1]
                for (lib = 0; lib < 2; lib++)
                    epoch[lib] = us(ns[host[h], lib, 2, "skew", "compute", kind[k], "pscw", size["skew", s]])
                printf " %s / %s |", epoch[0], epoch[1]
                printf " %s |\n", us(ns[host[h], 1, 2, "skew", "copies", kind[k], "", size["skew", s]])
            }
    }
}

# Which part of the communication a computation has hidden.
function hidden(h, lib, op, kind, sync, bytes,   key, share) {
    key = h SUBSEP lib SUBSEP 2 SUBSEP "overlap" SUBSEP op SUBSEP kind SUBSEP sync SUBSEP bytes
    if (!(of[key] > 0))
        return "-"
    share = 100 * (of[key] + beside[key] - ns[key]) / of[key]
    return sprintf("%.0f %%", share < 0 ? 0 : share)
}

function overlap(   h, k, s, n, i) {
    heading("Overlap",
        "Which part of the time of 16 puts in a PSCW epoch, or of 16 `MPI_Isend` and `MPI_Irecv`, a computation of 1.2 times that time\n" \
        "hides, at the origin (sender) and at the target (receiver), and at the origin with 1 MiB and computations of other lengths\n" \
        "(truly one-sided paper, Fig. 7). At the origin nothing can be hidden where the call itself copies: mapped memory and what the\n" \
        "kernel copies.")
    n = split("origin,target,origin_0.25,origin_0.5,origin_1,origin_2", side, ",")
    for (h = 1; h <= nhosts; h++) {
        columns(name(host[h]) ": memory, side, bytes", "isend/irecv,PSCW by the host,PSCW through the library")
        for (k = 1; k <= 2; k++)
            for (i = 1; i <= n; i++)
                for (s = 1; s <= sizes["overlap"]; s++)
                    if (i <= 2 || size["overlap", s] == 1048576)
                        printf "| %s, %s, %s | %s | %s | %s |\n", kind[k], side[i], unit(size["overlap", s]),
                            hidden(host[h], 1, side[i], kind[k], "isend_irecv", size["overlap", s]),
                            hidden(host[h], 0, side[i], kind[k], "pscw", size["overlap", s]),
                            hidden(host[h], 1, side[i], kind[k], "pscw", size["overlap", s])
    }
}

function origins(   h, k, s, many, i, op, messages, key) {
    heading("Many origins, many targets",
        "16 puts by each of k origins to one target, or by one origin to each of k targets, a window for each pair: the time of the one\n" \
        "over that of `MPI_Isend` and `MPI_Irecv` of the same bytes, by the host itself / through the library (truly one-sided paper,\n" \
        "Fig. 8).")
    for (h = 1; h <= nhosts; h++) {
        columns(name(host[h]) ": memory, bytes", "isend/irecv with 1 origin (us)" (most > 1 ? names(most - 1) : ""))
        for (k = 1; k <= 2; k++)
            for (s = 1; s <= sizes["origins"]; s++) {
                printf "| %s, %s | %s |", kind[k], unit(size["origins", s]),
                    us(ns[host[h], 1, most, "origins", "1_origin", kind[k], "isend_irecv", size["origins", s]])
                for (many = 0; many < 2; many++)
                    for (i = 1; i < most; i++) {
                        op = i "_" (many ? "target" : "origin") (i > 1 ? "s" : "")
                        printf " %s / %s |", ratio(host[h], 0, op, kind[k], size["origins", s]),
                            ratio(host[h], 1, op, kind[k], size["origins", s])
                    }
                print ""
            }
    }
}

function names(n,   i, text) {
    for (i = 1; i <= n; i++)
        text = text "," i " origin" (i > 1 ? "s" : "")
    for (i = 1; i <= n; i++)
        text = text "," i " target" (i > 1 ? "s" : "")
    return text
}

function ratio(h, lib, op, kind, bytes,   a, b) {
    a = ns[h, lib, most, "origins", op, kind, "pscw", bytes]
    b = ns[h, lib, most, "origins", op, kind, "isend_irecv", bytes]
    return a > 0 && b > 0 ? sprintf("%.2f", a / b) : "-"
}

function fences(   h, i, y, n) {
    n = split("fence,pscw,lock,lock_exclusive,fetch_and_op", sync, ",")
    heading("All processes at once",
        "Microseconds of a fence with a put by each process (MPICH2 paper, Fig. 4), of PSCW epochs to a neighbour, and of locks and\n" \
        "fetch_and_op, by the number of processes, by the host itself / through the library. How many messages a fence takes between\n" \
        "machines is in [scaling](scaling.md).")
    for (h = 1; h <= nhosts; h++) {
        columns(name(host[h]) ": processes", "fence,pscw,lock,lock_exclusive,fetch_and_op")
        for (i = 1; i <= np; i++) {
            printf "| %s |", p[i]
            for (y = 1; y <= n; y++)
                printf " %s / %s |", us(active(host[h], 0, p[i], sync[y])), us(active(host[h], 1, p[i], sync[y]))
            print ""
        }
    }
}

function active(h, lib, n, op,   key, part) {
    for (key in ns) {
        split(key, part, SUBSEP)
        if (part[1] == h && part[2] == lib && part[3] == n && part[4] == "active" && part[5] == op && part[6] != "malloc")
            return ns[key]
    }
    return ""
}

function weak_unlocks(   h, far, trip) {
    heading("Weak unlock",
        "Microseconds of a lock, a put of 8 bytes and an unlock, by the library, to two targets in turn that wait in `MPI_Win_wait`, with and\n" \
        "without the info key `mpirma_weak_unlock`, with which an unlock does not wait until the put is complete at the target (truly\n" \
        "one-sided paper, future work), and a round trip of a bare libfabric endpoint.")
    for (h = 1; h <= nhosts; h++) {
        columns(name(host[h]) ": path", "unlock,weak unlock,bare round trip")
        for (far = 0; far <= 1; far++) {
            trip = far ? us(2 * unlock[host[h], far, "T"]) : "-"
            printf "| %s | %s | %s | %s |\n", far ? "network (tcp on loopback)" : "packets in a node",
                us(unlock[host[h], far, "unlock"]), us(unlock[host[h], far, "unlock_weak"]), trip
        }
    }
}

END {
    n = split("bw,latency,skew,overlap,origins", suites, ",")
    for (i = 1; i <= n; i++)
        sort(size, sizes[suites[i]], suites[i])
    sort(p, np, "")
    print "\n## The papers' figures"
    split("malloc,allocate", kind, ",")
    pscw_latency()
    bandwidth()
    skew()
    overlap()
    origins()
    fences()
    if (unlocks)
        weak_unlocks()
}
