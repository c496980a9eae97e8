"""Tests of a process under kill -9, Ctrl-C, full disks, threads and millions of calls. `make torture` runs them; see CONTRIBUTING.md."""
