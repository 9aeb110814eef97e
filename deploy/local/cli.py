"""deploy/cluster - a local Klamm cluster: ZooKeeper and brokers as plain processes on loopback

    deploy/cluster up [--dir DIR] [--brokers N] [--zookeepers N] [--port P] [--set key=value]... [--tls]
    deploy/cluster status | stop N... | kill N... | pause N... | resume N... | logs N | down [--wipe]
    deploy/cluster start N... [--set key=value]... [--impl klamm|kafka]

`up` prints BOOTSTRAP=host:port,... and ZOOKEEPER=host:port,... and returns when every broker serves.
Where DIR holds a cluster, what no flag says stays as it was there.
Broker N (from 1) listens on P+N; its data is in DIR/broker-N, its log in DIR/broker-N.log. ZooKeeper
server N is named zkN: `stop zk1`, or `zk-stop 1`.
"""

import argparse
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from local.cluster import MOST_BROKERS, MOST_LOG_DIRS, ROOT, STOP_SECONDS, Cluster  # noqa: E402
from local.proc import Trouble  # noqa: E402

DEFAULT_DIR = os.path.join(ROOT, "build/quickstart")


def pairs(values, default=None):
    """["1=kafka", "klamm"] as {"1": "kafka", "*": "klamm"}."""
    out = {"*": default} if default else {}
    for value in values:
        key, equals, rest = value.partition("=")
        out[key if equals else "*"] = rest if equals else key
    return out


def check_impl(impl):
    if impl not in ("klamm", "kafka"):
        raise Trouble(f"--impl {impl}: klamm or kafka")


def asked_for(args, old):
    """The settings of a cluster: what is given, else what it had before, else what the help says."""
    had = old.settings if old else {}
    program = os.environ.get("KLAMM_IMPL")

    def choose(name, given, default):
        return had.get(name, default) if given is None else given
    settings = {
        "brokers": choose("brokers", args.brokers, 3), "zookeepers": choose("zookeepers", args.zookeepers, 1),
        "port": choose("port", args.port, 19092), "set": choose("set", args.set, []), "tls": choose("tls", args.tls, False),
        "wrap": choose("wrap", args.wrap and pairs(args.wrap), {}), "hosts": choose("hosts", args.host and pairs(args.host), {}),
        "impl": choose("impl", pairs(args.impl or [], program or "klamm") if args.impl or program else None, {"*": "klamm"})}
    for name, given, default in (("log_dirs", args.log_dirs, 1), ("jvm", args.jvm, "light")):
        if choose(name, given, default) != default:
            settings[name] = choose(name, given, default)
    return settings


def check(settings, sasl):
    log_dirs = settings.get("log_dirs", 1)
    if not 1 <= settings["brokers"] <= MOST_BROKERS:
        raise Trouble(f"--brokers {settings['brokers']}: 1 to {MOST_BROKERS} are possible")
    if settings["zookeepers"] not in (1, 3):
        raise Trouble(f"--zookeepers {settings['zookeepers']}: 1 or 3 servers are possible")
    if not 1 <= log_dirs <= MOST_LOG_DIRS:
        raise Trouble(f"--log-dirs {log_dirs}: 1 to {MOST_LOG_DIRS} are possible")
    if sasl:
        raise Trouble(f"--sasl {sasl}: Klamm cannot do SASL yet; it comes with the security issue")
    for setting in settings["set"]:
        if not setting.partition("=")[1]:
            raise Trouble(f"--set {setting}: key=value is wanted")
    for impl in settings["impl"].values():
        check_impl(impl)


def install(impls):
    """What the programs need, and the programs themselves; quick when all is there."""
    packages = subprocess.run(["bash", "-c", f". {ROOT}/deploy/packages.sh && packages_need run"],
                              check=False)
    if packages.returncode != 0:
        raise Trouble("the packages above are needed")
    if "klamm" in impls and "KLAMM_BIN" not in os.environ:
        if subprocess.run([f"{ROOT}/deploy/build", "release"], check=False).returncode != 0:
            raise Trouble("the build failed")


def up(args):
    old = Cluster.load(args.dir)
    settings = asked_for(args, old)
    check(settings, args.sasl)
    became = old.settings.get("became") if old else None
    if old and old.settings != {**settings, **({"became": became} if became else {})}:
        running = [m.name for m in old.members() if m.state() != "down"]
        if running:
            raise Trouble(f"{args.dir}: a cluster with other settings runs there ({', '.join(running)}); "
                          f"end it with: deploy/cluster down --dir {args.dir}")
    elif became:
        settings["became"] = became
    cluster = Cluster(args.dir, settings)
    install({b.impl for b in cluster.brokers})
    cluster.up()
    print(f"BOOTSTRAP={cluster.bootstrap()}")
    print(f"ZOOKEEPER={cluster.zookeeper_connect()}")
    if settings["tls"]:
        print(f"BOOTSTRAP_SSL={cluster.ssl_bootstrap()}")
        print(f"CA={cluster.dir}/tls/ca.pem")


