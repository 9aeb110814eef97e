"""A worker that writes its lines to a file; what is written counts as acknowledged. Arguments: path name"""

import sys
import threading
import time

enough = threading.Event()


def write():
    seq = 0
    with open(sys.argv[1], "a", encoding="utf-8") as out:
        while not enough.is_set():
            out.write(f"{sys.argv[2]}:{seq}\n")
            out.flush()
            print(f"acked {sys.argv[2]}:{seq}", flush=True)
            seq += 1
            time.sleep(0.01)
    print("sent", flush=True)


thread = threading.Thread(target=write)
thread.start()
sys.stdin.readline()
enough.set()
sys.stdin.read()
thread.join()
