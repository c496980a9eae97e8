"""Files are replaced whole or not at all: through links, FIFOs, full disks, Ctrl-C at every line and kill -9."""

import os
import random as random_module
import signal
import stat
import subprocess
import sys
import textwrap
import threading

import pytest
from plain import Engine

from structperc.basics import writing
from structperc.basics.writing import replace_file
from structperc.errors import OptionError

OLD, NEW = b"old" * 1000, b"new" * 1000


def write(file):
    file.write(NEW)


def broken(file):
    file.write(NEW[:1000])
    raise RuntimeError("no more")


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "target"
    path.write_bytes(OLD)
    return path


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def python(code, *arguments, **options):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)], capture_output=True, text=True, **options)


def test_a_failure_keeps_the_old_file_and_leaves_nothing_else(target):
    with pytest.raises(RuntimeError, match="no more"):
        replace_file(target, broken)

    assert target.read_bytes() == OLD
    assert os.listdir(target.parent) == ["target"]


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_a_link_and_its_target_is_written(exists, target, tmp_path):
    (tmp_path / "folder").mkdir()
    link, second = tmp_path / "folder/link", tmp_path / "second"
    link.symlink_to("../target")
    second.symlink_to("folder/link")
    if not exists:
        target.unlink()

    replace_file(second, write)

    assert target.read_bytes() == NEW and not target.is_symlink()
    assert os.readlink(second) == "folder/link" and os.readlink(link) == "../target"
    assert sorted(os.listdir(tmp_path)) == ["folder", "second", "target"] and os.listdir(tmp_path / "folder") == ["link"]


def test_links_in_a_circle_are_an_error_in_a_sentence(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="cannot be written to .*: Too many levels of symbolic links"):
        replace_file(tmp_path / "a", write)


def test_a_fifo_is_written_to_and_stays_one(tmp_path):
    fifo, received = tmp_path / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: received.append(fifo.read_bytes()))
    reader.start()
    replace_file(fifo, write)
    reader.join()
    assert received == [NEW]
    assert stat.S_ISFIFO(os.stat(fifo).st_mode) and os.listdir(tmp_path) == ["fifo"]


def test_a_device_is_written_to_and_stays_one():
    before = os.stat("/dev/null")
    replace_file("/dev/null", write)
    Engine("cusum").fit([[1.0], [2.0]], [1, 2]).save("/dev/null")
    after = os.stat("/dev/null")
    assert stat.S_ISCHR(after.st_mode) and after.st_ino == before.st_ino
    with pytest.raises(OSError, match="cannot be written to '/dev/full': No space left on device"):
        replace_file("/dev/full", write)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_is_written_to_whatever_it_is(name, tmp_path):
    code = """
    import sys
    from structperc.basics.writing import replace_file
    replace_file(sys.argv[1], lambda file: file.write(b"model"))
    print(" and text")
    """
    assert python(code, name).stdout == "model and text\n"
    with open(tmp_path / "file", "wb") as file:
        subprocess.run([sys.executable, "-c", textwrap.dedent(code), name], stdout=file, check=True)
    assert (tmp_path / "file").read_bytes() == b"model and text\n"


@pytest.mark.parametrize("bits", [0o600, 0o640, 0o666, 0o755])
def test_an_existing_file_keeps_its_mode(bits, target):
    target.chmod(bits)
    before = os.umask(0o022)
    try:
        replace_file(target, lambda file: file.write(b"%o" % mode(f"/proc/self/fd/{file.fileno()}")))
    finally:
        os.umask(before)
    assert mode(target) == bits and target.read_bytes() == b"%o" % bits       # also while it was being written


@pytest.mark.parametrize(("mask", "bits"), [(0o022, 0o644), (0o077, 0o600), (0, 0o666)])
def test_a_new_file_has_the_mode_that_the_umask_leaves(mask, bits, tmp_path):
    before = os.umask(mask)
    try:
        replace_file(tmp_path / "new", write)
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == bits


