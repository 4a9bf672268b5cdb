/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json.h - texts as strings of JSON. No state, no locks.
 */
#ifndef MRMA_TOOLS_JSON_H
#define MRMA_TOOLS_JSON_H

#include <stdio.h>

/* json_text writes the text in quotes. What is UTF-8 stays as it is; any other byte above 127 is
 * taken for a letter of Latin-1, so that the string is valid whatever the text. It may stand in a
 * page of HTML. Whether it could be written is left to the stream, whose error the caller looks at.
 */
void json_text(FILE *out, const char *text);

#endif
