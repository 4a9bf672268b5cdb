# SPDX-License-Identifier: BSD-3-Clause
# tables.awk - fill the tables of doc/user-guide.md into a manual page: each row becomes a tagged
# paragraph with name, value and default, and the effect below.
#
#   awk -f tables.awk user-guide.md PAGE.in
#
# This is awk, as the library is built where there is no Python.
#
# A line @variables@ takes the rows whose name begins with MPIRMA_, @keys@ those of info keys. So the
# guide is the one place where they are described.

# Markdown to roff: emphasis of code, links by their text. What is a link alone between parentheses, or behind "see", sends the
# reader to a part of the guide, or to another document; any other link is words of the sentence that it stands in.
function roff(s,    out, link, target, before) {
    gsub(/\\/, "\\e", s)
    while (match(s, /\[[^]]*\]\([^)]*\)/)) {
        link = substr(s, RSTART + 1, RLENGTH - 2)
        target = link
        sub(/\].*/, "", link)
        sub(/.*\]\(/, "", target)
        sub(/#.*/, "", target)
        before = substr(s, 1, RSTART - 1)
        s = substr(s, RSTART + RLENGTH)
        if (before ~ /(^|[ (])see $/ || before ~ /\($/ && s ~ /^\)/)
            link = link == "below" ? "see the user guide" : "\"" link "\" in " (target == "" ? "the user guide" : target)
        out = out before link
    }
    s = out s
    out = ""
    while (match(s, /`[^`]*`/)) {
        out = out substr(s, 1, RSTART - 1) "\\fB" code(substr(s, RSTART + 1, RLENGTH - 2)) "\\fP"
        s = substr(s, RSTART + RLENGTH)
    }
    return out s
}

function code(s) {
    gsub(/-/, "\\-", s)
    return s
}

# Lines of at most 78 bytes, none of which begins like a request.
function fill(s,    words, n, i, line) {
    n = split(s, words, " ")
    line = ""
    for (i = 1; i <= n; i++) {
        if (line != "" && length(line) + 1 + length(words[i]) > 78) {
            print line
            line = ""
        }
        line = line (line == "" ? "" : " ") words[i]
        if (line ~ /^[.']/)
            line = "\\&" line
    }
    print line
}

function trim(s) {
    gsub(/^ +| +$/, "", s)
    return s
}

function put(from, rows,    i, cell, defaults) {
    for (i = 1; i <= rows; i++) {
        split(row[from, i], cell, "|")
        print ".TP"
        print ".B " code(substr(trim(cell[2]), 2, length(trim(cell[2])) - 2))
        defaults = trim(cell[4])
        fill("Value: " roff(trim(cell[3])) (defaults == "" ? "" : "; default: " roff(defaults)) ".")
        print ".br"
        fill(roff(trim(cell[5])) ".")
    }
}

FNR == NR {
    if ($0 ~ /^\| `MPIRMA_[A-Z_]+` \|/)
        row["variables", ++variables] = $0
    else if ($0 ~ /^\| `[a-z_]+` \|.*\|.*\|.*\|/) # counters have two cells
        row["keys", ++keys] = $0
    next
}
$0 == "@variables@" { put("variables", variables); next }
$0 == "@keys@" { put("keys", keys); next }
{ print }
