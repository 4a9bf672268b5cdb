# SPDX-License-Identifier: BSD-3-Clause
"""check_spack.py RECIPE CONFIGURE: the form of a recipe of Spack 1, read as Spack reads it but with directives that only note what they
are given, and whether configure knows what the recipe tells it."""

import re
import subprocess
import sys
import types

noted = []


def directive(name):
    return lambda *arguments, **options: noted.append((name, arguments, options))


class AutotoolsPackage:
    def __init__(self, spec):
        self.spec = spec

    def with_or_without(self, name):
        return [f"--with-{name}" if self.spec.satisfies(f"+{name}") else f"--without-{name}"]


class Spec(dict):
    """One with these variants, and an MPI."""

    def __init__(self, *variants):
        super().__init__(mpi=types.SimpleNamespace(mpicc="mpicc"))
        self.variants = variants

    def satisfies(self, variant):
        return variant in self.variants


def read(path):
    package = types.ModuleType("spack.package")
    for name in ("maintainers", "license", "version", "variant", "depends_on", "requires", "conflicts"):
        setattr(package, name, directive(name))
    autotools = types.ModuleType("autotools")
    autotools.AutotoolsPackage = AutotoolsPackage
    sys.modules.update({"spack": types.ModuleType("spack"), "spack.package": package,
                        "spack_repo.builtin.build_systems.autotools": autotools})
    for name in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        sys.modules[name] = types.ModuleType(name)
    names = {}
    with open(path) as file:
        exec(compile(file.read(), path, "exec"), names)
    return names["LibmpiRma"]


def offences(recipe, configure):
    given = {name: [(arguments, options) for which, arguments, options in noted if which == name] for name, _, _ in noted}
    if not (recipe.__doc__ or "").strip() or not recipe.homepage.startswith("https://"):
        yield "no description, or no homepage"
    for (number,), options in given["version"]:
        if not re.fullmatch("[0-9a-f]{64}", options.get("sha256", "")) or number not in recipe.url:
            yield f"version {number}: {options}, {recipe.url}"
    if not given["maintainers"][0][0][0] or given["license"][0][0] != ("BSD-3-Clause",):
        yield "no maintainers, or another licence"
    if {arguments[0] for arguments, _ in given["variant"]} != {"host", "otf2"}:
        yield f"variants: {given['variant']}"
    if not all(options.get("description") for _, options in given["variant"]):
        yield "a variant without a description"
    known = subprocess.run([configure, "--help"], capture_output=True, text=True, check=True).stdout
    for spec in Spec("host=mpi", "+otf2"), Spec("host=abi"):
        for argument in recipe(spec).configure_args():
            name = re.sub("^--with(out)?-", "--with-", argument).split("=")[0]
            if not re.search(rf"^  {re.escape(name)}\b", known, re.M):
                yield f"configure does not know {argument}"


found = list(offences(read(sys.argv[1]), sys.argv[2]))
print("\n".join(found))
sys.exit(bool(found))
