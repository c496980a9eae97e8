"""Compiled parts of structperc. Everything else about the package is in pyproject.toml."""

import hashlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import Cython
from Cython.Build import cythonize
from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

if sys.platform == "win32":
    FLAGS, VECTORS, CALLS, GLUE = ["/O2", "/fp:precise"], [], [], []
else:
    # -ffp-contract=off: the same bits on machines with and without fused multiply-add.
    # Loops over a handful of atoms are slower as vector loops; the inner products say themselves what to vectorise.
    # -g0: Python's own flags ask for -g, which takes a quarter of the time.
    # Modules with no loop over numbers, or a short one that is measured as fast, use CALLS, which takes 60 % of the time. Those that no
    # one-row call enters use GLUE, which takes 40 % and inlines nothing.
    FLAGS, VECTORS = ["-O2", "-g0", "-fno-tree-vectorize", "-ffp-contract=off"], ["-O3", "-ftree-vectorize"]
    CALLS, GLUE = ["-O1", "-finline-small-functions"], ["-Og"]

SHARED = "structperc.core._cyutility"       # what Cython needs for memoryviews, compiled once and not once per module

STUBS = "tests/typing/stubs.py"

available_cores = runpy.run_path("structperc/basics/cores.py")["available_cores"]

TRANSLATED = Path(f"build/cython-{Cython.__version__}")
ABI_HEADER = Path("structperc/include/abi.h")
ABI = """/* Written by setup.py, read by structperc/fitting/builds.py. */
#ifdef _WIN32
#define SP_KEPT __declspec(dllexport) __declspec(selectany)
#else
#define SP_KEPT __attribute__((weak, used, visibility("default")))
#endif
#ifdef __cplusplus
extern "C"
#endif
extern const char structperc_abi[];         /* C++: a constant is local to its file without it */
SP_KEPT const char structperc_abi[] = "structperc-abi-%s";
"""


def found(pattern):
    return sorted(path for folder in ("structperc", "plugins") for path in Path(folder).rglob(pattern))


def write_abi():
    header = ABI % fingerprint()
    for other in set(found("abi.h")) - {ABI_HEADER}:            # of a checkout from before a move: the compiler would read it instead
        other.unlink()
        ABI_HEADER.unlink(missing_ok=True)      # compiles again what has read the other
    if not ABI_HEADER.exists() or ABI_HEADER.read_text() != header:     # a newer file would have everything compiled
        ABI_HEADER.write_text(header)


def fingerprint():
    """A hash of all .pxd files and headers that plugins may compile against. Comments, docstrings and spaces do not count."""
    folders = "structperc/basics", "structperc/core", "structperc/include", "structperc/solvers", "plugins/structperc_kernels"
    comments = {".pxd": r'#[^\n]*|(?s:""".*?""")', ".h": r"(?s:/\*.*?\*/)|//[^\n]*"}
    texts = [re.sub(comments[path.suffix], "", path.read_text(encoding="utf-8"))
             for folder in folders for path in sorted(Path(folder).iterdir()) if path.suffix in comments and path != ABI_HEADER]
    return hashlib.sha256(re.sub(r"\s", "", "".join(texts)).encode()).hexdigest()[:16]


def extensions():
    """Every .pyx is a module; one that needs more than FLAGS names it: `# distutils: extra_compile_args = VECTORS`."""
    headers = found("*.h")
    common = {"include_dirs": sorted({str(path.parent) for path in headers}), "depends": list(map(str, headers))}
    return [
        Extension(SHARED, [SHARED.replace(".", "/") + ".c"], extra_compile_args=CALLS),
        *(Extension(".".join(path.with_suffix("").parts).removeprefix("plugins."), [str(path)], **common) for path in found("*.pyx")),
    ]


class BuildExtensions(build_ext):
    """Has Cython write C where modules are compiled; what only asks for the metadata or archives the sources needs none."""

    # By this name setuptools finds the options again after it has reset the command, as for editable installs: the number of processes, and
    # the folders of build.cfg. The default is the name of the class.
    command_name = "build_ext"

    def run(self):
        check_compiler()
        self.forget_other_flags()
        forget_moved(self.build_lib)
        for module, translated in zip(self.extensions, translate(self.extensions), strict=True):
            module.sources, module.depends = translated.sources, translated.depends
            module.extra_compile_args, module.extra_link_args = translated.extra_compile_args, translated.extra_link_args
        super().run()
        self.write_stubs()

    def write_stubs(self):
        """Writes what type checkers read beside the modules, by importing these in a process of its own."""
        folders = [".", "plugins"] if self.inplace else [self.build_lib]
        path = os.pathsep.join(os.path.abspath(folder) for folder in folders)
        if subprocess.run([sys.executable, STUBS], env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}).returncode:
            self.warn("The modules cannot be imported here, as with sanitizers or for another processor: type checkers will know less.")

    def forget_other_flags(self):
        """Removes what another compiler or other flags have made: one installation never mixes them, also after a kill."""
        stamp = Path(self.build_temp, "flags.txt")
        compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "").removeprefix("ccache ")
        flags = " | ".join([compiler, *(os.environ.get(name, "") for name in ("CFLAGS", "STRUCTPERC_FLAGS"))])
        if stamp.exists() and stamp.read_text() != flags:
            shutil.rmtree(self.build_temp)
            for module in self.extensions:
                Path(self.build_lib, self.get_ext_filename(module.name)).unlink(missing_ok=True)
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(flags)


