/*
 * mpi-rma-trace.c - what traced processes have left, as an OTF2 archive.
 *
 * Exit code: 0, 1 if there is nothing to read or it cannot be written, 2 for wrong arguments.
 */
#include <stdio.h>
#include <string.h>

#include "archive.h"

static const char usage_text[] =
    "usage: mpi-rma-trace --archive DIR\n"
    "Make an OTF2 archive, DIR/traces.otf2, of the files that the processes of a traced job have\n"
    "left in DIR/spool. An archive that is there is replaced.\n"
    "\n"
    "  --archive   make the archive. A job that was killed has left such files too: calls that\n"
    "              were open are closed at the time of their process's last record, files that "
    "are\n"
    "              damaged are read as far as that goes; what was left out is said\n"
    "  --recover   the same\n"
    "  --version   print the version only\n"
    "  --help      this text\n"
    "\n"
    "Exit code: 0, 1 if there is nothing to read or it cannot be written, 2 wrong arguments.\n";

static int usage(const char *argument)
{
    if (argument)
        fprintf(stderr, "mpi-rma-trace: %s is not understood\n", argument);
    fputs(usage_text, stderr);
    return 2;
}

int main(int argc, char **argv)
{
    const char *dir = NULL;
    bool archive = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(usage_text, stdout);
            return 0;
        }
        if (strcmp(argv[i], "--version") == 0) {
            printf("mpi-rma-trace %s\n", PACKAGE_VERSION);
            return 0;
        }
        if (strcmp(argv[i], "--archive") == 0 || strcmp(argv[i], "--recover") == 0)
            archive = true;
        else if (argv[i][0] == '-' || dir)
            return usage(argv[i]);
        else
            dir = argv[i];
    }
    if (!dir || !archive)
        return usage(NULL);
    return archive_write(dir) ? 0 : 1;
}
