# SPDX-License-Identifier: BSD-3-Clause
# median.awk - one CSV file of bench/rma or bench/halo from those of several rounds.
#
#   awk -F, -f scripts/median.awk ROUND1.csv ROUND2.csv...
#
# What says which measurement it is (the columns before the first time, and the text of a goal) stands
# once, in the order of the first round. Each number is the median of the rounds, but a least one is
# the least of all and a greatest one the greatest. What is no number is that of the first round. A goal
# is met if it is so in most rounds.

FNR == 1 {
    for (i = 1; i <= NF; i++) {
        column[i] = $i
        if (!first && $i ~ /^(ns|isend_us)$/)
            first = i
        if ($i == "note")
            note = i
    }
    if (NR == 1)
        print
    last = note ? note - 1 : NF
    next
}

# A note may have commas.
function rest(   text, i) {
    text = $note
    for (i = note + 1; i <= NF; i++)
        text = text FS $i
    return text
}

{
    key = $1
    for (i = 2; i < first; i++)
        key = key FS $i
    what = key
    text = note ? FS rest() : ""
    verdict = ""
    if (note && $4 == "goal") {
        verdict = text
        sub(/.*: /, "", verdict)
        text = substr(text, 1, length(text) - length(verdict))
        key = key text
    }
    if (!(key in count)) {
        keys[++n] = key
        begin[key] = what
        end[key] = text
        goal[key] = verdict != ""
    }
    if (++seen[key, verdict] > seen[key, most[key]])
        most[key] = verdict
    k = ++count[key]
    for (i = first; i <= last; i++)
        value[key, i, k] = $i
}

function is_number(text) {
    return text ~ /^[-+]?[0-9.]+([eE][-+]?[0-9]+)?$/
}

# Of value[key, i, 1..k], sorted here.
function median(key, i, k,   a, b, t) {
    for (a = 2; a <= k; a++)
        for (b = a; b > 1 && value[key, i, b - 1] + 0 > value[key, i, b] + 0; b--) {
            t = value[key, i, b]
            value[key, i, b] = value[key, i, b - 1]
            value[key, i, b - 1] = t
        }
    if (column[i] ~ /_min$/ && !goal[key])
        return value[key, i, 1]
    if (column[i] ~ /_max$/ && !goal[key])
        return value[key, i, k]
    return value[key, i, int((k + 1) / 2)]
}

END {
    for (j = 1; j <= n; j++) {
        line = begin[keys[j]]
        for (i = first; i <= last; i++) {
            numbers = 1
            for (k = 1; k <= count[keys[j]]; k++)
                numbers = numbers && is_number(value[keys[j], i, k])
            line = line FS (numbers ? median(keys[j], i, count[keys[j]]) : value[keys[j], i, 1])
        }
        print line end[keys[j]] most[keys[j]]
    }
}
