# SPDX-License-Identifier: BSD-3-Clause
"""check_conda.py RECIPE: what rattler-build, which builds conda-forge's packages, makes of the recipe for Linux."""

import sys

import rattler_build

# As conda-forge has them for Linux.
VARIANTS = {"mpi": ["mpich", "openmpi"], "c_compiler": ["gcc"], "c_stdlib": ["sysroot"]}


def builds(recipe):
    config = rattler_build.RenderConfig(platform=rattler_build.PlatformConfig(target_platform="linux-64"))
    return [variant.recipe.to_dict() for variant in recipe.render(rattler_build.VariantConfig(VARIANTS), config)]


def offences(recipe):
    made = builds(recipe)
    hosts = sorted(name for build in made for name in build["requirements"]["host"] if name in ("mpich", "openmpi"))
    if hosts != ["mpich", "openmpi"]:
        yield f"builds for Linux: {hosts}, expected one for mpich and one for openmpi"
    for build in made:
        source = build["source"][0]
        if len(source.get("sha256") or "") != 64 or build["package"]["version"] not in source["url"]:
            yield f"source: {source}"
        if not build["extra"]["recipe-maintainers"] or not build["about"]["license_file"]:
            yield "no maintainers or no file of the licence"
        if not build.get("tests"):
            yield "no tests"
        if build["requirements"]["build"][:2] != ["gcc_linux-64", "sysroot_linux-64"]:
            yield f"compiler: {build['requirements']['build']}"


found = list(offences(rattler_build.Stage0Recipe.from_file(sys.argv[1])))
print("\n".join(found))
sys.exit(bool(found))
