# SPDX-License-Identifier: BSD-3-Clause
# tables.awk - fill tables of documents into a manual page: each row becomes a tagged
# paragraph with name, value and default, and the effect below.
#
#   awk -f tables.awk user-guide.md tuning-parameters.md PAGE.in
#
# This is awk, as the library is built where there is no Python.
#
# A line @NAME@ takes the rows of the table behind <!-- rows of NAME --> (scripts/tables.sh), which are the library's own; @keys@
# those of info keys, which the user guide alone has.

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

function put(from,    i, cell, defaults) {
    for (i = 1; i <= rows[from]; i++) {
        split(row[from, i], cell, "|")
        print ".TP"
        print ".B " code(substr(trim(cell[2]), 2, length(trim(cell[2])) - 2))
        defaults = trim(cell[4])
        fill("Value: " roff(trim(cell[3])) (defaults == "" ? "" : "; default: " roff(defaults)) ".")
        print ".br"
        fill(roff(trim(cell[5])) ".")
    }
}

FILENAME ~ /\.md$/ {
    if (/^<!-- rows of /)
        table = $4
    else if ($0 == "")
        table = ""
    else if (/^\| `[A-Za-z_]+` \|.*\|.*\|.*\|/) # counters have two cells
        row[table == "" ? "keys" : table, ++rows[table == "" ? "keys" : table]] = $0
    next
}
/^@[a-z]*@$/ && substr($0, 2, length($0) - 2) in rows { put(substr($0, 2, length($0) - 2)); next }
{ print }
