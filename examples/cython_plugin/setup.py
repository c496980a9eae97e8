"""Where the compiler finds structperc: its C headers, and the folder from which Cython reads its .pxd files."""

from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

import structperc

extension = Extension("structperc_cython_ranks", ["structperc_cython_ranks.pyx"], include_dirs=[structperc.get_include()])
setup(ext_modules=cythonize([extension], include_path=[str(Path(structperc.__file__).parents[1])], language_level=3))
