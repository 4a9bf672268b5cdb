/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info_text.h - the report as text for a terminal.
 */
#ifndef MRMA_TOOLS_INFO_TEXT_H
#define MRMA_TOOLS_INFO_TEXT_H

#include "info_report.h"

/* info_text_print prints the report on standard output, no wider than the terminal, or 80 columns
 * where there is none. Without all it leaves out what has its default, works, or matters to few. */
void info_text_print(const struct report *report, bool all);

/* info_text_fabric prints a report of report_fabric: what libfabric offers, what was opened, and
 * what came of it. */
void info_text_fabric(const struct report *report);

#endif