def test_files_of_other_threads_keep_their_umask(tmp_path):
    modes, ended = set(), threading.Event()

    def create():
        while not ended.is_set():
            os.close(os.open(tmp_path / "other", os.O_CREAT | os.O_WRONLY, 0o666))
            modes.add(mode(tmp_path / "other"))
            os.unlink(tmp_path / "other")

    before = os.umask(0o077)
    thread = threading.Thread(target=create)
    thread.start()
    try:
        for _ in range(100):
            replace_file(tmp_path / "new", write)
    finally:
        ended.set()
        thread.join()
        os.umask(before)
    assert modes == {0o600}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_an_existing_file_keeps_its_owner(target):
    os.chown(target, 12345, 54321)
    replace_file(target, write)
    assert (target.stat().st_uid, target.stat().st_gid) == (12345, 54321)


def test_a_file_protected_against_writing_is_not_replaced(target, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, kind: False)         # as for anybody but root
    with pytest.raises(PermissionError, match="cannot be written to .*: it is protected against writing"):
        replace_file(target, write)
    assert target.read_bytes() == OLD


def test_paths_that_no_system_takes_are_refused_in_a_sentence():
    with pytest.raises(OptionError, match=r"the path 'a\\x00b' holds a zero character"):
        replace_file("a\0b", write)
    with pytest.raises(OSError, match="cannot be written to .*: File name too long"):
        replace_file("a" * 300, write)


def test_sentences_of_the_content_are_not_taken_for_errors_of_the_file(target):
    def read(file):
        raise FileNotFoundError("the data cannot be read.")

    with pytest.raises(FileNotFoundError, match=r"^the data cannot be read\.$"):
        replace_file(target, read)


def test_a_full_disk_keeps_the_old_file_and_leaves_nothing_else(target):
    ran = python("""
    import resource, signal, sys
    from structperc.basics.writing import replace_file
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    sys.dont_write_bytecode = True          # Python before 3.12 leaves a part of a .pyc file on a full disk
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    try:
        replace_file(sys.argv[1], lambda file: file.write(b"n" * 100_000))
    except OSError as error:
        print(error)
    """, target)
    assert ran.stderr == "" and "cannot be written to" in ran.stdout and "File too large" in ran.stdout
    assert target.read_bytes() == OLD and os.listdir(target.parent) == ["target"]


def interrupted_at(line, path):
    """Whether Ctrl-C before this line that runs, counted from 0, came in time."""
    left = line

    def trace(frame, event, argument):
        nonlocal left
        if frame.f_code.co_filename != writing.__file__:
            return None
        if event == "line":
            left -= 1
            if left < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        replace_file(path, write)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")     # closed by its destructor
@pytest.mark.parametrize("exists", [True, False])
def test_ctrl_c_at_every_line_leaves_the_old_file_or_the_new_and_nothing_else(exists, target):
    line, contents = 0, set()
    while True:
        target.write_bytes(OLD)
        if not exists:
            target.unlink()
        came = interrupted_at(line, target)
        contents.add(target.read_bytes() if target.exists() else None)
        assert set(os.listdir(target.parent)) <= {"target"}
        if not came:
            break
        line += 1
    assert line > 30 and contents == {OLD if exists else None, NEW}


def test_ctrl_c_as_the_rename_returns_is_raised_and_the_new_file_stays(target, monkeypatch):
    rename = os.replace

    def renamed(*paths):
        rename(*paths)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", renamed)
    with pytest.raises(KeyboardInterrupt):
        replace_file(target, write)
    assert target.read_bytes() == NEW and os.listdir(target.parent) == ["target"]


