"""The cluster: what it consists of, where it lives, how its parts are started and stopped."""

import fcntl
import json
import os
import shlex
import shutil

from . import probe, tls
from .proc import Process, Trouble, poll

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
START_SECONDS = 60   # until a server serves
STOP_SECONDS = 60    # a controlled shutdown may retry for a while
MOST_BROKERS = 99
MOST_LOG_DIRS = 9

ZOOKEEPER_CLASSPATH = ("/usr/share/java/slf4j-simple.jar", "/usr/share/java/zookeeper.jar")
LIGHT_JVM = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
             "-Djava.net.preferIPv4Stack=true"]
# What Kafka's own kafka-server-start gives a broker where nothing else is set.
SERVER_JVM = ["-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
              "-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent",
              "-XX:MaxInlineLevel=15", "-Djava.awt.headless=true"]
ZNODE_BYTES = 8 << 20


class ZooKeeper(Process):
    """Server number N of 1 or 3."""

    def __init__(self, cluster, number):
        super().__init__(cluster.dir, f"zookeeper-{number}")
        self.cluster, self.number = cluster, number
        self.host, self.port = cluster.zk_host, cluster.port + 100 + number
        self.data = os.path.join(cluster.dir, self.name)

    def configure(self):
        os.makedirs(self.data, exist_ok=True)
        _write(os.path.join(self.data, "myid"), f"{self.number}\n")
        # A short tick lets short sessions expire in time; the limits scale with it.
        lines = ["tickTime=500", "initLimit=40", "syncLimit=20", f"dataDir={self.data}",
                 f"clientPort={self.port}", f"clientPortAddress={self.host}", "maxClientCnxns=0",
                 "minSessionTimeout=1000", "maxSessionTimeout=60000", "admin.enableServer=false",
                 "4lw.commands.whitelist=*", "autopurge.purgeInterval=0"]
        if len(self.cluster.zookeepers) > 1:
            lines += [f"server.{z.number}={z.host}:{z.port + 100}:{z.port + 200}"
                      for z in self.cluster.zookeepers]
        path = os.path.join(self.data, "zoo.cfg")
        _write(path, "\n".join(lines) + "\n")
        return path

    def begin(self):
        """Starts it; it serves some time later."""
        missing = [p for p in ZOOKEEPER_CLASSPATH if not os.path.exists(p)]
        if missing:
            raise Trouble(f"{self.name}: {missing[0]} is missing; Debian's package zookeeper has it")
        main = "org.apache.zookeeper.server." + (
            "quorum.QuorumPeerMain" if len(self.cluster.zookeepers) > 1 else "ZooKeeperServerMain")
        # Without forced syncs a machine's crash could lose data; the end of a process cannot.
        self.start(["java", "-Xmx192m", *LIGHT_JVM, f"-Djute.maxbuffer={ZNODE_BYTES}",
                    "-Dzookeeper.forceSync=no", "-Dzookeeper.preAllocSize=1024",
                    "-Dzookeeper.admin.enableServer=false", "-Dzookeeper.jmx.log4j.disable=true",
                    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                    "-Dorg.slf4j.simpleLogger.showDateTime=true",
                    "-cp", ":".join(ZOOKEEPER_CLASSPATH), main, self.configure()])

    def serves(self):
        return probe.zookeeper(self.host, self.port)


