"""What every benchmark script does around its measurements: options, tables on the screen, a page and a record.

The record, NAME.json, keeps all figures, and where, when and of which code they were measured. Goals are only in the record.
"""

import argparse
import functools
import json
import time
from pathlib import Path

import attrs
import fingerprint
from measuring import circumstances, single_thread, table

from structperc.core.schedules import Schedule

RESULTS = Path(__file__).with_name("results")


@attrs.frozen
class Goal:
    """A figure beside what was asked of it."""

    what: str
    wanted: str
    found: str
    met: bool


def options(parser):
    """The options of the command line, also --quick and --output."""
    parser.add_argument("--quick", action="store_true", help="small data: shows that everything works, its figures mean little")
    parser.add_argument("--output", type=Path,
                        help=f"folder of tables and figures (default: {RESULTS.name}, with --quick {RESULTS.name}/quick)")
    chosen = parser.parse_args()
    chosen.output = chosen.output or (RESULTS / "quick" if chosen.quick else RESULTS)
    return chosen


def run(name, description, measure, report, goals, draw):
    """One script's whole life.

    Parameters
    ----------
    name : str
        Of its files.
    measure : function(quick) -> dict
        The raw figures, for JSON.
    report : function(raw) -> str
        Tables in Markdown.
    goals : function(raw) -> list of Goal
    draw : function(raw, folder)
        Saves figures.
    """
    single_thread()
    chosen = options(argparse.ArgumentParser(description=description))
    carry_out(chosen, name, description, functools.partial(measure, chosen.quick), report, goals, draw)


def carry_out(chosen, name, description, measure, report, goals, draw):
    """Measures, prints and writes, with options that were read before; `measure` is a partial that needs no argument."""
    chosen.output.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    raw = {**circumstances(), "code": fingerprint.of(measure.func), "quick": chosen.quick, **measure()}
    reached = goals(raw)
    raw |= {"seconds": time.perf_counter() - begin, "goals": [attrs.asdict(goal) for goal in reached]}
    text = "\n\n".join([f"# {description}", *heading(raw), report(raw)]) + "\n"
    print(text, *([goal_table(reached)] if reached else []), sep="\n", flush=True)
    chosen.output.joinpath(f"{name}.json").write_text(json.dumps(raw, indent=1, default=settings_as_text) + "\n")
    chosen.output.joinpath(f"{name}.md").write_text(text)
    draw(raw, chosen.output)


def settings_as_text(value):
    """JSON for the schedules among the settings of a record."""
    if isinstance(value, Schedule):
        return str(value)
    raise TypeError(f"a record holds {value!r}, which JSON cannot write")


def heading(raw):
    """Of a page. Records of former days may lack the commit and the load."""
    at = f" at {raw['commit'][:12]}{raw['commit'][40:]}, load {raw['load']:.1f}," if "commit" in raw else ""
    lines = [*raw["machine"], f"measured {raw['measured']}{at} in {raw['seconds']:.0f} s"]
    return ["\n".join(f"- {line}" for line in lines),
            *(["**Quick run: data cut down, figures not comparable with the goals.**"] if raw["quick"] else [])]


def goal_table(reached):
    return table(["goal", "wanted", "measured", ""],
                 [[goal.what, goal.wanted, goal.found, "met" if goal.met else "missed"] for goal in reached])
