"""Compiled parts of structperc. Everything else about the package stands in pyproject.toml."""

import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, find_packages, setup

if sys.platform == "win32":
    FLAGS, VECTORS = ["/O2", "/fp:precise"], []
else:
    # -ffp-contract=off: the same bits on machines with and without fused multiply-add.
    # Loops over a handful of atoms are slower as vector loops; the inner products say themselves what to vectorise.
    FLAGS, VECTORS = ["-O2", "-fno-tree-vectorize", "-ffp-contract=off"], ["-O3", "-ftree-vectorize"]

ROOT = Path(__file__).parent
COMPILED = [path.relative_to(ROOT) for folder in ("structperc", "plugins") for path in sorted((ROOT / folder).rglob("*.pyx"))]


def extension(path):
    name = ".".join(path.with_suffix("").parts).removeprefix("plugins.")
    headers = [str(p.relative_to(ROOT)) for p in ROOT.glob("*/**/*.h")]
    return Extension(
        name,
        [str(path)],
        include_dirs=sorted({"structperc/core", str(path.parent), "plugins/structperc_kernels"}),
        depends=headers,
        extra_compile_args=FLAGS + (VECTORS if path.name == "inner_products.pyx" else []),
    )


setup(
    packages=find_packages(include=["structperc", "structperc.*"]) + find_packages("plugins"),
    package_dir={"structperc": "structperc", **{p.parent.name: f"plugins/{p.parent.name}" for p in ROOT.glob("plugins/*/__init__.py")}},
    package_data={"": ["py.typed", "*.pxd", "*.h"]},
    ext_modules=cythonize(
        [extension(path) for path in COMPILED],
        include_path=[".", "plugins"],
        language_level=3,
        compiler_directives={
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "embedsignature": True,
        },
    ),
)
