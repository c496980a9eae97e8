"""Every experiment and benchmark in order, those left out whose record is of the present code; `make reproduce-all` calls this.

    python benchmarks/reproduce_all.py [--list] [--only NAME ...] [--anew]

An interrupted run goes on with the first record of other code, and `reproduce_ordinal.py` with its first such fit.
One script writes no record, and is not among these: counterfactuals.py. `ordinal_heads`, `chain_layers`, `layers` and
`sentence_encoder` need torch.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import attrs
import fingerprint
from measuring import table
from missed import read_records

FOLDER = Path(__file__).parent
ORDINAL = ("nine", "benchmark", "boosting", "margins")
REPRODUCED = ("interval", "kernel", "ranking")
OTHERS = ("linking", "clustering", "decisions", "images", "segments", "log_loss", "embeddings", "updates", "ordinal_columns",
          "rare_classes", "interval_labels", "people", "bent_rankings", "structure_conformal", "defaults", "effects", "likelihoods",
          "latent_surrogate", "boosting_theory", "support_classes", "vehicle_pictures", "ordinal_heads", "chain_layers",
          "sentence_encoder")
MEASURED = ("epoch", "peers", "stream", "streams", "fixed", "predictions", "doors", "exact", "tagging", "scaling", "kernels", "trees",
            "boosting", "large_margin", "large_margin_linear", "arborescences", "parsing", "exports", "mixing", "mixing_quality",
            "mixing_files", "rivals", "layers")


@attrs.frozen
class Part:
    """`name`: of the record; `script`: where `measure` is; `command`: the script that is run, with its options."""

    name: str
    script: str
    command: tuple

    @property
    def code(self):
        return fingerprint.of_name(FOLDER / self.script, "measure")


PARTS = [
    *(Part(f"reproduce-{name}", f"reproduce_{name}.py", (f"reproduce_{name}.py",)) for name in REPRODUCED),
    *(Part(f"reproduce-ordinal-{name}", f"ordinal_{name}.py", ("reproduce_ordinal.py", "--only", name)) for name in ORDINAL),
    *(Part(name, f"{name}.py", (f"{name}.py",)) for name in (*OTHERS, *MEASURED)),
    Part("chain_layers_tags", "chain_layers.py", ("chain_layers.py", "--corpus", "tags")),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--list", action="store_true", help="say how long each part took, and run nothing")
    parser.add_argument("--only", nargs="+", choices=[part.name for part in PARTS], help="only these parts", metavar="NAME")
    parser.add_argument("--anew", action="store_true", help="run parts whose record is of the present code, too")
    chosen = parser.parse_args()
    parts = [part for part in PARTS if not chosen.only or part.name in chosen.only]
    records = read_records()
    waiting = parts if chosen.anew else [part for part in parts if records.get(part.name, {}).get("code") != part.code]
    print(plan(parts, waiting, records), flush=True)
    if chosen.list:
        return
    failed = [part.name for part in waiting if subprocess.run([sys.executable, FOLDER / part.command[0], *part.command[1:]]).returncode]
    if waiting:
        for script in ("missed.py", "report.py", "summaries.py"):
            subprocess.run([sys.executable, FOLDER / script], check=True)
    if failed:
        sys.exit(f"reproduce_all.py: no record of {', '.join(failed)}; the reasons are printed above. The others are kept.")


def plan(parts, waiting, records):
    """A table of what is run, with the seconds of its record, and the sum of those that are known."""
    rows, known = [], 0.0
    for part in parts:
        record = records.get(part.name, {})
        seconds, runs = record.get("seconds"), part in waiting
        known += runs * (seconds or 0)
        rows.append([part.name, f"{seconds:,.0f}" if seconds else "not known", record.get("measured", "never"), "run" if runs else "kept"])
    return "\n\n".join([table(["part", "seconds it took", "measured", ""], rows),
                        f"{len(waiting)} of {len(parts)} parts are run: {known / 60:,.0f} minutes for those that are known."])


if __name__ == "__main__":
    main()
