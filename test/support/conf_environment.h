/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conf_environment.h - an environment of two variables for the tests of base/conf.
 */
#ifndef MRMA_TEST_CONF_ENVIRONMENT_H
#define MRMA_TEST_CONF_ENVIRONMENT_H

#include "test/support/base_helper.h"

#include "base/conf.h"

/* The environment that the lookup function shows: one variable, and one more. */
static const char *env_name;
static char env_value[400];
static const char *other_name;
static char other_value[400];

static inline char *lookup(const char *name)
{
    if (other_name != NULL && strcmp(name, other_name) == 0)
        return other_value;
    return env_name != NULL && strcmp(name, env_name) == 0 ? env_value : NULL;
}

static inline int load(struct conf *conf, const char *name, const char *value, char *msg,
                       size_t len)
{
    env_name = name;
    snprintf(env_value, sizeof env_value, "%s", value);
    memset(msg, 0, len);
    return conf_load(conf, lookup, msg, len);
}

static inline int load_tune(struct conf *conf, const char *value, char *msg, size_t len)
{
    return load(conf, "MPIRMA_TUNE", value, msg, len);
}

/* What the row of that name expects; "": there is no such row. */
static inline const char *expected_of(const struct conf_var *var, const char *name)
{
    static char expected[256];

    expected[0] = '\0';
    for (; var->name != NULL; var++)
        if (strcmp(var->name, name) == 0)
            conf_expects(var, expected, sizeof expected);
    return expected;
}

#endif
