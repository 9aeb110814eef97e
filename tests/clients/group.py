"""A consumer group whose members are programs by others, and what must hold of it whatever happens to them."""

from cluster import poll
from program import Program


class Member(Program):
    """A member; what it owns and has processed, as it said itself (members/README.md)."""

    def __init__(self, name, command, said_to, instance=None):
        self.identity = instance or name
        # ("own", generation, partitions), ("done", partition, first, last, count), ("kept", partition, next)
        self.said = []
        super().__init__(f"member-{name}", command, said_to)
        self.name = name

    def hear(self, line):
        kind, *words = line.split()
        if kind == "own":
            owned = frozenset(int(p) for p in words[1].split(",")) if words[1] != "-" else frozenset()
            self.said.append((kind, int(words[0]), owned))
        else:
            self.said.append((kind, *map(int, words)))

    def told(self, kind):
        return [said[1:] for said in list(self.said) if said[0] == kind]

    def claims(self):
        return self.told("own")

    def by_generation(self):
        """All that it said, each with the generation it was said in."""
        generation = -1
        for said in list(self.said):
            if said[0] == "own":
                generation = said[1]
            yield generation, said


def coordinator(cluster, group):
    """The broker that coordinates a group, once there is one."""
    def found():
        for number in cluster.numbers:
            try:
                with cluster.connect(number, 5) as c:
                    code, broker = c.coordinator(group)
            except OSError:
                continue
            if code == 0:
                return broker
        return None
    return poll(f"a coordinator of {group}", found)


class Group:
    """Members of one group, all reading the topic that a load is written to."""

    def __init__(self, load, strategy, name=None):
        self.cluster, self.load, self.topic, self.strategy = load.cluster, load, load.topic, strategy
        self.name, self.partitions = name or f"group-of-{load.topic}", list(range(load.partitions))
        self.members, self.all = [], []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for member in self.members:
            member.kill()

    # Acts

    def join(self, program, instance=None):
        """program: the words that start it."""
        name = f"{self.name}-{len(self.all)}"
        command = [*program, self.cluster.bootstrap(), self.topic, self.name, self.strategy,
                   *([instance] if instance else [])]
        member = Member(name, command, self.cluster.dir, instance)
        self.members.append(member)
        self.all.append(member)
        return member

    def leave(self, member):
        self.members.remove(member)
        member.leave()

    def crash(self, member):
        self.members.remove(member)
        member.kill()

    # Questions

    def ask_coordinator(self):
        """The broker that coordinates the group, once there is one."""
        return coordinator(self.cluster, self.name)

    def committed(self):
        """{partition: offset}."""
        def answered():
            try:
                with self.cluster.connect(self.ask_coordinator()) as c:
                    code, offsets = c.committed(self.name, self.topic, self.partitions)
            except OSError:
                return None
            return code == 0 and offsets
        return poll(f"the offsets of {self.name}", answered)

    def processed(self):
        """{partition: set of offsets}, of all members there ever were."""
        out = {p: set() for p in self.partitions}
        for member in self.all:
            for partition, first, last, _ in member.told("done"):
                out[partition].update(range(first, last + 1))
        return out

    def kept(self):
        """{partition: offset} of the commits that members were told have succeeded."""
        out = dict.fromkeys(self.partitions, -1)
        for member in self.all:
            for partition, offset in member.told("kept"):
                out[partition] = max(out[partition], offset)
        return out

    def generations(self):
        return {generation for member in self.all for generation, _ in member.claims()}

    # Waits

    def check_alive(self):
        load = self.load
        assert load.sums or load.process.poll() is None, f"the producer ended: {load.last_words()}"
        for member in self.members:
            assert member.is_alive(), f"{member.name} died: {member.last_words()}"

    def wait_settled(self):
        """All living members are in one generation, and own each partition once."""
        def settled():
            self.check_alive()
            claims = [m.claims()[-1] for m in self.members if m.claims()]
            owned = sorted(p for _, owned in claims for p in owned)
            return len(claims) == len(self.members) and len({g for g, _ in claims}) == 1 and owned == self.partitions
        poll(f"{len(self.members)} members of {self.name} should share it", settled)

    def wait_progress(self, count=50):
        """At least count records more of each partition."""
        before = {p: len(offsets) for p, offsets in self.processed().items()}

        def progressed():
            self.check_alive()
            return all(len(offsets) >= before[p] + count for p, offsets in self.processed().items())
        poll(f"{self.name} should process {count} more records of each partition", progressed)

    def wait_committed(self, ends):
        """Everything up to ends, {partition: offset}, is committed."""
        def done():
            self.check_alive()
            return self.committed() == ends
        poll(f"{self.name} should commit {ends}", done)

    # Verdict

    def faults(self, ends):
        """What must not be, each a text. ends: {partition: offset behind its last record}."""
        return [*self._not_processed(ends), *self._passed_over(), *self._owned_twice(), *self._forgotten()]

    def _not_processed(self, ends):
        for partition, offsets in self.processed().items():
            missing = set(range(ends[partition])) - offsets
            if missing:
                yield f"partition {partition}: {len(missing)} records not processed, first {min(missing)}"

    def _passed_over(self):
        for member in self.all:
            for partition, first, last, count in member.told("done"):
                if count != last - first + 1:
                    yield f"{member.name}: {count} records from {first} to {last} of partition {partition}"

    def _owned_twice(self):
        """By two members in one generation; the incarnations of one instance count as one."""
        owners = {}
        for member in self.all:
            for generation, owned in member.claims():
                for partition in owned:
                    owners.setdefault((generation, partition), set()).add(member.identity)
        for (generation, partition), names in sorted(owners.items()):
            if len(names) > 1:
                yield f"generation {generation}: partition {partition} has owners {sorted(names)}"

    def _forgotten(self):
        """Whoever gets a partition begins no lower than what was committed in the generations before."""
        kept, begun = {}, {}
        for member in self.all:
            for generation, (kind, partition, offset, *_) in member.by_generation():
                if kind == "kept":
                    kept.setdefault(partition, []).append((generation, offset))
                elif kind == "done":
                    begun.setdefault((generation, partition, member.name), offset)
        for (generation, partition, name), first in sorted(begun.items()):
            before = max((offset for g, offset in kept.get(partition, ()) if g < generation), default=-1)
            if first < before:
                yield f"generation {generation}: {name} begins partition {partition} at {first}, committed was {before}"