class Broker(Process):
    """Broker with the id N."""

    def __init__(self, cluster, number):
        super().__init__(cluster.dir, f"broker-{number}")
        self.cluster, self.number = cluster, number
        self.host = cluster.settings["hosts"].get(str(number), "127.0.0.1")
        self.port = cluster.port + number
        self.ssl_port = cluster.port + 400 + number
        impls = {**cluster.settings["impl"], **cluster.settings.get("became", {})}
        self.impl = impls.get(str(number), impls["*"])

    def log_dirs(self):
        """DIR/broker-N; with --log-dirs also DIR/broker-N-2, ..."""
        first = os.path.join(self.cluster.dir, self.name)
        return [first, *(f"{first}-{n + 1}" for n in range(1, self.cluster.settings.get("log_dirs", 1)))]

    def properties(self, extra):
        """The contents of its server.properties; later ones of the same key win."""
        c, copies = self.cluster, min(3, len(self.cluster.brokers))
        listeners = [f"PLAINTEXT://{self.host}:{self.port}"]
        props = {
            "broker.id": self.number,
            "zookeeper.connect": c.zookeeper_connect(),
            "zookeeper.session.timeout.ms": 6000,
            "log.dirs": ",".join(self.log_dirs()),
            "offsets.topic.replication.factor": copies,
            "transaction.state.log.replication.factor": copies,
            "transaction.state.log.min.isr": min(2, copies),
            "group.initial.rebalance.delay.ms": 0,
            # When all brokers stop at once, the last ones have nobody to hand over to: they need not ask for long.
            "controlled.shutdown.retry.backoff.ms": 500,
        }
        if c.settings["tls"]:
            listeners.append(f"SSL://{self.host}:{self.ssl_port}")
            props.update({
                "ssl.keystore.type": "PEM", "ssl.truststore.type": "PEM",
                "ssl.keystore.location": os.path.join(c.dir, "tls", self.name + ".pem"),
                "ssl.truststore.location": os.path.join(c.dir, "tls", "ca.pem"),
                "ssl.client.auth": "requested"})
        props["listeners"] = ",".join(listeners)
        for setting in [*c.settings["set"], *extra]:
            key, _, value = setting.partition("=")
            props[key] = value
        return "".join(f"{k}={v}\n" for k, v in props.items())

    def command(self, config):
        if self.impl == "klamm":
            program = os.path.join(self.cluster.programs(), "klamm-broker")
            if not os.path.exists(program):
                raise Trouble(f"{self.name}: {program} is not built; run deploy/build")
            return [program, config]
        libs = os.environ.get("KLAMM_KAFKA_LIBS", os.path.join(ROOT, "build/kafka/libs"))
        if not os.path.isdir(libs):
            raise Trouble(f"{self.name}: no Kafka in {libs}; run tests/kafka/fetch")
        light = self.cluster.settings.get("jvm", "light") == "light"
        return ["java", *(["-Xmx384m", *LIGHT_JVM] if light else SERVER_JVM), f"-Djute.maxbuffer={ZNODE_BYTES}",
                f"-Dlog4j.configuration=file:{ROOT}/deploy/local/kafka-log4j.properties",
                "-cp", f"{libs}/*", "kafka.Kafka", config]

    def begin(self, extra=()):
        """Writes its configuration and starts it; it serves some time later."""
        config = os.path.join(self.cluster.dir, self.name + ".properties")
        _write(config, self.properties(extra))
        wrap = shlex.split(self.cluster.settings["wrap"].get(str(self.number), ""))
        self.start([*wrap, *self.command(config)])

    def serves(self):
        """What it says of the cluster: (broker ids, controller), once its own id is among them."""
        seen = probe.metadata(self.host, self.port)
        return seen if seen and self.number in seen[0] else None


def _write(path, text):
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(path + ".new", path)


