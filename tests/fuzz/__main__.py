"""`make fuzz ARGS="--seconds 600 --jobs 2"`: hostile input for all targets, a table of what came of it, and a line for each failure."""

import argparse
import os
import sys
import warnings

from structperc.basics.cores import available_cores

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")      # before numpy: children are forked


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, help="how long; 60 without --executions")
    parser.add_argument("--executions", type=int, help="how many of each target")
    parser.add_argument("--target", action="append", metavar="NAME", help="a target, may be repeated; without it all")
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other inputs (0)")
    parser.add_argument("--jobs", type=int, default=available_cores(), help="child processes at a time (one for each processor)")
    parser.add_argument("--limit", type=float, default=5.0, help="seconds of one execution before it counts as a hang (5)")
    parser.add_argument("--replay", metavar="TARGET:SEED:INDEX", help="repeat one execution in this process and show its traceback")
    parser.add_argument("--coverage", action="store_true", help="guided by coverage of the Python code, with atheris; one target")
    arguments = parser.parse_args(argv)
    if arguments.coverage:
        from fuzz import coverage

        coverage.prepare()
    from fuzz import kinds, runner
    from fuzz.targets import targets

    warnings.simplefilter("ignore")
    known = targets()
    if unknown := sorted({*(arguments.target or ())} - {*known}):
        parser.error(f"--target {unknown[0]}: there is no such target. Choose from {', '.join(sorted(known))}.")
    chosen = {name: known[name] for name in arguments.target or known}
    kinds.prepare()
    if arguments.coverage:
        return coverage.run(*next(iter(chosen.items())), arguments.seconds or 60)
    if arguments.replay:
        name, seed, index = arguments.replay.split(":")
        known[name].prepare()
        print("accepted" if runner.execute(name, known[name].run, int(seed), int(index)) else "refused")
        return 0
    run = runner.Runner(chosen, arguments.seed, arguments.jobs, arguments.limit)
    run.run(arguments.seconds or (None if arguments.executions else 60), arguments.executions)
    print(run.table())
    for line in run.summary():
        print(line)
    return 1 if run.lines else 0


if __name__ == "__main__":
    sys.exit(main())
