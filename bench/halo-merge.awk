# SPDX-License-Identifier: BSD-3-Clause
# halo-merge.awk - merge two CSV files of bench/halo, the host's run and the
# library's, into tables of "host / library" ratios to isend/irecv.
#
# usage: awk -F, [-v markdown=1] -f halo-merge.awk HOST.csv LIBRARY.csv
# markdown: one table in Markdown, without the memory of MPI_Alloc_mem, which is mapped as that of
# MPI_Win_allocate is, and a line each for load and store and for the same between barriers.
# Ghost cells that were wrong make a cell "wrong", those that could not be measured "n/a". A "!"
# marks sizes whose isend/irecv differed by more than half between the two runs.
# Exit code 1 when the second run did not use the library or has no results.

function cell(key) {
    return sprintf("%7s /%7s", key in host ? host[key] : "-", key in lib ? lib[key] : "-")
}

function bytes(n) {
    if (n >= 1048576 && n % 1048576 == 0)
        return n / 1048576 " Mi"
    if (n >= 1024 && n % 1024 == 0)
        return n / 1024 " Ki"
    return n
}

function apart(a, b) {
    return a != "" && b != "" && (a > 1.5 * b || b > 1.5 * a)
}

# The time of isend/irecv in both runs. apart() marks it, and counts.
function send_cell(kind, size, form,   i, here, there, differ) {
    i = kind SUBSEP size
    here = i in host_n ? host_us[i] / host_n[i] : ""
    there = i in lib_n ? lib_us[i] / lib_n[i] : ""
    differ = apart(here, there)
    marked += differ
    return us(here) " /" sprintf(form == "%s" ? " %s" : form, us(there) (differ ? "!" : ""))
}

function us(x) {
    return x == "" ? "-" : sprintf(x < 10 ? "%.2f" : x < 100 ? "%.1f" : "%.0f", x)
}

function print_text(   k, m, s, kind) {
    for (k = 1; k <= nkinds; k++) {
        kind = kind_at[k]
        printf "\n%s: time of a step over isend/irecv's, host / libmpi-rma\n", title[kind]
        printf "%8s %17s", "bytes", "isend/irecv (us)"
        for (m = 1; m <= nmodes[kind]; m++)
            printf " %16s", mode_at[kind, m]
        printf "\n"
        for (s = 1; s <= nsizes[kind]; s++) {
            printf "%8s %17s", bytes(size_at[kind, s]), send_cell(kind, size_at[kind, s], "%7s")
            for (m = 1; m <= nmodes[kind]; m++)
                printf " %s", cell(kind SUBSEP size_at[kind, s] SUBSEP mode_at[kind, m])
            printf "\n"
        }
    }
}

# A cell without the blanks that align it.
function tight(text) {
    gsub(/ +/, " ", text)
    sub(/^ /, "", text)
    return text
}

# A heading for the columns of both kinds of memory, and a row for each size; a mode that is not of
# that memory has an empty cell.
function print_markdown(   k, m, s, kind, line, ncolumns, column, seen) {
    for (k = 1; k <= nkinds; k++) {
        kind = kind_at[k]
        for (m = 1; (kind == "malloc" || kind == "allocate") && m <= nmodes[kind]; m++)
            if (!(mode_at[kind, m] in seen)) {
                seen[mode_at[kind, m]] = 1
                column[++ncolumns] = mode_at[kind, m]
            }
    }
    line = "| memory, bytes | isend/irecv (us) |"
    for (m = 1; m <= ncolumns; m++)
        line = line " " column[m] " |"
    print line
    gsub(/[^|]+/, "--:", line)
    sub(/--:/, "---", line)
    print line
    for (k = 1; k <= nkinds; k++) {
        kind = kind_at[k]
        for (s = 1; (kind == "malloc" || kind == "allocate") && s <= nsizes[kind]; s++) {
            printf "| %s, %s | %s |", kind, bytes(size_at[kind, s]), tight(send_cell(kind, size_at[kind, s], "%s"))
            for (m = 1; m <= ncolumns; m++)
                printf " %s |", (kind, column[m]) in modes ? \
                    tight(cell(kind SUBSEP size_at[kind, s] SUBSEP column[m])) : ""
            printf "\n"
        }
    }
    print_shared("shm", "Load and store in MPI_Win_allocate_shared")
    print_shared("barriers", "The same between two bare barriers")
    if (marked || nnotes)
        print ""
}

# One line of a mode that has its own memory.
function print_shared(mode, title,   s, line) {
    if (!(("shared", mode) in modes))
        return
    for (s = 1; s <= nsizes["shared"]; s++)
        line = line (s == 1 ? " " : "; ") bytes(size_at["shared", s]) " " \
            tight(cell("shared" SUBSEP size_at["shared", s] SUBSEP mode))
    print "\n" title ":" line "."
}

FILENAME != file {
    file = FILENAME
    files++
}

$1 == "host" { next } # the heading

{
    first = files == 1 && FILENAME == ARGV[1]
    kind = $8
    size = $9
    mode = $10
    if (!((kind, "seen") in kinds)) {
        kinds[kind, "seen"] = 1
        kind_at[++nkinds] = kind
    }
    if (!((kind, mode) in modes)) {
        modes[kind, mode] = 1
        mode_at[kind, ++nmodes[kind]] = mode
    }
    if (!((kind, size) in sizes)) {
        sizes[kind, size] = 1
        size_at[kind, ++nsizes[kind]] = size
    }
    key = kind SUBSEP size SUBSEP mode
    ratio = $15 == "" ? "n/a" : sprintf($15 < 100 ? "%.2f" : "%.1f", $15)
    if ($15 == "") {
        why = $18
        gsub(/"/, "", why)
        if (why ~ /^wrong/)
            ratio = "wrong"
        note = sprintf("%s, %s, %s %s%s: %s", ratio, first ? "host" : "library", kind, mode,
                       ratio == "wrong" ? " " bytes(size) : "", why)
        sub(/wrong: rank/, "rank", note)
        if (!(note in noted)) {
            noted[note] = 1
            notes[++nnotes] = note
        }
    }
    if (first) {
        host[key] = ratio
        if ($11 != "") {
            host_us[kind, size] += $11
            host_n[kind, size]++
        }
    } else {
        lib[key] = ratio
        in_use += $2
        lines++
        if ($11 != "") {
            lib_us[kind, size] += $11
            lib_n[kind, size]++
        }
    }
}

END {
    title["malloc"] = "MPI_Win_create on malloc"
    title["alloc_mem"] = "MPI_Win_create on MPI_Alloc_mem"
    title["allocate"] = "MPI_Win_allocate"
    title["shared"] = "MPI_Win_allocate_shared"
    if (markdown)
        print_markdown()
    else
        print_text()
    if (marked)
        print "! isend/irecv took half as long again in one run as in the other: do not compare these two"
    for (i = 1; i <= nnotes; i++)
        print notes[i]
    if (!lines || in_use != lines) {
        print "the library was not in use in its run"
        exit 1
    }
}