class Cluster:
    """A cluster in a directory; its settings are kept there in cluster.json."""

    def __init__(self, directory, settings):
        self.dir, self.settings = os.path.abspath(directory), settings
        self.port, self.zk_host = settings["port"], settings["hosts"].get("zk", "127.0.0.1")
        self.zookeepers = [ZooKeeper(self, n + 1) for n in range(settings["zookeepers"])]
        self.brokers = [Broker(self, n + 1) for n in range(settings["brokers"])]

    @classmethod
    def load(cls, directory):
        """The cluster that lives in a directory, or None."""
        try:
            with open(os.path.join(directory, "cluster.json"), encoding="utf-8") as f:
                return cls(directory, json.load(f))
        except FileNotFoundError:
            return None

    def save(self):
        _write(os.path.join(self.dir, "cluster.json"), json.dumps(self.settings, indent=1) + "\n")

    def become(self, brokers, impl):
        """From their next start on these are of that implementation, until they are told otherwise."""
        for b in brokers:
            b.impl = impl
            b.command("")  # Trouble here, before it is written down, where its program is missing
            self.settings.setdefault("became", {})[str(b.number)] = impl
        self.save()

    def lock(self):
        """Held until the returned file is closed: one `up` or `down` at a time."""
        os.makedirs(self.dir, exist_ok=True)
        held = open(os.path.join(self.dir, ".lock"), "w", encoding="utf-8")
        fcntl.flock(held, fcntl.LOCK_EX)
        return held

    @staticmethod
    def programs():
        return os.environ.get("KLAMM_BIN", os.path.join(ROOT, "build/release"))

    def zookeeper_connect(self):
        return ",".join(f"{z.host}:{z.port}" for z in self.zookeepers)

    def bootstrap(self):
        return ",".join(f"{b.host}:{b.port}" for b in self.brokers)

    def ssl_bootstrap(self):
        return ",".join(f"{b.host}:{b.ssl_port}" for b in self.brokers)

    def members(self):
        return [*self.zookeepers, *self.brokers]

    def member(self, name):
        """`2` is a broker, `zk1` a ZooKeeper server."""
        pool = self.zookeepers if name.startswith("zk") else self.brokers
        number = name[2:] if name.startswith("zk") else name
        for m in pool:
            if str(m.number) == number:
                return m
        kind = "ZooKeeper server" if name.startswith("zk") else "broker"
        raise Trouble(f"there is no {kind} {number} here; they are 1 to {len(pool)}")

    def check_ports(self):
        """Says whose port is taken before anything is started."""
        for m in self.members():
            if m.state() == "down" and m.host == "127.0.0.1" and not probe.port_is_free(m.host, m.port):
                raise Trouble(f"{m.name}: port {m.port} is taken; choose others with --port")

    def wait_served(self, member):
        """Waits until the member serves; Trouble with its last words if it ended."""
        def ready():
            answer = member.serves()
            if not answer and member.pid() is None:
                raise Trouble(f"{member.name} ended; the end of {member.log_file}:{member.last_words()}")
            return answer
        try:
            return poll(f"{member.name} should serve", START_SECONDS, ready)
        except Trouble as e:
            if member.pid() is None:
                raise
            raise Trouble(f"{e}; the end of {member.log_file}:{member.last_words()}") from e

    def wait_whole(self):
        """Waits until every broker sees every broker and a controller."""
        everyone = [b.number for b in self.brokers]

        def ready():
            for b in self.brokers:
                if b.pid() is None:
                    raise Trouble(f"{b.name} ended; the end of {b.log_file}:{b.last_words()}")
                seen = b.serves()
                if not seen or seen[0] != everyone or seen[1] not in everyone:
                    return False
            return True
        poll("every broker should see all the others and a controller", START_SECONDS, ready)

    def up(self):
        """Starts whatever is down and waits until all of it serves."""
        self.check_ports()
        for b in self.brokers:
            b.command("")  # Trouble here, before anything runs, where its program is missing
        with self.lock():
            self.save()
            if self.settings["tls"]:
                tls.make(os.path.join(self.dir, "tls"),
                         [*(b.name for b in self.brokers), "client"], "127.0.0.1")
            for pool in (self.zookeepers, self.brokers):
                for m in pool:
                    if m.state() == "down":
                        m.begin()
                for m in pool:
                    self.wait_served(m)
            self.wait_whole()

    def down(self):
        """Stops the brokers, then ZooKeeper; whoever does not end in time is killed. True: all ended well."""
        clean = True
        with self.lock():
            for pool in (self.brokers, self.zookeepers):
                for m in pool:
                    if m.state() == "paused":
                        m.resume()
                    m.signal(15)
                for m in pool:
                    try:
                        m.wait_gone(STOP_SECONDS)
                    except Trouble:
                        m.kill()
                        clean = False
        return clean

    def wipe(self):
        """Removes the directory, once everything in it is down."""
        running = [m.name for m in self.members() if m.state() != "down"]
        if running:
            raise Trouble(f"{', '.join(running)} still run; `down` comes first")
        shutil.rmtree(self.dir)
