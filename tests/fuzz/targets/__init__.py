"""What is fuzzed: each target is a function of a random.Random that makes one input and calls the library with it."""

from collections.abc import Callable

import attrs


@attrs.frozen
class Target:
    """A target and how it is run.

    Attributes
    ----------
    run : function of a random.Random
        One execution; returns whether the input was accepted, and raises whatever is a failure.
    share : float
        Of the time, beside the other targets.
    chunk : int
        Executions of one child process.
    prepare : function, optional
        Called once, before children are forked.
    """

    run: Callable
    share: float = 1.0
    chunk: int = 1000
    prepare: Callable = lambda: None


def targets() -> dict:
    """All targets, by name."""
    from fuzz.targets import (
        arguments,
        changes,
        commands,
        databases,
        earlier,
        exact,
        files,
        foreign_models,
        forms,
        functions,
        histories,
        invariances,
        model_files,
        options,
        parts,
        sets,
        streams,
        tokens,
        written,
    )

    return {
        "bytes": Target(model_files.damaged),
        "members": Target(model_files.mixed),
        "arrays": Target(model_files.crafted_arrays),
        "header": Target(model_files.crafted_header),
        "crfsuite": Target(foreign_models.damaged_crfsuite),
        "X": Target(arguments.hostile_rows, share=2),
        "y": Target(arguments.hostile_answers),
        "segments": Target(arguments.hostile_segments, share=2),
        "tokens": Target(tokens.hostile_sentences, share=2),
        "forms": Target(forms.equal_forms),
        "options": Target(options.hostile_options),
        "parts": Target(parts.hostile_calls, share=2, chunk=100),
        "histories": Target(histories.twins, chunk=100),
        "solvers": Target(functions.hostile_solvers, share=2),
        "metrics": Target(functions.hostile_metrics),
        "same": Target(functions.equal_forms),
        "changes": Target(changes.hostile_changes, share=0.5, chunk=200),
        "earlier": Target(earlier.repeated, share=0.1, chunk=50),
        "files": Target(files.hostile_files, share=2, prepare=files.prepare),
        "columns": Target(files.hostile_columns, prepare=files.prepare),
        "streams": Target(streams.parts),
        "databases": Target(databases.hostile_databases, share=0.5),
        "sets": Target(sets.conformal_sets, share=0.5, chunk=100),
        "effects": Target(sets.drawn_effects, share=0.3, chunk=100),
        "programs": Target(exact.drawn_programs),
        "trees": Target(exact.hidden_trees, share=0.3, chunk=100),
        "kernels": Target(exact.scaled_kernels, share=0.5, chunk=200),
        "exports": Target(written.exports, share=0.2, chunk=50),
        "notes": Target(written.notes, chunk=200),
        "ids": Target(written.conllu_ids, share=0.5, chunk=200),
        "downloads": Target(written.downloads, share=0.2),
        "invariances": Target(invariances.compared, share=0.3, chunk=20),
        "commands": Target(commands.hostile_commands, share=2, chunk=200, prepare=commands.models),
    }
