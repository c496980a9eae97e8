"""What happens to a process: kill -9, Ctrl-C, a full disk, other threads, long life: `make torture`; CONTRIBUTING.md tells how."""
