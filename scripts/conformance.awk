# SPDX-License-Identifier: BSD-3-Clause
# conformance.awk - what scripts/conformance.sh runs; it sets `what` between the files.
#
# makefile  test/mpi/sources.am: sources of programs that have several, and those that all link
# list      test/mpi/testlist; short: test/mpi/testlist-short
# exports   sources of the entry points
# tests     sources of tests
# expected  test/apps/expected/mpich-rma
# rules     test/mpi/conformance, whose head describes its form

BEGIN {
    npaths = split("auto mapped cma packets net nodes1 nodes2 netns2 netns3", path_order, " ")
    nlanguages = split("C|mpif.h|mpi|mpi_f08|mpi4py", language_order, "|")
    HELPER = "mtest"
}

function complain(text) {
    print "conformance: " text >"/dev/stderr"
    wrong++
}

function base_of(file) {
    sub(/.*\//, "", file)
    return file
}

# ---- sources of programs ----

what == "makefile" {
    line = held $0
    held = ""
    if (sub(/\\$/, "", line)) { held = line; next }
    if (line !~ /_SOURCES *=/) next
    program = line
    sub(/_SOURCES.*/, "", program)
    sub(/^test_mpi_/, "", program)
    if (program ~ /_la$/) program = HELPER
    sub(/.*= */, "", line)
    n = split(line, word, " ")
    for (i = 1; i <= n; i++) program_of[base_of(word[i])] = program
    next
}

# ---- lists ----

(what == "list" || what == "short") && /^[a-z]/ {
    in_list[what, $1]
    if (what == "list") {
        n = split($3, word, ",")
        for (i = 1; i <= n; i++) runs_on[$1, word[i]]
    }
    next
}

# ---- exported functions ----

what == "exports" && /^[ ]*(MRMA_)?EXPORT_(MPI|MPIRMA)\(/ {
    name = $0
    sub(/^[^(]*\(/, "", name)
    sub(/\).*/, "", name)
    name = ($0 ~ /EXPORT_MPIRMA/ ? "MPIRMA_" : "MPI_") name
    if (name != "MPIRMA_name") add_function(name)
    next
}

function add_function(name) {
    if (name in is_function) return
    is_function[name]
    canonical[tolower(name)] = name
    functions[++nfunctions] = name
}

# ---- sources of tests ----

what == "tests" {
    if (FILENAME != file) {
        file = FILENAME
        name = base_of(file)
        directory = file
        sub(/\/[^\/]*$/, "", directory)
        kind = name
        sub(/.*\./, "", kind)
        program = name
        if (kind != "sh" && kind != "py" && kind != "tap") sub(/\.[^.]*$/, "", program)
        if (directory == "test/mpi" && (name in program_of)) program = program_of[name]
        if (directory != "test/mpi") program = substr(file, 6)
        if (directory == "test/unit") sub(/\.c$/, "", program)
        if (directory == "test/sim") program = "sim/" name
        language = kind == "c" || kind == "h" ? "C" : kind == "py" ? "mpi4py" : ""
        if (kind == "sh" && directory == "test/mpi") is_script[name]
    }
    sources[program]
    note_words(program, $0)
    if (directory != "test/mpi") next
    if (kind == "f90") {
        if ($0 ~ /^ *use mpi_f08/) language = "mpi_f08"
        else if ($0 ~ /^ *use mpi *$/) language = "mpi"
        else if ($0 ~ /^ *include 'mpif.h'/) language = "mpif.h"
    }
    if (kind == "py") note_python($0)
    else if (kind == "sh") started_by[program] = started_by[program] " " $0
    else if (!comment($0)) note_calls($0)
    next
}

# Of C in the style of the house: a line of a comment begins with it.
function comment(line) {
    return line ~ /^ *(\/\*|\*|!)/
}

# Every word of a source, to be asked for by test/mpi/conformance.
function note_words(program, line,    word) {
    while (match(line, /[A-Za-z_][A-Za-z0-9_]*/)) {
        has_word[program, substr(line, RSTART, RLENGTH)]
        line = substr(line, RSTART + RLENGTH)
    }
}

function note_call(name) {
    if (language != "") {
        calls[name, program, language]
        if (!((name, program) in called)) {
            called[name, program]
            callers[name] = callers[name] " " program
        }
    }
}

function note_calls(line,    before, name) {
    while (match(line, /[A-Za-z0-9_]+ *\(/)) {
        name = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        sub(/ *\($/, "", name)
        if (tolower(name) ~ /^mpi(rma)?_/) note_call(tolower(name))
    }
}

# mpi4py's methods of windows, of requests and of the module.
function note_python(line,    word, object, method) {
    while (match(line, /[A-Za-z_]+\.[A-Z][a-z_]*\(/)) {
        word = tolower(substr(line, RSTART, RLENGTH - 1))
        line = substr(line, RSTART + RLENGTH)
        object = method = word
        sub(/\..*/, "", object)
        sub(/.*\./, "", method)
        if (object == "win") {
            note_call("mpi_win_" method)
            note_call("mpi_" method)
        } else if (object == "request" || object == "mpi") {
            note_call("mpi_" method)
        }
    }
}

# Signs of the host alone, with the library and over pretended nodes, for each of the two hosts.
what == "expected" && !/^#/ && NF > 4 {
    point = $1
    failing_on = ($3 ~ /^\+.*[-!s]/ ? " on MPICH" : "") ($4 ~ /^\+.*[-!s]/ ? " on Open MPI" : "")
    sub(/ on MPICH on Open MPI/, " on both hosts", failing_on)
    sub(/^[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +/, "")
    if (failing_on != "") known[++nknown] = "`" point "`" failing_on ": " $0 "."
    next
}

# ---- rules ----

function host_name(host) {
    return host == "mpich" ? "MPICH" : "Open MPI"
}

what == "rules" && (/^#/ || /^ *$/) { next }

# == Heading
what == "rules" && /^== / {
    heading = substr($0, 4)
    next
}

# function NAME|PATTERN... host|none|mpich|openmpi: reason
what == "rules" && /^function / {
    reason = $0
    sub(/^[^:]*: */, "", reason)
    verdict = ""
    for (i = 2; i <= NF && verdict == ""; i++)
        if ($i ~ /^(host|none|mpich|openmpi):$/) verdict = substr($i, 1, length($i) - 1)
    if (verdict == "") complain(FILENAME ":" FNR ": expected host:, none:, mpich: or openmpi:")
    for (k = 2; k < i - 1; k++) {
        if (verdict == "host") {
            add_function($k)
            of_host[$k] = reason
        } else if (verdict == "none") {
            untested[$k] = reason
        } else {
            limited[++nlimited] = $k
            limited_host[nlimited] = verdict
            limited_reason[nlimited] = reason
        }
    }
    next
}

# - SECTION rule
what == "rules" && /^- / {
    nrules++
    rule_heading[nrules] = heading
    rule_section[nrules] = $2
    rule_line[nrules] = FNR
    sub(/^- [^ ]+ +/, "")
    rule[nrules] = $0
    next
}

# What belongs to the last rule: none: reason, mpich: reason, or tests.
what == "rules" && /^ +(none|mpich|openmpi): / {
    reason = $0
    sub(/^[^:]*: */, "", reason)
    if ($1 == "none:") rule_none[nrules] = reason
    else {
        rule_host[nrules] = substr($1, 1, length($1) - 1)
        rule_host_reason[nrules] = reason
    }
    next
}

what == "rules" && /^ / {
    for (i = 1; i <= NF; i++) rule_tests[nrules] = rule_tests[nrules] " " $i
    next
}

what == "rules" { complain(FILENAME ":" FNR ": not understood: " $0) }

# ---- output ----

# Lines of the list that run a program: its own, or those of scripts that start it.
function find_runs(    p, s, text) {
    for (p in sources) {
        if (p !~ /\// && (("list", p) in in_list)) entries[p] = entries[p] " " p
    }
    for (s in is_script) {
        text = started_by[s]
        if (index(text, "start_victims")) text = text " $bin/kill_victim"
        while (match(text, /\$bin\/[a-z_0-9]+/)) {
            p = substr(text, RSTART + 5, RLENGTH - 5)
            text = substr(text, RSTART + RLENGTH)
            if (!(p in sources)) complain(s " starts " p ", which has no source")
            else if (!((s, p) in seen) && (("list", s) in in_list)) entries[p] = entries[p] " " s
            seen[s, p]
        }
    }
}

# Adds to on[] the paths on which a program runs, or those of them that are named; false if it never does.
function add_paths(program, only,    n, i, k, word, any) {
    if (program == HELPER) {
        on["auto"]
        return 1
    }
    n = split(entries[program], word, " ")
    for (i = 1; i <= n; i++)
        for (k = 1; k <= npaths; k++)
            if ((word[i], path_order[k]) in runs_on &&
                (only == "" || index("," only ",", "," path_order[k] ","))) {
                on[path_order[k]]
                any = 1
                if (("short", word[i]) in in_list) in_ci = 1
            }
    return any
}

function clear(array,    i) {
    for (i in array) delete array[i]
}

function paths_text(    k, text) {
    for (k = 1; k <= npaths; k++)
        if (path_order[k] in on) text = text (text == "" ? "" : ", ") path_order[k]
    return text
}

function languages_text(    k, text) {
    for (k = 1; k <= nlanguages; k++)
        if (language_order[k] in speaks) text = text (text == "" ? "" : ", ") language_order[k]
    return text
}

function hosts_text(host) {
    return host == "" ? "both" : host_name(host)
}

# The host to which a function is limited, or "".
function limit_of(name,    i, pattern) {
    for (i = 1; i <= nlimited; i++) {
        pattern = limited[i]
        gsub(/\*/, ".*", pattern)
        if (name ~ ("^" pattern "$")) {
            limit_used[i]
            return i
        }
    }
    return 0
}

function function_row(name,    n, i, k, word, shown, count, which, host) {
    clear(on)
    clear(speaks)
    in_ci = 0
    n = split(callers[tolower(name)], word, " ")
    count = 0
    for (i = 1; i <= n; i++) {
        if (!add_paths(word[i])) continue
        for (k = 1; k <= nlanguages; k++)
            if ((tolower(name), word[i], language_order[k]) in calls) speaks[language_order[k]]
        if (word[i] == HELPER) continue
        if (++count <= 4) shown = shown (count == 1 ? "" : ", ") word[i]
    }
    if (count > 4) shown = shown " and " count - 4 " more"
    if ((tolower(name), HELPER) in called) {
        shown = count ? shown "; all by mtest.c" : "all by mtest.c"
        count++
    }
    which = limit_of(name)
    host = which ? limited_host[which] : ""
    if (name in untested) {
        if (count) complain(name " has a reason for no test, but " word[1] " calls it")
        shown = "none: " untested[name]
    } else if (!count) {
        complain(name " is called by no program of test/mpi/testlist, and test/mpi/conformance gives no reason")
        return
    }
    print "| `" name "`" (name in of_host ? " (host)" : "") " | " hosts_text(host) " | " languages_text() \
        " | " paths_text() " | " (in_ci ? "yes" : "") " | " shown " |"
}

# A test of a rule: PROGRAM, or PROGRAM:WORD of its source.
function check_test(r, test,    part, program, key, only) {
    if (index(test, "@")) {
        only = test
        sub(/.*@/, "", only)
        sub(/@.*/, "", test)
    }
    split(test, part, ":")
    program = part[1]
    if (program == "" || !(program in sources)) {
        complain("rule in line " rule_line[r] ": there is no test " program)
        return ""
    }
    if (part[2] != "" && !((program, part[2]) in has_word))
        complain("rule in line " rule_line[r] ": " program " has no " part[2])
    if (program !~ /\// && !add_paths(program, only))
        complain("rule in line " rule_line[r] ": " program " has no such line in test/mpi/testlist")
    for (key = 1; key <= nlanguages; key++)
        if ((program, language_order[key]) in source_language) speaks[language_order[key]]
    if (program ~ /^(unit|sim|apps)\//) elsewhere[substr(program, 1, index(program, "/") - 1)]
    return "`" (part[2] == "" ? program : program ":" part[2]) "`"
}

function rule_row(r,    n, i, word, text, place) {
    clear(on)
    clear(speaks)
    clear(elsewhere)
    in_ci = 0
    n = split(rule_tests[r], word, " ")
    for (i = 1; i <= n; i++) text = text (i == 1 ? "" : ", ") check_test(r, word[i])
    if (!n && rule_none[r] == "") complain("rule in line " rule_line[r] " has neither a test nor a reason: " rule[r])
    if (rule_none[r] != "") text = text (n ? "; not held: " : "not held: ") rule_none[r]
    place = paths_text()
    for (i in elsewhere) if (i == "unit") place = place (place == "" ? "" : ", ") "unit"
    for (i in elsewhere) if (i == "sim") place = place (place == "" ? "" : ", ") "sim"
    for (i in elsewhere) if (i == "apps") place = place (place == "" ? "" : ", ") "apps"
    print "| " rule[r] " | " rule_section[r] " | " hosts_text(rule_host[r]) " | " languages_text() " | " place " | " \
        (in_ci ? "yes" : "") " | " text (rule_host[r] == "" ? "" : "; " rule_host_reason[r]) " |"
}

# The languages of a program are those in which it calls anything of MPI.
function find_languages(    key, part) {
    for (key in calls) {
        split(key, part, SUBSEP)
        source_language[part[2], part[3]]
    }
}

function head() {
    print "# What holds the chapter on one-sided communication"
    print ""
    print "<!-- Written by scripts/conformance.sh --update from test/mpi/conformance and the tests; not to be edited. -->"
    print ""
    print "For each function of MPI 4.1's chapter on one-sided communication, and for each rule of it that the library"
    print "keeps: the tests that hold it, on which hosts, in which languages and on which paths they run. A rule that no"
    print "test holds has the reason in its row."
    print ""
    print "- Host: Debian 12's and Debian 13's MPICH and Open MPI; all of these tests run on both releases"
    print "  (`scripts/check.sh` and `scripts/check.sh --release trixie`). \"13 in CI\" marks the rows of which a test is"
    print "  in `test/mpi/testlist-short`, which the automatic check runs on Debian 13."
    print "- Languages: C, Fortran by `mpif.h`, `use mpi` and `use mpi_f08`, Python by mpi4py."
    print "- Paths: those of [testing.md](testing.md#the-list-of-mpi-tests) on which a test of the row runs; \"unit\" is `test/unit`, \"sim\" `test/sim`"
    print "  (simulated processes), \"apps\" `test/apps` (real programs)."
    print "- Tests: a program of `test/mpi` and the function or word in it where the rule is looked at."
}

function notes(    i, reason) {
    print ""
    for (i = 1; i <= nlimited; i++) {
        if (!(i in limit_used)) complain("no function matches " limited[i])
        if (limited_reason[i] != limited_reason[i - 1])
            print "Only " host_name(limited_host[i]) ": " limited_reason[i] "."
    }
    for (i = 1; i <= nfunctions; i++) {
        reason = functions[i] in of_host ? of_host[functions[i]] : ""
        if (reason != "" && !(reason in said)) print "(host): " reason "."
        said[reason]
    }
}

END {
    find_runs()
    find_languages()
    head()
    for (i = 2; i <= nfunctions; i++) { # by name
        name = functions[i]
        for (k = i - 1; k >= 1 && functions[k] > name; k--) functions[k + 1] = functions[k]
        functions[k + 1] = name
    }
    print "\n## Functions\n"
    print "| Function | Host | Languages | Paths | 13 in CI | Programs that call it |"
    print "|---|---|---|---|---|---|"
    for (i = 1; i <= nfunctions; i++) function_row(functions[i])
    notes()
    for (i = 1; i <= nrules; i++) {
        if (rule_heading[i] != rule_heading[i - 1]) {
            print "\n## " rule_heading[i] "\n"
            print "| Rule | MPI 4.1 | Host | Languages | Paths | 13 in CI | Tests |"
            print "|---|---|---|---|---|---|---|"
        }
        rule_row(i)
    }
    print "\n## MPICH's own tests of one-sided communication\n"
    print "`scripts/check-apps.sh mpich-rma` runs them on both hosts (see [testing.md](testing.md#real-programs)). Of those"
    print "that pass on the host, these look at a choice of MPICH's where the standard leaves one, and are not held"
    print "against the library:\n"
    for (i = 1; i <= nknown; i++) print "- " known[i]
    if (nfunctions < 60) complain("only " nfunctions " functions were found")
    if (wrong) exit 1
}
