# SPDX-License-Identifier: BSD-3-Clause
# table.awk - the results of scripts/check-apps.sh as Markdown. Reads test/apps/known, the files of
# test/apps/expected (with the functions of expected.awk) and the result files (records as
# test/apps/common.sh writes them), prints with -v what=
#   table    a row for each program and host
#   details  the tests that pass on the host and not with the library, and those that take longer
#   totals   N passed, N failed, N skipped; the exit status is 1 if any failed

BEGIN {
    FS = "\t"
    split("host lib nodes", variants, " ")
}

FILENAME == known {
    if ($0 !~ /^#/ && NF) {
        split($0, word, " ")
        nknown++
        pattern = word[1] "/" word[2] "/" word[3] "/" word[4]
        gsub(/[.+?()\[\]]/, "\\\\&", pattern)
        gsub(/\*/, ".*", pattern)
        known_pattern[nknown] = "^" pattern "$"
        reason = $0
        sub(/^[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +/, "", reason)
        known_reason[nknown] = reason
    }
    next
}

FILENAME ~ /\/expected\/[^\/]*$/ {
    expect_line(FILENAME, $0)
    next
}

$1 == "program" {
    row = ++rows
    program[row] = $2; title[row] = $3; host[row] = $4; host_version[row] = $5; version[row] = $6; bound[row] = $7; size[row] = $9
    date = $8 > date ? $8 : date
}

$1 == "skipped" { why[row] = $2 }

$1 == "run" {
    key = row SUBSEP $2
    if (!(key in tests)) {
        tests[key]
        test_name[row, ++ntests[row]] = $2
    }
    nruns[key, $3]++
    time[key, $3, nruns[key, $3]] = $5 / 100
    windows[row, $3] += $7
    if ($3 == "host") ran_alone[row] = 1
}

# A point passes if it passes in every round; one whose result a file tells, if it once does as told.
$1 == "point" {
    key = row SUBSEP $2 SUBSEP $5
    if (!(key in points)) {
        points[key]
        point_name[row, $2, ++npoints[row, $2]] = $5
    }
    rounds[key, $3]++
    if ($6 == "pass") passes[key, $3]++
    if ($6 == "skip") skips[key, $3]++
    last[key, $3] = $6
    if (is_expected(program[row], host[row], $3, $5, $6)) as_told[key, $3] = $6
    else other[key, $3]++
}

function state(row, test, point, variant,    key) {
    key = row SUBSEP test SUBSEP point
    if (expected_points[program[row]]) {
        if (!rounds[key, variant]) return expect_state(expected_sign[program[row], host[row], point, variant])
        return (key, variant) in as_told ? as_told[key, variant] : last[key, variant]
    }
    if (!rounds[key, variant]) return "none"
    if (skips[key, variant]) return "skip"
    return passes[key, variant] == rounds[key, variant] ? "pass" : "fail"
}

# Why this is not held against the library, or nothing.
function excuse(row, variant, point,    i, name) {
    if (expected_points[program[row]]) {
        if (expect_state(expected_sign[program[row], host[row], point, variant]) !~ /fail|skip/) return ""
        return expected_reason[program[row], point]
    }
    name = program[row] "/" host[row] "/" variant "/" point
    for (i = 1; i <= nknown; i++) if (name ~ known_pattern[i]) return known_reason[i]
    return ""
}

function median(row, test, variant,    n, i, j, v, t) {
    n = nruns[row, test, variant]
    for (i = 1; i <= n; i++) {
        v = time[row, test, variant, i]
        for (j = i - 1; j > 0 && t[j] > v; j--) t[j + 1] = t[j]
        t[j + 1] = v
    }
    return n % 2 ? t[(n + 1) / 2] : (t[n / 2] + t[n / 2 + 1]) / 2
}

# Sums over a row: the number of points in all, passed[variant], and seconds[variant] of the tests with
# the same outcome everywhere, if anything passes; of all tests, where there are none such (compared is 0).
function add_up(row,    i, j, v, test, point) {
    all = compared = 0
    for (i = 1; i <= ntests[row]; i++) compared += comparable(row, test_name[row, i])
    for (v = 1; v <= 3; v++) passed[variants[v]] = seconds[variants[v]] = 0
    for (i = 1; i <= ntests[row]; i++) {
        test = test_name[row, i]
        for (j = 1; j <= npoints[row, test]; j++) {
            point = point_name[row, test, j]
            all++
            for (v = 1; v <= 3; v++) if (state(row, test, point, variants[v]) == "pass") passed[variants[v]]++
        }
        for (v = 1; v <= 3 && (!compared || comparable(row, test)); v++) seconds[variants[v]] += median(row, test, variants[v])
    }
}

function comparable(row, test,    j, v, s, some) {
    for (j = 1; j <= npoints[row, test]; j++) {
        s = state(row, test, point_name[row, test, j], "host")
        for (v = 2; v <= 3; v++) if (state(row, test, point_name[row, test, j], variants[v]) != s) return 0
        if (s == "pass") some = 1
    }
    return some + 0
}

# Longer than the host by a tenth and by half a second, which two runs of the same may differ by.
function slower(host_time, time) {
    return time > 1.1 * host_time && time > host_time + 0.5
}

function show_time(host_time, time) {
    if (!slower(host_time, time)) return sprintf("%.1f s", time)
    return host_time > 0 ? sprintf("%.1f s (%.1f times)", time, time / host_time) : sprintf("%.1f s", time)
}

function print_table(    row, limit) {
    print "| program | host | tests | pass: host | with libmpi-rma | over nodes | time: host | with libmpi-rma | over nodes | windows |"
    print "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for (row = 1; row <= rows; row++) {
        printf "| %s%s | %s %s | ", title[row], version[row] == "-" ? "" : " (" version[row] ")",
            host[row] == "mpich" ? "MPICH" : "Open MPI", host_version[row]
        if (row in why) {
            print "skipped: " why[row] " | | | | | | | |"
            continue
        }
        add_up(row)
        limit = compared ? seconds["host"] : seconds["nodes"] + seconds["lib"]
        printf "%d | %d | %d | %d | %s | %s | %s | %s |\n", all, passed["host"], passed["lib"], passed["nodes"],
            !ran_alone[row] ? "not run" : compared ? sprintf("%.1f s", seconds["host"]) : "fails",
            show_time(limit, seconds["lib"]), show_time(limit, seconds["nodes"]),
            windows[row, "lib"] ? windows[row, "lib"] : "none"
    }
    print ""
    print "Made on " date " by `scripts/check-apps.sh`."
}

