#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Make configure and Makefile.in from a fresh checkout.
set -e
cd "$(dirname "$0")"
for tool in autoreconf automake libtoolize pkg-config; do
    command -v "$tool" >/dev/null || {
        echo "autogen.sh: $tool is missing (Debian: autoconf automake libtool pkg-config)" >&2
        exit 1
    }
done
exec autoreconf -fi -Wall "$@"
