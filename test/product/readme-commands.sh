#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# readme-commands.sh - print the commands of README.md, its indented lines, in their order and without their comments.
#
#   sh test/product/readme-commands.sh           all of them
#   sh test/product/readme-commands.sh --short   those that need neither root nor minutes: no installation, no build of the library, and
#                                        none of scripts

readme=$(dirname "$0")/../../README.md
sed -n 's/^    \([^ ].*\)$/\1/p' "$readme" | sed 's/  *#.*$//' | if test "${1-}" = --short; then
    grep -v -E '^(sudo|git|make|sh scripts/)|autogen\.sh|configure '
else
    cat
fi