# What does worse with the library than without, test by test.
function print_details(    row, i, j, k, v, test, point, n, variant, t, h) {
    n = 0
    for (row = 1; row <= rows; row++) for (i = 1; i <= ntests[row]; i++) {
        test = test_name[row, i]
        for (j = 1; j <= npoints[row, test]; j++) {
            point = point_name[row, test, j]
            if (state(row, test, point, "host") != "pass") continue
            for (v = 2; v <= 3; v++) {
                variant = variants[v]
                if (state(row, test, point, variant) == "pass") continue
                if (!n++) print "\nThese pass on the host and not with the library:\n"
                k = excuse(row, variant, point)
                printf "- %s, %s%s: `%s`%s (%d of %d runs pass)%s\n", program[row], host[row],
                    variant == "nodes" ? ", over nodes" : "", point, point == test ? "" : " of `" test "`",
                    passes[row, test, point, variant], rounds[row, test, point, variant],
                    k == "" ? "" : ", not held against the library: " k
            }
        }
    }
    if (!n) print "\nNo test passes on the host and fails with the library."
    print_changing("\nThese did not always do the same:\n", "- ")
    n = 0
    for (row = 1; row <= rows; row++) for (i = 1; i <= ntests[row]; i++) {
        test = test_name[row, i]
        if (!ran_alone[row] || !comparable(row, test)) continue
        h = median(row, test, "host")
        t = median(row, test, "lib")
        if (!slower(h, t)) continue
        if (!n++) print "\nThese take longer in a node than on the host alone, by more than a tenth and half a second:\n"
        printf "- %s, %s: `%s`: %.2f s for %.2f s\n", program[row], host[row], test, t, h
    }
    if (!n) print "\nNo test takes longer in a node than on the host alone, by more than a tenth and half a second."
}