def status(cluster, _args):
    print(f"{'what':<13}{'state':<8}{'pid':>8}{'port':>7}{'cpu s':>9}{'rss MB':>8}  notes")
    controller = None
    for b in cluster.brokers:
        if controller is None and b.state() == "up":
            controller = b.serves()
    for m in cluster.members():
        cpu, rss = m.usage() or (None, None)
        notes = []
        if controller and m in cluster.brokers and m.number == controller[1] and cpu is not None:
            notes.append("controller")
        if m in cluster.brokers and m.impl != "klamm":
            notes.append(m.impl)
        used = f"{cpu:>9.2f}{rss / 1e6:>8.1f}" if cpu is not None else f"{'-':>9}{'-':>8}"
        print(f"{m.name:<13}{m.state():<8}{m.pid() or '-':>8}{m.port:>7}{used}  {' '.join(notes)}".rstrip())


def each(cluster, names):
    return [cluster.member(n) for n in names]


def stop(cluster, args):
    members = each(cluster, args.names)
    for m in members:
        m.stop(STOP_SECONDS)


def kill(cluster, args):
    members = each(cluster, args.names)
    for m in members:  # all of them at one moment, then the ends are awaited
        m.signal(signal.SIGKILL)
    for m in members:
        m.wait_gone(10)


def start(cluster, args):
    members = each(cluster, args.names)
    for m in members:
        if m.state() != "down":
            raise Trouble(f"{m.name} runs already")
    if args.impl:
        check_impl(args.impl)
        cluster.become([m for m in members if m in cluster.brokers], args.impl)
    for m in members:
        m.begin(*([args.set] if m in cluster.brokers else []))
    if not args.no_wait:
        for m in each(cluster, args.names):
            cluster.wait_served(m)


def pause(cluster, args):
    for m in each(cluster, args.names):
        m.pause()


def resume(cluster, args):
    for m in each(cluster, args.names):
        m.resume()


def logs(cluster, args):
    m = cluster.member(args.names[0])
    os.execvp("tail", ["tail", "-n", "+1", *(["-F"] if args.follow else []), m.log_file])


def down(cluster, args):
    clean = cluster.down()
    if args.wipe:
        cluster.wipe()
    if not clean:
        raise Trouble("some did not end by themselves and were killed; see their logs")


ACTIONS = {"status": status, "stop": stop, "kill": kill, "start": start, "pause": pause,
           "resume": resume, "logs": logs, "down": down}


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="deploy/cluster", formatter_class=argparse.RawDescriptionHelpFormatter,
        description=__doc__.partition("\n\n")[2])
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def action(name, text):
        sub = actions.add_parser(name, help=text)
        sub.add_argument("--dir", default=os.environ.get("KLAMM_CLUSTER_DIR", DEFAULT_DIR),
                         help="where it lives (default: $KLAMM_CLUSTER_DIR or build/quickstart)")
        return sub

    sub = action("up", "start what is down, wait until all serve")
    sub.add_argument("--brokers", type=int, help="(3)")
    sub.add_argument("--zookeepers", type=int, help="1 or 3 (1)")
    sub.add_argument("--port", type=int, help="broker N listens on PORT+N (19092)")
    sub.add_argument("--set", action="append", metavar="key=value", help="for every broker")
    sub.add_argument("--log-dirs", type=int, metavar="N", help="of every broker (1)")
    sub.add_argument("--tls", action="store_true", default=None, help="a CA, certificates, and an SSL listener each")
    sub.add_argument("--sasl", metavar="MECH")
    sub.add_argument("--impl", action="append", metavar="[N=]klamm|kafka",
                     help="which broker program; for tests ($KLAMM_IMPL, or klamm)")
    sub.add_argument("--jvm", choices=("light", "server"),
                     help="of Apache Kafka: small and quickly warm (light), or as kafka-server-start has it; for tests")
    sub.add_argument("--host", action="append", metavar="N=ADDRESS",
                     help="the address of broker N, or of ZooKeeper for N=zk; for tests")
    sub.add_argument("--wrap", action="append", metavar="N=COMMAND",
                     help="run broker N below this command; for tests")
    action("status", "a table of what runs")
    for name, text in (("stop", "controlled shutdown"), ("kill", "kill -9"), ("start", "start again"),
                       ("pause", "SIGSTOP"), ("resume", "SIGCONT"), ("logs", "print its log")):
        for prefix in ("", "zk-"):
            sub = action(prefix + name, text + (" of a ZooKeeper server" if prefix else ""))
            sub.add_argument("names", nargs=1 if name == "logs" else "+", metavar="N")
            if name == "start":
                sub.add_argument("--set", action="append", default=[], metavar="key=value")
                sub.add_argument("--impl", metavar="klamm|kafka", help="what it is from now on; its data stays")
                sub.add_argument("--no-wait", action="store_true", help="do not wait until it serves")
            if name == "logs":
                sub.add_argument("-f", "--follow", action="store_true")
    action("down", "stop everything").add_argument("--wipe", action="store_true",
                                                   help="remove the directory too")
    args = parser.parse_args(argv)
    if args.action.startswith("zk-"):
        args.action, args.names = args.action[3:], ["zk" + n for n in args.names]
    return args


def main():
    args = parse(sys.argv[1:])
    try:
        if args.action == "up":
            up(args)
            return 0
        cluster = Cluster.load(args.dir)
        if cluster is None:
            raise Trouble(f"no cluster in {args.dir}; start one with: deploy/cluster up --dir {args.dir}")
        ACTIONS[args.action](cluster, args)
        return 0
    except Trouble as e:
        print(f"deploy/cluster: {e}", file=sys.stderr)
        return 1
    except (BrokenPipeError, KeyboardInterrupt):
        return 130


if __name__ == "__main__":
    sys.exit(main())
