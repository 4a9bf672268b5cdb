/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * doc-tables.c - prints the rows of a table of the documents, in Markdown.
 *
 *     doc-tables variables|tuning|counters
 *
 * The rows come from the tables that the library itself uses: settings from
 * src/base/conf_table.h, counters from src/engine/engine_stats.c. scripts/tables.sh writes them
 * into the documents; check-docs.sh compares. The program is not installed.
 */
#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "engine/engine.h"

static void print_settings(const struct conf_var *var)
{
    for (; var->name != NULL; var++) {
        char expected[256], buf[512];
        const char *usual = conf_value(&conf_default, var->name, buf, sizeof buf);
        const char *quote = usual[0] == '\0' ? "" : "`";

        conf_expects(var, expected, sizeof expected);
        printf("| `%s` | %s | %s%s%s | %s |\n", var->name, expected, quote,
               usual[0] == '\0' ? "unset" : usual, quote, var->text);
    }
}

static void print_counters(void)
{
    for (int i = 0; i < ENGINE_COUNTERS; i++)
        printf("| `%s` | %s |\n", engine_counters[i].name, engine_counters[i].meaning);
}

int main(int argc, char **argv)
{
    const char *table = argc == 2 ? argv[1] : "";

    if (strcmp(table, "variables") == 0)
        print_settings(conf_vars);
    else if (strcmp(table, "tuning") == 0)
        print_settings(conf_tuning);
    else if (strcmp(table, "counters") == 0)
        print_counters();
    else {
        fprintf(stderr, "usage: doc-tables variables|tuning|counters\n");
        return 2;
    }
    return 0;
}
