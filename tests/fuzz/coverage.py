"""Coverage as a guide: atheris, where it is installed (`pip install atheris`), chooses the bytes from which mutators draw."""

import random
import sys

from fuzz.promises import REFUSALS


def prepare():
    """Instruments the Python code of the library, before its first import."""
    try:
        import atheris
    except ImportError:
        raise SystemExit("make fuzz: --coverage needs atheris; pip install atheris, or leave --coverage out.") from None
    with atheris.instrument_imports(include=["structperc", "structperc_batch", "structperc_dual_kernel", "structperc_kernels",
                                             "structperc_latent_ranking", "structperc_sequence"]):
        import structperc.files.csv_tables
        import structperc.files.parquet
        import structperc.files.svmlight  # noqa: F401



class Drawn(random.Random):
    """Choices drawn from bytes, and after their end from a generator that they seed."""

    def __new__(cls, content):
        return super().__new__(cls)

    def __init__(self, content):
        super().__init__(content)
        self.content, self.at = content, 0

    def getrandbits(self, k):
        n = (k + 7) // 8
        if self.at + n > len(self.content):
            return super().getrandbits(k)
        self.at += n
        return int.from_bytes(self.content[self.at - n:self.at], "little") & ((1 << k) - 1)

    def random(self):
        return self.getrandbits(24) / (1 << 24)


def run(name, target, seconds):
    """One target, in this process; a line for each kind of failure when it is first seen."""
    import atheris

    from fuzz.runner import signature

    seen = set()

    def once(content):
        try:
            target.run(Drawn(content))
        except REFUSALS:
            pass
        except Exception as error:
            if signature(error) not in seen:
                seen.add(signature(error))
                print(f"{name}: {type(error).__name__}: {error!s:.200} of the bytes {content.hex()}", flush=True)

    target.prepare()
    atheris.Setup([sys.argv[0], f"-max_total_time={seconds:.0f}", "-timeout=5", "-rss_limit_mb=6000", "-max_len=64", "-verbosity=1"], once)
    atheris.Fuzz()
    return 0
