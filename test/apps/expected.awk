# SPDX-License-Identifier: BSD-3-Clause
# expected.awk - functions that read the files of test/apps/expected: what each test of a program gives on each host,
# alone and with the library. A file is named as the program; a line is
#   POINT WHEN MPICH OPENMPI [REASON]
# with `ci` for WHEN if CI runs the test, else `full`; and for each host three signs: the host alone, with the
# library, with the library over pretended nodes:
#   +  passes
#   -  fails
#   !  fails by not ending; it is given half a minute
#   s  is skipped by the program
#   ?  not told, for a host alone only: it changes with how busy the machine is, or was not seen yet
#   .  is not run
# REASON says why, as a part of a sentence, where a sign is none of these: + . ? A point is named as its test, or
# by what follows a colon where a test has several.

function expect_line(file, line,    word, n, variant, sign, v, h, key) {
    if (line ~ /^#/ || line !~ /[^ ]/) return
    program_expected = file
    sub(/.*\//, "", program_expected)
    n = split(line, word, " ")
    if (n < 4 || word[2] !~ /^(ci|full)$/ || word[3] word[4] !~ /^[-+!s?.]+$/ || length(word[3] word[4]) != 6)
        expect_complain(file ": not a line of this form: " line)
    if (word[3] word[4] ~ /[-!s]/ && n < 5) expect_complain(file ": no reason is given for " word[1])
    for (h = 1; h <= 2; h++) for (v = 1; v <= 3; v++) {
        sign = substr(word[2 + h], v, 1)
        if (sign == "?" && v > 1) expect_complain(file ": only of a host alone nothing need be told: " word[1])
        key = program_expected SUBSEP (h == 1 ? "mpich" : "openmpi") SUBSEP word[1]
        variant = v == 1 ? "host" : v == 2 ? "lib" : "nodes"
        expected_sign[key, variant] = sign
    }
    if ((program_expected, word[1]) in expected_when) expect_complain(file ": twice: " word[1])
    expected_when[program_expected, word[1]] = word[2]
    expected_point[program_expected, ++expected_points[program_expected]] = word[1]
    sub(/^[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ */, "", line)
    expected_reason[program_expected, word[1]] = line
}

function expect_complain(text) {
    print text >"/dev/stderr"
    expect_wrong = 1
}

# Is this a result (pass, fail, skip or none) that the file of this program tells?
function is_expected(name, mpi, variant, point, result,    sign) {
    sign = expected_sign[name, mpi, point, variant]
    if (sign == "?") return result == "pass" || result == "fail"
    return result == expect_state(sign)
}

function expect_state(sign) {
    return sign == "+" ? "pass" : sign == "s" ? "skip" : sign == "-" || sign == "!" ? "fail" : "none"
}