def test_the_file_and_then_its_folder_reach_the_disk(target, monkeypatch):
    calls, sync, rename = [], os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (calls.append(os.path.realpath(f"/proc/self/fd/{handle}")), sync(handle)))
    monkeypatch.setattr(os, "replace", lambda *paths: (calls.append("rename"), rename(*paths)))
    replace_file(target, write)
    assert len(calls) == 3 and calls[0].startswith(f"{target.parent}/.structperc-") and calls[1:] == ["rename", str(target.parent)]


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_at_any_moment_leaves_no_descriptor_open(target):
    def interrupt(number, frame):
        raise KeyboardInterrupt

    random, before, came = random_module.Random(0), len(os.listdir("/proc/self/fd")), 0
    handler = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(500):
            try:
                try:
                    signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 1e-3))
                    replace_file(target, write)
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                came += 1
            assert target.read_bytes() in (OLD, NEW) and os.listdir(target.parent) == ["target"]
    finally:
        signal.signal(signal.SIGALRM, handler)
    assert came and len(os.listdir("/proc/self/fd")) == before


KILLED = """
import os, signal, sys
from structperc.basics.writing import replace_file
def write(file):
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
replace_file(sys.argv[1], write)
"""


def test_the_next_save_removes_what_a_killed_one_left(target):
    other = target.with_name("other")
    for path in (target, target, other):
        assert python(KILLED, path).returncode == -signal.SIGKILL
    assert target.read_bytes() == OLD and not other.exists() and len(os.listdir(target.parent)) == 3

    replace_file(target, write)
    assert target.read_bytes() == NEW and len(os.listdir(target.parent)) == 2        # that of another target is not touched
    replace_file(other, write)
    assert sorted(os.listdir(target.parent)) == ["other", "target"]


def test_writers_at_work_are_left_alone(target):
    def outer(file):
        file.write(b"outer")
        replace_file(target, write)
        assert target.read_bytes() == NEW

    replace_file(target, outer)
    assert target.read_bytes() == b"outer" and os.listdir(target.parent) == ["target"]


def test_a_file_taken_for_left_over_before_its_lock_is_written_again(target, monkeypatch):
    lock, removed = writing.fcntl.flock, []

    def late(file, kind):
        if not removed:
            removed.append(file.name)
            os.unlink(file.name)
        return lock(file, kind)

    monkeypatch.setattr(writing.fcntl, "flock", late)
    replace_file(target, write)
    assert removed and target.read_bytes() == NEW and os.listdir(target.parent) == ["target"]


def test_a_file_system_without_locks_is_written_to(target, monkeypatch):
    def refused(file, kind):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(writing.fcntl, "flock", refused)
    replace_file(target, write)
    assert target.read_bytes() == NEW and os.listdir(target.parent) == ["target"]


def test_many_writers_of_one_file_end_with_one_of_their_contents(target):
    contents = [b"%d" % i * 10_000 for i in range(8)]
    threads = [threading.Thread(target=lambda c=c: [replace_file(target, lambda file: file.write(c)) for _ in range(20)]) for c in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert target.read_bytes() in contents and os.listdir(target.parent) == ["target"]


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")     # of the end of a `with`, where tracing strikes and no signal does
def test_ctrl_c_in_save_is_raised_as_such_wherever_it_comes(target):
    engine = Engine("cusum", classes=[1, 2]).partial_fit([[1.0]], [1])
    engine.save(target)
    content, came, event = target.read_bytes(), True, 0

    def ctrl_c(frame, kind, argument):
        nonlocal countdown
        if frame.f_code.co_filename.startswith("<frozen importlib"):    # Python drops what callbacks of its import locks raise
            return None
        countdown -= 1
        if countdown == 0:
            sys.settrace(None)
            raise KeyboardInterrupt
        return ctrl_c

    while came:
        event, countdown, came = event + 7, event + 7, False
        try:
            sys.settrace(ctrl_c)
            engine.save(target)
        except KeyboardInterrupt:
            came = True
        finally:
            sys.settrace(None)
        assert target.read_bytes() == content and os.listdir(target.parent) == [target.name]
    assert event > 700
