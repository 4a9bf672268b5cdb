/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * resolve.c - see resolve.h.
 *
 * Addr2line gets some hundred addresses at a time as arguments and prints for each a line with the
 * address, then two lines, function and file:line, for the code there, and two more for each
 * function into which the compiler has put that code. The first two are what the program's text
 * has at that place. That of binutils comes last: its release 2.40 takes code of an included file
 * for the including one's, where gcc has written DWARF 5.
 */
#include "resolve.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/spool.h"
#include "util.h"

enum { AT_ONCE = 256, ARGUMENTS = 6, NOTES_MAX = 1 << 16 };

/* ---- is it the same file? ---- */

static uint64_t build_of_segment(FILE *file, const ElfW(Phdr) * part)
{
    char *notes = zalloc(1, part->p_filesz);
    uint64_t build = 0;

    if (fseek(file, (long)part->p_offset, SEEK_SET) == 0 &&
        fread(notes, 1, part->p_filesz, file) == part->p_filesz)
        build = spool_build_id(notes, part->p_filesz);
    free(notes);
    return build;
}

/* build_of reads the first bytes of the build id (0: there is none). It returns false if the file
 * is no object of this kind of machine. */
static bool build_of(FILE *file, uint64_t *build)
{
    ElfW(Ehdr) head;

    *build = 0;
    if (fread(&head, sizeof head, 1, file) != 1 || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return false;
    for (unsigned i = 0; i < head.e_phnum && *build == 0; i++) {
        ElfW(Phdr) part;

        if (fseek(file, (long)(head.e_phoff + i * sizeof part), SEEK_SET) != 0 ||
            fread(&part, sizeof part, 1, file) != 1)
            return false;
        if (part.p_type == PT_NOTE && part.p_filesz <= NOTES_MAX)
            *build = build_of_segment(file, &part);
    }
    return true;
}

static enum resolving look_at(const char *path, uint64_t build)
{
    FILE *file = fopen(path, "r");
    uint64_t now;

    if (!file)
        return RESOLVE_NO_FILE;
    const bool object = build_of(file, &now);
    fclose(file);
    if (!object)
        return RESOLVE_NO_FILE;
    return build && now != build ? RESOLVE_CHANGED : RESOLVED;
}

/* ---- addr2line ---- */

/* Starts the first of the tools that is there; *output is what it writes. 0: none is there. */
static pid_t start(char **argument, FILE **output)
{
    static const char *const tool[] = {"eu-addr2line", "llvm-addr2line", "addr2line"};
    posix_spawn_file_actions_t actions;
    extern char **environ;
    int ends[2];
    pid_t pid = 0;

    if (pipe(ends) != 0)
        return 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    for (size_t i = 0; i < sizeof tool / sizeof *tool && !pid; i++) {
        argument[0] = text("%s", tool[i]);
        if (posix_spawnp(&pid, tool[i], &actions, NULL, argument, environ) != 0)
            pid = 0;
        free(argument[0]);
    }
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *output = pid ? fdopen(ends[0], "r") : NULL;
    if (pid && !*output)
        out_of_memory();
    if (!pid)
        close(ends[0]);
    return pid;
}

/* cut_number cuts ":NUMBER" off the end of a text and returns the number, or 0 if the text has none
 * there. */
static uint32_t cut_number(char *line)
{
    char *colon = strrchr(line, ':'), *end = line;
    const unsigned long number = colon ? strtoul(colon + 1, &end, 10) : 0;

    if (number == 0 || number >= UINT32_MAX || *end != '\0')
        return 0;
    *colon = '\0';
    return (uint32_t)number;
}

/* "halo.c:88", with " (discriminator 2)" behind it, or by elfutils with a column, ":5". */
static void read_line(struct resolved *out, char *line)
{
    char *space = strstr(line, " (discriminator");

    if (space)
        *space = '\0';
    const uint32_t last = cut_number(line), before = last ? cut_number(line) : 0;
    if (last == 0 || strncmp(line, "??", 2) == 0)
        return;
    out->file = text("%s", line);
    out->line = before ? before : last;
}

/* "exchange", by elfutils with " inlined at ..." behind it. */
static void read_function(struct resolved *out, char *line)
{
    char *more = strstr(line, " inlined at ");

    if (more)
        *more = '\0';
    if (strncmp(line, "??", 2) != 0)
        out->function = text("%s", line);
}

/* What the tool prints for n addresses. */
static void read_output(FILE *output, struct resolved *out, size_t n)
{
    char *line = NULL;
    size_t cap = 0, at = 0, row = 0;

    for (ssize_t length; (length = getline(&line, &cap, output)) > 0; row++) {
        while (length > 0 && isspace((unsigned char)line[length - 1]))
            line[--length] = '\0';
        if (strncmp(line, "0x", 2) == 0 && (row == 0 || row % 2 == 1)) {
            at++;
            row = 0;
        } else if (at > 0 && at <= n && row == 1)
            read_function(&out[at - 1], line);
        else if (at > 0 && at <= n && row == 2)
            read_line(&out[at - 1], line);
    }
    free(line);
}

/* At most AT_ONCE. */
static bool ask(const char *path, const uint64_t *address, size_t n, struct resolved *out)
{
    static char options[ARGUMENTS - 2][4] = {"-a", "-f", "-C", "-i"};
    char *argument[ARGUMENTS + 2 + AT_ONCE] = {NULL};
    char number[AT_ONCE][24];
    size_t k = 1;
    FILE *output;
    int status;

    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        argument[k++] = options[i];
    argument[k++] = (char[]){"-e"};
    argument[k++] = text("%s", path);
    char *const copy = argument[k - 1];
    for (size_t i = 0; i < n; i++) {
        snprintf(number[i], sizeof number[i], "0x%" PRIx64, address[i]);
        argument[k++] = number[i];
    }
    const pid_t pid = start(argument, &output);
    free(copy);
    if (!pid)
        return false;
    read_output(output, out, n);
    fclose(output);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return true;
}

enum resolving resolve_addresses(const char *path, uint64_t build, const uint64_t *address,
                                 size_t n, struct resolved *out)
{
    const enum resolving found = look_at(path, build);

    if (found != RESOLVED)
        return found;
    memset(out, 0, n * sizeof *out);
    for (size_t i = 0; i < n; i += AT_ONCE)
        if (!ask(path, &address[i], n - i < AT_ONCE ? n - i : AT_ONCE, &out[i]))
            return RESOLVE_NO_TOOL; /* the first time already */
    return RESOLVED;
}
