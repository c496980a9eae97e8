"""`make fresh` follows the README on new Debian systems: its first two commands, its blocks and its commands, as a normal user.

debootstrap makes one root per release in build/fresh, with the packages that the README names. The user has a copy of the files that git
tracks. pip has the certificates and the proxy of this machine. The script needs root, debootstrap and a package mirror: that of apt's
configuration, or `--mirror URL`; `--ubuntu-mirror URL` adds Ubuntu. Otherwise it prints what is missing and exits with 0.
`make fresh ARGS=--suite` also runs `make test`; without it, `make test` runs one module.
"""

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
RELEASES, UBUNTU = ("bookworm", "trixie"), ("noble",)
PASSED_ON = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "no_proxy", "NO_PROXY", "PIP_INDEX_URL", "PIP_DEFAULT_TIMEOUT",
             "STRUCTPERC_FLAGS")
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
USER = "ann"


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="make fresh", description=__doc__.split("\n")[0])
    parser.add_argument("releases", nargs="*", help=f"names of releases, default {' '.join(RELEASES)}")
    parser.add_argument("--mirror", help="a package mirror of Debian, default the one that apt uses")
    parser.add_argument("--ubuntu-mirror", help=f"a package mirror of Ubuntu, for {' '.join(UBUNTU)}")
    parser.add_argument("--roots", type=Path, default=ROOT / "build/fresh", help="the folder of the roots, which stay; default build/fresh")
    parser.add_argument("--suite", action="store_true", help="run the whole suite, not one module")
    arguments = parser.parse_args(argv)
    mirrors = {"ubuntu": arguments.ubuntu_mirror, "debian": arguments.mirror or mirror_of_apt()}
    lacking = [what for what, is_here in (("root", os.geteuid() == 0), ("debootstrap", shutil.which("debootstrap")),
                                          ("a package mirror, --mirror URL", mirrors["debian"])) if not is_here]
    if lacking:
        print(f"make fresh: skipped, since there is no {', no '.join(lacking)}.")
        return 0
    rows = []
    for release in arguments.releases or (*RELEASES, *(UBUNTU if arguments.ubuntu_mirror else ())):
        root = arguments.roots.resolve() / release
        base = make_root(root, release, mirrors["ubuntu" if release in UBUNTU else "debian"])
        rows += [(release, *row) for row in ([("a root by debootstrap", False, 0, 0)] if not base else walk(root, arguments.suite))]
    print("\n| release | step | result | wall s | CPU s |\n|---|---|---|---|---|")
    for release, step, right, wall, cpu in rows:
        print(f"| {release} | {step} | {'works' if right else 'FAILS'} | {wall:.0f} | {cpu:.0f} |")
    return not all(row[2] for row in rows)


def mirror_of_apt():
    """The first mirror of Debian that apt's configuration names; None if there is none."""
    folder = Path("/etc/apt")
    for path in (folder / "sources.list", *sorted((folder / "sources.list.d").iterdir() if folder.exists() else ())):
        for line in path.read_text().splitlines() if path.suffix in (".list", ".sources") and path.exists() else ():
            address = re.match(r"(?:deb(?: \[.*?\])?|URIs:)\s+(\S+/debian/?)(?:\s|$)", line)
            if address:
                return address[1]
    return None


def packages():
    """What the README's line for Debian installs."""
    return re.search(r"apt install ([\w -]+?)\s*#", (ROOT / "README.md").read_text())[1].split()


def make_root(root, release, mirror) -> bool:
    """A minimal system with the packages of the README and a user. One that exists is used again."""
    if not (root / "made").exists():
        shutil.rmtree(root, ignore_errors=True)
        root.parent.mkdir(parents=True, exist_ok=True)
        wanted = ",".join(["ca-certificates", "git", *packages()])
        family, options = ("gutsy", ["--components=main,universe"]) if release in UBUNTU else ("sid", [])
        scripts = Path("/usr/share/debootstrap/scripts")
        script = scripts / (release if (scripts / release).exists() else family)        # debootstrap lacks newer releases
        with open(root.parent / f"{release}.log", "w") as log:
            if subprocess.run(["debootstrap", "--variant=minbase", *options, f"--include={wanted}", release, root, mirror, script],
                              stdout=log, stderr=subprocess.STDOUT).returncode:
                print(f"make fresh: debootstrap fails for {release}; see {log.name}.")
                return False
        subprocess.run(["chroot", root, "useradd", "--create-home", USER], check=True)
        (root / "made").touch()
    shutil.copy("/etc/resolv.conf", root / "etc")
    if Path(CERTIFICATES).exists():
        shutil.copy(CERTIFICATES, root / CERTIFICATES[1:])
    clone = root / f"home/{USER}/structperc"
    shutil.rmtree(clone, ignore_errors=True)
    for name in subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, clone / name)
    (clone / "blocks.py").write_text("\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)))
    subprocess.run(["chroot", root, "chown", "--recursive", USER, f"/home/{USER}"], check=True)
    return True


def walk(root, suite):
    """The README from its first command to its last block: (step, result, wall seconds, CPU seconds) of each."""
    readme = (ROOT / "README.md").read_text()
    said = [part for line in re.findall(r"# -> (.*)", readme) for part in line.split(", then ")]
    commands = re.search(r"^    (cd demo-output.*\n(?:    .+\n)+)", readme, re.MULTILINE)[1].replace("\n    ", "\n").rstrip()
    test = "make test" if suite else "make test ARGS=tests/core/test_signatures.py"
    steps = [
        ("`make demo`, to the first picture", "mv blocks.py .. && git init -q . && git add . && make demo && test -s demo-output/demo.png"),
        ("`make demo` again", "make demo"),
        ("the blocks", ". .venv/bin/activate && python ../blocks.py"),
        ("the commands", f"set -e; . .venv/bin/activate; {commands}"),
        ("a package", ". .venv/bin/activate && cd .. && rm -rf structperc-my-problem && structperc new my-problem && "
                      "pip install --quiet -e structperc-my-problem && structperc check my-problem"),
        (f"`{test}`", test),
        ("nothing untracked", "test -z \"$(git status --short | grep -v '^A ')\" || { git status --short | grep -v '^A '; false; }"),
    ]
    for step, command in steps:
        print(f"== {root.name}: {step}", flush=True)
        lines, right, wall, cpu = run(root, command)
        if step == "the blocks" and lines != said:
            print(f"printed {lines}, but the README says {said}")
            right = False
        yield step, right, wall, cpu
        if not right and step.startswith("`make demo`, to"):
            return


def run(root, command):
    """Runs a command in the clone as the user, and shows what it prints: the lines, whether it works, wall seconds, CPU seconds."""
    mounts = f"mount -t proc proc {root}/proc && mount --rbind /dev {root}/dev"
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    environment = {"HOME": f"/home/{USER}", "USER": USER, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PIP_CERT": CERTIFICATES, **passed_on}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process = subprocess.Popen(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child",
         "sh", "-c", f'{mounts} && exec chroot --userspec={USER}:{USER} {root} "$@"', "sh",
         "env", "-i", *(f"{name}={value}" for name, value in environment.items()), "sh", "-c", f"cd ~/structperc && {{ {command}\n}}"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = []
    for line in process.stdout:
        print(f"    {line}", end="", flush=True)
        lines.append(line.rstrip("\n"))
    right, after = process.wait() == 0, resource.getrusage(resource.RUSAGE_CHILDREN)
    return lines, right, time.monotonic() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
