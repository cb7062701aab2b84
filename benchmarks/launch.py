"""Run one command in a process of its own and write down its whole seconds and its peak memory.

usage: launch.py MEASURED.json LOG TIMEOUT_SECONDS MEMORY_BYTES COMMAND...

A small program apart from run.py because a child's peak memory, as the system counts it, starts at what its parent
held when it was forked: from here that is some ten megabytes, from a process that has a truth in memory, gigabytes.
A command that outlives its time is killed with its children; one that asks for more memory than allowed is refused it.
"""

import json
import os
import resource
import signal
import sys
import time
from types import FrameType


def main() -> None:
    measured_path, log_path, timeout_seconds, memory_bytes, *command = sys.argv[1:]
    start = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        _become(command, log_path, int(memory_bytes))
    timed_out = False

    def kill_child(number: int, _frame: FrameType | None) -> None:
        nonlocal timed_out
        timed_out = number == signal.SIGALRM
        os.killpg(pid, signal.SIGKILL)

    for number in (signal.SIGALRM, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, kill_child)
    signal.setitimer(signal.ITIMER_REAL, float(timeout_seconds))
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - start
    measured = {
        "seconds": round(seconds, 3),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3),
        "peak_memory_bytes": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        "exit_code": os.waitstatus_to_exitcode(status),
        "timed_out": timed_out,
    }
    with open(measured_path, "w", encoding="utf-8") as file:  # noqa: PTH123  # pathlib is a tenth of a second to import
        json.dump(measured, file)


def _become(command: list[str], log_path: str, memory_bytes: int) -> None:
    try:
        os.setsid()
        log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error}\n".encode())
    finally:
        os._exit(127)


if __name__ == "__main__":
    main()
