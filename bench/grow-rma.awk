# SPDX-License-Identifier: BSD-3-Clause
# grow-rma.awk - what grows with the number of ranks, from CSV files of bench/rma.
#
# Goal 3: a fence takes steps of log2 P; where ranks share processors each step also
# waits for as many switches as there are ranks on a processor. Goal 11: lock_all is
# one atomic and a flush of nothing touches nothing, whatever P. The shortest block
# counts: with more ranks than processors the median has others' time in it.
# processors: -v cpus=N, else from /sys.

BEGIN {
    if (!cpus) {
        while ((getline line < "/proc/cpuinfo") > 0)
            cpus += line ~ /^processor/
        if (!cpus)
            cpus = 1
    }
}
$2 == 1 && ($4 == "calls" || $4 == "active") && $10 + 0 > 0 {
    key = $1 "," $4 "," $5 "," $6
    value[key, $3] = $10
    ranks[$3] = 1
    keys[key] = 1
}
function log2(n) { return log(n) / log(2) }
function crowd(p) { return p > cpus ? p / cpus : 1 }
function verdict(goal, what, p, from, v, limit, unit, text) {
    printf "%-4s %-50s %2d ranks over %2d: %8.2f%s  <= %-34s = %8.2f%s  %s\n", goal, what, p, from, v, unit, text, \
        limit, unit, v <= limit ? "met" : "NOT met"
}
END {
    for (p in ranks)
        order[++n] = p + 0
    for (i = 2; i <= n; i++) # a handful: insertion
        for (j = i; j > 1 && order[j] < order[j - 1]; j--) {
            t = order[j]; order[j] = order[j - 1]; order[j - 1] = t
        }
    print "growth with the number of ranks (shortest blocks)"
    for (key in keys) {
        split(key, f, ",")
        what = f[1] ", " f[2] " " f[3] ", " f[4]
        text = sprintf("%-50s", what)
        for (i = 1; i <= n; i++)
            text = text sprintf("  P=%d %.1f ns", order[i], value[key, order[i]])
        lines[++m] = "     " text
        for (i = 2; i <= n; i++) {
            a = order[i - 1]; b = order[i]
            if (!value[key, a] || !value[key, b])
                continue
            now = value[key, b]
            before = value[key, a]
            if (f[3] == "fence" && (a > 2 || crowd(b) == 1))
                verdict("3", what, b, a, now / before, 1.1 * log2(b) / log2(a) * crowd(b) / crowd(a), "   ", \
                    "1.1 x steps x ranks a processor")
            else if (f[2] == "calls" && (f[3] == "lock_all" || f[3] ~ /^flush/))
                verdict("11", what, b, a, now, 1.25 * before + 5, " ns", "1.25 x that of fewer + 5 ns")
        }
    }
    if (!m) {
        print "no runs with the library"
        exit 1
    }
    for (i = 1; i <= m; i++)
        print lines[i] | "sort"
}