# Those that did as test/apps/expected says only when they ran again.
function print_changing(heading, mark,    row, i, j, v, key, variant) {
    for (row = 1; row <= rows; row++) for (i = 1; i <= ntests[row]; i++) {
        for (j = 1; j <= npoints[row, test_name[row, i]]; j++) for (v = 1; v <= 3; v++) {
            variant = variants[v]
            key = row SUBSEP test_name[row, i] SUBSEP point_name[row, test_name[row, i], j]
            if (!((key, variant) in as_told) || !other[key, variant]) continue
            if (heading != "") print heading
            heading = ""
            printf "%s%s, %s, %s: `%s` (%d of %d runs not as expected)\n", mark, program[row], host[row], variant,
                point_name[row, test_name[row, i], j], other[key, variant], rounds[key, variant]
        }
    }
}

# Each point of a program whose results a file tells: anything else fails, also what did not run.
function count_expected(row,    i, v, p, point, test, variant, key, s, sign) {
    p = program[row]
    for (i = 1; i <= ntests[row]; i++) for (v = 1; v <= npoints[row, test_name[row, i]]; v++) {
        point = point_name[row, test_name[row, i], v]
        test_of[row, point] = test_name[row, i]
        if ((p, point) in expected_when) continue
        bad++
        print "not ok: " p ", " host[row] ": " point " is not in test/apps/expected/" p
    }
    for (i = 1; i <= expected_points[p]; i++) {
        point = expected_point[p, i]
        if (size[row] != "full" && expected_when[p, point] != "ci") continue
        for (v = size[row] == "ci" ? 2 : 1; v <= 3; v++) {
            variant = variants[v]
            sign = expected_sign[p, host[row], point, variant]
            key = row SUBSEP test_of[row, point] SUBSEP point
            s = rounds[key, variant] ? state(row, test_of[row, point], point, variant) : "none"
            if (is_expected(p, host[row], variant, point, s)) {
                if (sign == "+") ok++
                else left++
                continue
            }
            bad++
            print "not ok: " p ", " host[row] ", " variant ": " point ": " told(s) ", expected: " told(expect_state(sign))
        }
    }
}

function told(result) {
    return result == "none" ? "not run" : result
}

# The time of a program that has a bound is a point of its own.
function count_time(row, variant) {
    if (!bound[row] || !compared) return
    if (seconds[variant] * 100 <= seconds["host"] * bound[row] || seconds[variant] <= seconds["host"] + 1) ok++
    else {
        bad++
        printf "not ok: %s, %s, %s: %.1f s for %.1f s\n", program[row], host[row], variant, seconds[variant], seconds["host"]
    }
}

# What passes on the host must pass with the library.
function count_row(row,    i, j, v, test, point, variant) {
    for (i = 1; i <= ntests[row]; i++) for (j = 1; j <= npoints[row, test_name[row, i]]; j++) {
        test = test_name[row, i]
        point = point_name[row, test, j]
        for (v = 2; v <= 3; v++) {
            variant = variants[v]
            if (state(row, test, point, variant) == "pass") ok++
            else if (state(row, test, point, "host") != "pass" || excuse(row, variant, point) != "") left++
            else {
                bad++
                print "not ok: " program[row] ", " host[row] ", " variant ": " point
            }
        }
    }
}

function print_totals(    row) {
    for (row = 1; row <= rows; row++) {
        if (row in why) {
            left++
            print "SKIP: " program[row] ", " host[row] ": " why[row]
        }
        if (expected_points[program[row]]) count_expected(row)
        else count_row(row)
        add_up(row)
        # Over nodes, messages take the place of memory: only what passes is held.
        count_time(row, "lib")
    }
    print_changing("", "changed: ")
    if (expect_wrong) bad++
    printf "%d passed, %d failed, %d skipped\n", ok, bad, left
    exit bad > 0
}

END {
    if (what == "table") print_table()
    else if (what == "details") print_details()
    else print_totals()
}
