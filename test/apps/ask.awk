# SPDX-License-Identifier: BSD-3-Clause
# ask.awk - what the runs of test/apps/common.sh ask of a file of test/apps/expected, read before standard
# input, with expected.awk before this program. With -v program=, host=, test=, variant=, and -v what=
#   differs  exits with 0 if the points that follow ("STATE POINT") are not all those that are expected
#   hangs    exits with 0 if the test is one that does not end
#   chosen   prints the lines of app_tests that follow whose tests CI runs
!asking {
    expect_line(FILENAME, $0)
    next
}

what == "chosen" {
    for (i = 1; i <= expected_points[program]; i++) {
        point = expected_point[program, i]
        sub(/:.*/, "", point)
        if (point == $1 && expected_when[program, expected_point[program, i]] == "ci") { print; break }
    }
}

what == "differs" { found[$2] = $1 }

END {
    if (expect_wrong) exit 2
    for (i = 1; what ~ /^(differs|hangs)$/ && i <= expected_points[program]; i++) {
        point = expected_point[program, i]
        if (point != test && index(point, test ":") != 1) continue
        hangs += expected_sign[program, host, point, variant] == "!"
        differs += !is_expected(program, host, variant, point, found[point] == "" ? "none" : found[point])
    }
    if (what == "differs") exit !differs
    if (what == "hangs") exit !hangs
}
