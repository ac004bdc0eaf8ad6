"""A worker that ends with the process that started it, even when that one is killed without a word."""

import os
import signal
import threading
import time

SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_TO_SAVE = 60.0
MOST_JOBS = 1024
"""more than any machine has cores for"""


def end_with(launcher: int, *, saving: bool = False) -> None:
    """Watch the launcher from this process and end when it is gone; with `saving`, as SIGTERM would end it."""

    def watch() -> None:
        while os.getppid() == launcher:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        if saving:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(SECONDS_TO_SAVE)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
