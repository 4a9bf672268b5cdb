/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conf_type.h - the types that a setting of the library may have: how a value is read from text, is
 * shown, and is described.
 *
 * Numbers are read and written here, and not by strtod and printf, whose decimal point follows the
 * application's locale. The functions have no state and may be called by any thread at any time.
 */
#ifndef MRMA_BASE_CONF_TYPE_H
#define MRMA_BASE_CONF_TYPE_H

#include <stdbool.h>
#include <stddef.h>

enum conf_kind {
    CONF_BOOL,       /* bool: 0 or 1 */
    CONF_WORD,       /* an enum: one of words */
    CONF_COUNT,      /* int: decimal digits */
    CONF_THRESHOLD,  /* int: auto, which is CONF_AUTO, or decimal digits */
    CONF_SECONDS,    /* double: digits with at most one point, below 1e9 */
    CONF_NAME,       /* char[]: any text that fits */
    CONF_DIRECTORY,  /* char[]: a name that begins at the root */
    CONF_PROCESSORS, /* char[]: numbers of at most four digits, and ranges, with commas between */
    CONF_STATS,      /* char[]: "" for no, "1" for yes, or a name with a dot or a slash */
    CONF_TUNE,       /* name=value, with commas between; conf.c reads and shows it itself */
    CONF_KINDS
};

/* The value of a threshold that is auto. */
enum { CONF_AUTO = -1 };

struct conf_type {
    enum conf_kind kind;
    const char *const *words; /* CONF_WORD: the words in the order of their enum, with NULL at the
                                 end */
    const char *what;         /* numbers and names: what they are, as in "bytes"; CONF_SECONDS: an
                                 example */
    int least, most;          /* CONF_COUNT: bounds; most is 0 if any number will do */
};

/* conf_type_parse reads text into a field of size bytes. Returns whether the text was understood;
 * if not, the field is not written. Not for CONF_TUNE. */
bool conf_type_parse(const struct conf_type *type, void *field, size_t size, const char *text);

/* conf_type_show returns the value of a field as text that conf_type_parse reads: a constant, or
 * what it has written to buf (len bytes). Not for CONF_TUNE. */
const char *conf_type_show(const struct conf_type *type, const void *field, char *buf, size_t len);

/* conf_type_expects writes to buf (len bytes) which values a field of size bytes may have, as in
 * "auto, agent or poll". */
void conf_type_expects(const struct conf_type *type, size_t size, char *buf, size_t len);

#endif
