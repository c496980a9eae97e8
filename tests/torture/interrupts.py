"""Ctrl-C at random moments: one-row streams, fits, saves, loads, commands."""

import contextlib
import io
import os
import random
import signal
import tempfile
import time
import traceback
from pathlib import Path

from plain import Engine

from torture.report import Report
from torture.sender import sending
from torture.streams import dumped, folder_in_memory, learned, streams

LOST = 5.0          # seconds after which an interrupt is lost


def one_row_calls(n, seed=0) -> Report:
    """Interrupts streams of one-row calls. The engine must have the bits of k whole calls, and its stream must continue."""
    report = Report("Ctrl-C in one-row partial_fit")
    chosen = streams()
    with sending(seed) as sender:
        for stream in chosen:
            interrupted_stream(stream, n // len(chosen), sender, report)
    return report


def interrupted_stream(stream, n, sender, report):
    """Sends n interrupts to one stream."""
    engine, twin, examples = stream.engine(), stream.engine(), stream.examples
    for each in (engine, twin):
        each.partial_fit(*examples[0])
    done = taught = 1           # examples from which the engine, and its twin, have certainly learned
    for _ in range(n):
        try:
            sender.ask(4e-4)
            end = time.monotonic() + LOST
            while time.monotonic() < end:
                X, y = examples[done % len(examples)]
                engine.partial_fit(X, y)
                done += 1
            report.expect(False, f"{stream.name}: a Ctrl-C is lost")
        except KeyboardInterrupt:
            report.count("interrupts")
        except Exception as error:
            report.expect(False, f"{stream.name}: {type(error).__name__}: {error}")
            await_signal()
            continue
        while taught < done:
            twin.partial_fit(*examples[taught % len(examples)])
            taught += 1
        if learned(engine) != learned(twin):
            twin.partial_fit(*examples[taught % len(examples)])
            taught, done = taught + 1, done + 1
            report.count("after their step")
            if learned(engine) != learned(twin):
                report.expect(False, f"{stream.name}: the bits are those of no number of whole calls")
                engine, twin = stream.engine(), stream.engine()
                for each in (engine, twin):
                    each.partial_fit(*examples[0])
                done = taught = 1
    for each in (engine, twin):
        each.partial_fit(*examples[0])
    report.expect(dumped(engine) == dumped(twin), f"{stream.name}: the stream does not end in the bytes of an undisturbed one")


def await_signal():
    """Waits for an interrupt that is already sent."""
    with contextlib.suppress(KeyboardInterrupt):
        time.sleep(1)


def fits(n, seed=0) -> Report:
    """Interrupts fits of many epochs. The weights must be those of `n_visited` visits, and the status "interrupted"."""
    report = Report("Ctrl-C in fit")
    chosen = [stream for stream in streams(60) if stream.name not in ("kernel", "strings")]
    with sending(seed) as sender:
        for stream in chosen:
            X, y = stream.data
            engine, before = stream.engine(epochs=10**6), None
            for _ in range(n // len(chosen)):
                try:
                    sender.ask(3e-3)
                    engine.fit(X, y)
                    await_signal()
                    report.count("converged before")
                    continue
                except KeyboardInterrupt:
                    report.count("interrupts")
                except Exception as error:
                    report.expect(False, f"{stream.name}: {type(error).__name__}: {error}")
                    await_signal()
                    continue
                if engine.model is None or engine.status_ != "interrupted" or engine.model_ is before:
                    report.count("before training began")
                    continue
                before = engine.model_
                report.expect(matches(stream, engine), f"{stream.name}: the weights are not those of so many visits")
    return report


def matches(stream, engine) -> bool:
    """Whether an engine has the bits of an uninterrupted one with the same number of visits."""
    epochs, rest = divmod(engine.parts_.weights.n_visited, len(stream.examples))
    if not epochs and not rest:
        return True
    twin = stream.engine(epochs=max(epochs, 1))
    if epochs:
        twin.fit(*stream.data)
    for i in range(rest):
        twin.partial_fit(*stream.examples[i])
    return learned(engine)[:2] == learned(twin)[:2] and sum(engine.mistakes_) == sum(twin.mistakes_)


def saves(n, seed=0) -> Report:
    """Interrupts `save` over an older model. The file must be the old or the new one, and no other file may stay."""
    report = Report("Ctrl-C in save and load")
    stream = streams()[0]
    models = [stream.engine(epochs=k).fit(*stream.data) for k in (1, 3)]
    contents = [dumped(model) for model in models]
    with folder_in_memory() as folder, sending(seed) as sender:
        path = os.path.join(folder, "model")
        models[0].save(path)
        descriptors = open_descriptors()
        for i in range(n):
            try:
                sender.ask(3e-3)
                end = time.monotonic() + LOST
                while time.monotonic() < end:
                    if i % 10 == 9:
                        Engine.load(path)
                    else:
                        models[i % 2].save(path)
                report.expect(False, "a Ctrl-C is lost")
            except KeyboardInterrupt:
                report.count("interrupts in save" if i % 10 < 9 else "interrupts in load")
            except Exception as error:
                report.expect(False, f"{type(error).__name__}: {error}")
                await_signal()
            report.expect(Path(path).read_bytes() in contents, "the file is neither the old nor the new model")
            report.expect(os.listdir(folder) == ["model"], "a temporary file stays")
            report.expect(open_descriptors() == descriptors, "a descriptor stays open")
            for name in set(os.listdir(folder)) - {"model"}:
                os.unlink(os.path.join(folder, name))
        models[0].save(path)
        report.expect(Path(path).read_bytes() == contents[0], "the model cannot be saved afterwards")
    return report


def open_descriptors():
    """The number of open descriptors, or 0 if the system has no /proc."""
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


IGNORED = "Exception ignored in: <function _get_module_lock"     # from a callback of a weak reference, where no caller can catch it
ROWS = "a,b,level\n" + "".join(f"{i % 7 - 3},{i * i % 11},{i % 3 + 1}\n" for i in range(200))
TOKENS = "".join(f"w{i % 17} p{i % 3} {'DNV'[i % 3]}\n" + "\n" * (i % 5 == 4) for i in range(200))


def commands(n, seed=0) -> Report:
    """Interrupts commands in forked children. They must exit with 130 and one line, or succeed; files must be whole or absent."""
    from structperc.cli import main

    report, chosen = Report("Ctrl-C in commands"), random.Random(seed)
    with folder_in_memory() as folder:
        rows, tokens, model, old, new, out = (os.path.join(folder, name) for name in ("rows.csv", "tokens.txt", "m", "old", "new", "out"))
        Path(rows).write_text(ROWS)
        Path(tokens).write_text(TOKENS)
        fit = ["fit", "cusum", rows, "--target", "level", "--set", "epochs=100"]
        lines = [
            [*fit, "--model", new], [*fit, "--model", old], [*fit, "--model", new, "--progress"],
            ["fit", "sequence", tokens, "--columns", "word,pos,tag", "--model", new, "--set", "epochs=40"],
            ["predict", model, rows, "--output", out], ["predict", model, rows], ["evaluate", model, rows, "--target", "level"],
        ]  # fmt: skip
        for path in (model, old):
            if main([*fit, "--model", path, "--quiet"]):
                raise RuntimeError("the model of the torture cannot be made")
        whole = run_forked(main, ["predict", model, rows, "--output", out], folder, None)
        answers = Path(out).read_bytes()
        kept, seconds = set(os.listdir(folder)), {}
        report.expect(whole[0] == 0, "a command fails without an interrupt")
        for line in lines:
            run_forked(main, line, folder, None)        # warm-up
            seconds[tuple(line)] = run_forked(main, line, folder, None)[2]
        for i in range(n):
            line = lines[i % len(lines)]
            for path in (new, out):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)
            code, said, _ = run_forked(main, line, folder, chosen.random() * seconds[tuple(line)])
            name = f"{line[0]} {'--progress' if '--progress' in line else ''}".strip()
            report.count("interrupts" if code == 130 else "ended before" if code == 0 else "with another end")
            report.expect(code in (0, 130), f"{name}: {code}: {said[-200:]!r}")
            if IGNORED in said:
                report.count("ignored by Python's import system")
                continue
            report.expect("Traceback" not in said, f"{name}: a traceback: {said[-300:]!r}")
            told = any(word in said for word in ("interrupted", "Ctrl-C", "saved"))
            report.expect(code != 130 or told, f"{name}: 130 without a word: {said!r}")
            for path in (new, old):
                if os.path.exists(path):
                    try:
                        Engine.load(path)
                    except Exception as error:
                        report.expect(False, f"{name}: the model cannot be loaded: {error}")
            if os.path.exists(out):
                report.expect(Path(out).read_bytes() == answers, f"{name}: the output is not whole")
            left = set(os.listdir(folder)) - kept - {"new", "out"}
            report.expect(not left, f"{name}: files are left")
            for other in left:
                os.unlink(os.path.join(folder, other))
    return report


def run_forked(main, arguments, folder, delay):
    """Runs a command in a child, with an interrupt after `delay` seconds; returns exit code, standard error and duration."""
    said, ready = tempfile.TemporaryFile(), os.pipe()
    process = os.fork()
    if process == 0:
        os.dup2(said.fileno(), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = 3
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                os.write(ready[1], b"x")
                code = main(arguments)
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            except KeyboardInterrupt as error:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                own = [frame for frame in traceback.extract_tb(error.__traceback__)
                       if "/structperc/cli" in frame.filename and frame.lineno > main.__code__.co_firstlineno]
                code = 4 if own else 0          # before or after the command
                if own:
                    traceback.print_exc()
        finally:
            os._exit(code)
    os.read(ready[0], 1)
    began = time.perf_counter()
    if delay is not None:
        time.sleep(delay)
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGINT)
    _, status = os.waitpid(process, 0)
    seconds = time.perf_counter() - began
    for end in ready:
        os.close(end)
    said.seek(0)
    text = io.TextIOWrapper(said, "utf-8", errors="replace").read()
    return os.waitstatus_to_exitcode(status), text, seconds
