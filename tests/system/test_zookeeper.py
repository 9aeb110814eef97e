"""zk/ against a real ZooKeeper server: runs zk-live, which has the tests, beside a server of its own."""

import os
import socket
import subprocess

from cluster import ROOT, poll
from fixtures import new_directory

LIVE = os.path.join(ROOT, "build/debug/tests/system/zk-live")
CLASSPATH = "/usr/share/java/slf4j-simple.jar:/usr/share/java/zookeeper.jar"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def listens(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def start_server(directory, port):
    """Standalone, with short ticks, and jute.maxbuffer as it comes: one of the tests runs into it."""
    config = os.path.join(directory, "zoo.cfg")
    with open(config, "w", encoding="utf-8") as f:
        f.write(f"tickTime=500\ndataDir={directory}/data\nclientPort={port}\nclientPortAddress=127.0.0.1\n"
                "minSessionTimeout=1000\nmaxSessionTimeout=60000\nmaxClientCnxns=0\nadmin.enableServer=false\n")
    command = ["java", "-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.forceSync=no",
               "-Dzookeeper.jmx.log4j.disable=true", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
               "-cp", CLASSPATH, "org.apache.zookeeper.server.ZooKeeperServerMain", config]
    with open(os.path.join(directory, "zookeeper.log"), "w", encoding="utf-8") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


def test_session_against_a_real_server():
    directory, port = new_directory("zookeeper"), free_port()
    server = start_server(directory, port)
    try:
        poll("ZooKeeper listens", lambda: listens(port))
        live = subprocess.run([LIVE, str(port)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=300, check=False)
        with open(os.path.join(directory, "zk-live.log"), "w", encoding="utf-8") as f:
            f.write(live.stderr)
        failed = [line for line in live.stdout.splitlines() if line.startswith("not ok")]
        assert live.returncode == 0 and not failed, "\n".join(failed) or live.stderr[-2000:]
    finally:
        server.terminate()
        server.wait(30)
