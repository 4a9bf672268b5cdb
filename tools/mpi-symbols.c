/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi-symbols.c - which shared objects stand between a program and its MPI library, and which have
 * a malloc.
 *
 *   mpi-symbols FILE...
 *
 * For each FILE that defines functions of MPI for others a line "tool FILE" or "host FILE" is
 * written. A profiling tool defines MPI_X and calls PMPI_X; who defines PMPI_X as well is an MPI
 * library, or one like it (this project's are). For each FILE that defines malloc for others a line
 * "malloc FILE" is written. mpi-rma-run asks for the order of what it preloads, and whether a
 * program has an allocator of its own. Files that are no programs or shared objects of this
 * machine's kind, or not there, give no line. Not linked with MPI, for it is started once for each
 * process of a job.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    const unsigned char *bytes;
    size_t size;
};

struct found {
    bool mpi, pmpi, malloc;
};

/* n things of size bytes at offset; NULL: not all within the file. */
static const void *part(const struct file *f, uint64_t offset, uint64_t size, uint64_t n)
{
    if (offset > f->size || (n && size > (f->size - offset) / n))
        return NULL;
    return f->bytes + offset;
}

/* MPI_Put, and not MPI_PUT, which is a Fortran name. */
static bool is_c_name(const char *name)
{
    return strncmp(name, "MPI_", 4) == 0 && name[4] >= 'A' && name[4] <= 'Z' && name[5] >= 'a' &&
           name[5] <= 'z';
}

static void look_at_symbol(const ElfW(Sym) * symbol, const char *name, struct found *found)
{
    const unsigned type = ELF64_ST_TYPE(symbol->st_info), bind = ELF64_ST_BIND(symbol->st_info);

    if (symbol->st_shndx == SHN_UNDEF || bind == STB_LOCAL ||
        (type != STT_FUNC && type != STT_GNU_IFUNC))
        return;
    found->mpi |= is_c_name(name);
    found->pmpi |= name[0] == 'P' && is_c_name(name + 1);
    found->malloc |= strcmp(name, "malloc") == 0;
}

static void look_at_table(const struct file *f, const ElfW(Shdr) * table,
                          const ElfW(Shdr) * strings, struct found *found)
{
    const uint64_t n = table->sh_size / sizeof(ElfW(Sym));
    const ElfW(Sym) *symbols = part(f, table->sh_offset, sizeof *symbols, n);
    const char *names = part(f, strings->sh_offset, 1, strings->sh_size);

    if (!symbols || !names || strings->sh_size == 0 || names[strings->sh_size - 1] != '\0')
        return;
    for (uint64_t i = 0; i < n; i++)
        if (symbols[i].st_name < strings->sh_size)
            look_at_symbol(&symbols[i], names + symbols[i].st_name, found);
}

static struct found look_at_file(const struct file *f)
{
    const ElfW(Ehdr) *head = part(f, 0, sizeof *head, 1);
    const ElfW(Shdr) * sections;
    struct found found = {false, false, false};

    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 ||
        (head->e_type != ET_DYN && head->e_type != ET_EXEC) ||
        head->e_shentsize != sizeof *sections)
        return found;
    sections = part(f, head->e_shoff, sizeof *sections, head->e_shnum);
    for (unsigned i = 0; sections && i < head->e_shnum; i++)
        if (sections[i].sh_type == SHT_DYNSYM && sections[i].sh_link < head->e_shnum)
            look_at_table(f, &sections[i], &sections[sections[i].sh_link], &found);
    return found;
}

static struct found look_at(const char *name)
{
    const int fd = open(name, O_RDONLY | O_CLOEXEC);
    struct found found = {false, false, false};
    struct stat st;
    void *bytes;

    if (fd < 0)
        return found;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
        (bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) != MAP_FAILED) {
        found = look_at_file(&(struct file){.bytes = bytes, .size = (size_t)st.st_size});
        munmap(bytes, (size_t)st.st_size);
    }
    close(fd);
    return found;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const struct found found = look_at(argv[i]);

        if (found.mpi || found.pmpi)
            printf("%s %s\n", found.pmpi ? "host" : "tool", argv[i]);
        if (found.malloc)
            printf("malloc %s\n", argv[i]);
    }
    return 0;
}