def forget_moved(build_lib):
    """Removes what sources at other places have left: compilers look for headers beside a module's C first, and Python imports modules."""
    for header in TRANSLATED.rglob("*.h"):
        if not Path(header.relative_to(TRANSLATED)).exists():
            header.unlink()
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    present = (SHARED.replace(".", "/"), *(path.with_suffix("").as_posix().removeprefix("plugins/") for path in found("*.pyx")))
    for module in [*found(f"*{suffix}"), *Path(build_lib).rglob(f"*{suffix}")]:
        if not module.as_posix().removesuffix(suffix).endswith(present):
            module.unlink()


def check_compiler():
    """Ends the build with sentences, before anything is translated, if the compiler or Python's headers are missing."""
    if sys.platform == "win32":
        return
    command = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()
    missing = {}
    for name in command[:2] if command[0].endswith("ccache") else command[:1]:
        if not shutil.which(name):
            missing["build-essential"] = f"There is no C compiler {name!r}. Install one, or name yours: CC=clang."
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        missing["python3-dev"] = f"{sys.executable} lacks Python.h, which compiling needs. Install its headers."
    if missing:
        sys.exit(" ".join(["structperc cannot be compiled.", *missing.values(), f"Debian and Ubuntu: apt install {' '.join(missing)}."]))


def processes():
    """How many processes translate: one where the system has no semaphores for more, as without a writable /dev/shm."""
    try:
        import multiprocessing

        multiprocessing.Lock()
    except (ImportError, OSError):
        return 0
    return available_cores()


def translate(modules):
    """The extensions with C for Cython, in the same order, and the flags that they are compiled with."""
    modules = cythonize(
        modules,
        build_dir=str(TRANSLATED),
        nthreads=processes(),
        aliases={"VECTORS": VECTORS, "CALLS": CALLS, "GLUE": GLUE},
        shared_utility_qualified_name=SHARED,
        include_path=[".", "plugins"],
        language_level=3,
        compiler_directives={
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "embedsignature": True,
            "annotation_typing": False,     # annotations are for stubs; constructors check their arguments with sentences
            "allow_none_for_extension_args": False,     # compiled methods would read fields of None
        },
    )
    more = os.environ.get("STRUCTPERC_FLAGS", "").split()       # of `make sanitize`, for the compiler and the linker
    for module in modules:
        module.extra_compile_args = FLAGS + module.extra_compile_args + more        # the last one counts
        module.extra_link_args += more
    return modules


def index_page(address=None):
    """README for a package index, beside which no files lie: links begin with the repository's address. Without one they are text."""
    text, version = Path("README.md").read_text(encoding="utf-8"), runpy.run_path("structperc/version.py")["__version__"]
    if not address:
        return re.sub(r"(?<!!)\[([^]]*)\]\((?!\w+:)[^)]*\)", r"\1", re.sub(r"!\[[^]]*\]\((?!\w+:)[^)]*\)\n*", "", text))
    tag = "main" if ".dev" in version else f"v{version}"
    return re.sub(r"(!?)(\[[^]]*\]\()(?!\w+:)", lambda link: f"{link[1]}{link[2]}{address}/{'raw' if link[1] else 'blob'}/{tag}/", text)


def repository():
    """The address in pyproject.toml, or None."""
    address = re.search(r'^Repository = "(.+?)/?"', Path("pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    return address and address[1]


def use_ccache():
    """Compile through ccache where it is installed: a second build of the same sources takes seconds."""
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC")
    if compiler and "ccache" not in compiler and shutil.which("ccache") and shutil.which(compiler.split()[0]):
        os.environ["CC"] = f"ccache {compiler}"


if __name__ == "__main__":      # the processes of cythonize may read this file again
    use_ccache()
    write_abi()
    setup(
        long_description=index_page(repository()),
        long_description_content_type="text/markdown",
        packages=find_packages(include=["structperc", "structperc.*"]) + find_packages("plugins"),
        package_dir={"structperc": "structperc", **{path.name: str(path) for path in Path("plugins").glob("structperc_*")}},
        package_data={"": ["py.typed", "*.pxd", "*.h", "include/*.h", "templates/*.txt", "templates/*/*.txt", "*.conllu", "*.html", "*.css",
                           "*.js"]},
        ext_modules=extensions(),
        cmdclass={"build_ext": BuildExtensions},
        options={"build_ext": {"parallel": available_cores()}},
    )
