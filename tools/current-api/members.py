#!/usr/bin/env python3
"""Lists the members of the platform that the plugin's classes refer to.

members.py CLASSES PLATFORM_HOME LIST           fails unless LIST has each member, and no other
members.py CLASSES PLATFORM_HOME LIST --write   updates LIST; each place that is not yet verified gets a "?"
members.py … --robot PLUGIN_LIST                 the same for the robot of the window tests; PLUGIN_LIST has the plugin's members

For each member, LIST names two places that have it: one in a platform not newer than the oldest supported one, and one in
the newest platform. The first is 2018.3 if PLATFORM_HOME has the member.
"""

import pathlib
import struct
import sys
import zipfile

OURS = "dev/companion/"
PLATFORM = ("com/intellij/", "org/jetbrains/plugins/")
SEPARATOR = " — "
OLD = "2018.3"
UNKNOWN = "?"


class ClassFile:
    """Parses the needed parts of a class file; https://docs.oracle.com/javase/specs/jvms/se21/html/jvms-4.html"""

    def __init__(self, data):
        self.data, self.at = data, 8
        self.constants = self.read_constants()
        _, name, parent, count = self.take(">HHHH")
        self.name = self.class_name(name)
        interfaces = self.take(f">{count}H")
        self.parents = [self.class_name(i) for i in (parent, *interfaces) if i]
        self.fields, self.methods = self.read_members(), self.read_members()

    def take(self, form):
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values

    def read_constants(self):
        (count,) = self.take(">H")
        constants, index = {}, 1
        forms = {3: ">I", 4: ">I", 5: ">Q", 6: ">Q", 7: ">H", 8: ">H", 15: ">BH", 16: ">H", 19: ">H", 20: ">H"}
        while index < count:
            (tag,) = self.take(">B")
            if tag == 1:
                (length,) = self.take(">H")
                value = self.data[self.at : self.at + length].decode("utf-8", "replace")
                self.at += length
            else:
                value = self.take(forms.get(tag, ">HH"))
            constants[index] = (tag, value)
            index += 2 if tag in (5, 6) else 1
        return constants

    def read_members(self):
        (count,) = self.take(">H")
        members = []
        for _ in range(count):
            flags, name, kind = self.take(">HHH")
            self.skip_attributes()
            members.append((flags, self.constants[name][1], self.constants[kind][1]))
        return members

    def skip_attributes(self):
        (count,) = self.take(">H")
        for _ in range(count):
            _, length = self.take(">HI")
            self.at += length

    def class_name(self, index):
        return self.constants[self.constants[index][1][0]][1]

    def references(self):
        """Returns the names of classes, and (owner, name, descriptor) of members."""
        for tag, value in self.constants.values():
            if tag == 7:
                yield self.constants[value[0]][1].lstrip("[").removeprefix("L").removesuffix(";"), None, None
            elif tag in (9, 10, 11):
                name, kind = (self.constants[i][1] for i in self.constants[value[1]][1])
                yield self.class_name(value[0]), name, kind


class Classes:
    """Loads classes of the plugin, today's signatures and, for all others, the platform's jars."""

    def __init__(self, folder, home):
        self.folder, self.home, self.loaded, self.jars = folder, home, {}, {}
        for path in (home / "lib").glob("*.jar"):
            jar = zipfile.ZipFile(path)
            for name in jar.namelist():
                if name.endswith(".class"):
                    self.jars.setdefault(name.removesuffix(".class"), jar)

    def get(self, name):
        if name not in self.loaded:
            file = self.folder / f"{name}.class"
            if file.exists():
                self.loaded[name] = ClassFile(file.read_bytes())
            elif name in self.jars:
                self.loaded[name] = ClassFile(self.jars[name].read(f"{name}.class"))
            else:
                self.loaded[name] = None
        return self.loaded[name]

    def ancestors(self, name):
        found = self.get(name)
        for parent in found.parents if found else []:
            yield parent
            yield from self.ancestors(parent)


def describe(owner, name, kind):
    owner = owner.replace("/", ".").replace("$", ".")
    if name is None:
        return owner
    if not kind.startswith("("):
        return f"{owner}.{name}: {simple(kind)}"
    arguments, result = kind[1:].split(")")
    names = []
    while arguments:
        end = arguments.index(";") + 1 if arguments.lstrip("[").startswith("L") else len(arguments) - len(
            arguments.lstrip("[")) + 1
        names.append(simple(arguments[:end]))
        arguments = arguments[end:]
    call = f"{owner}({', '.join(names)})" if name == "<init>" else f"{owner}.{name}({', '.join(names)})"
    return call if result == "V" else f"{call}: {simple(result)}"


def simple(kind):
    primitives = dict(B="byte", C="char", D="double", F="float", I="int", J="long", S="short", Z="boolean", V="void")
    element = kind.lstrip("[")
    name = primitives.get(element) or element[1:-1].rpartition("/")[2].replace("$", ".")
    return name + "[]" * (len(kind) - len(element))


def members(classes, of_robot):
    """Returns the members that plugin or robot call, extend or override, each with its place in an old platform."""
    found = {}
    old = Classes(pathlib.Path("none"), classes.home)

    def add(owner, name, kind):
        is_old = old.get(owner) if name is None else declaring(old, owner, name, kind)
        found[describe(owner, name, kind)] = OLD if is_old else UNKNOWN

    # The released plugin does not contain the robot of the window tests.
    for path in sorted(classes.folder.glob(f"{OURS}**/*.class")):
        if ("robot" in path.parts) != of_robot:
            continue
        ours = ClassFile(path.read_bytes())
        for owner, name, kind in ours.references():
            if name:
                owner = declaring(classes, owner, name, kind)
            if owner.startswith(PLATFORM):
                add(owner, name, kind)
        for flags, name, kind in ours.methods:
            if flags & 0x000A or name.startswith("<"):  # private or static
                continue
            for ancestor in classes.ancestors(ours.name):
                if ancestor.startswith(PLATFORM) and declares(classes, ancestor, name, kind):
                    add(ancestor, name, kind)
    return found


def declaring(classes, owner, name, kind):
    """Returns the class that declares an inherited member. It may be a class of Java instead of the platform."""
    lines = (owner, *classes.ancestors(owner))
    return next((line for line in lines if declares(classes, line, name, kind)), "")


def declares(classes, owner, name, kind):
    found = classes.get(owner)
    return found and any((name, kind) == member[1:] for member in found.fields + found.methods)


def known_members(lines):
    return {member: seen for member, *seen in (line.split(SEPARATOR) for line in lines if SEPARATOR in line)}


def main():
    folder, home, listing = (pathlib.Path(argument) for argument in sys.argv[1:4])
    of_robot = "--robot" in sys.argv
    wanted = members(Classes(folder, home), of_robot)
    lines = listing.read_text(encoding="utf-8").splitlines() if listing.exists() else []
    head = [line for line in lines if line.startswith("#")]
    known = known_members(lines)
    if of_robot:
        # A member that the plugin uses as well needs no second row, but may have one.
        plugin = pathlib.Path(sys.argv[sys.argv.index("--robot") + 1])
        verified = known_members(plugin.read_text(encoding="utf-8").splitlines())
        wanted = {member: old for member, old in wanted.items() if member in known or member not in verified}
    if "--write" in sys.argv:
        entries = []
        for member, old in sorted(wanted.items()):
            lowest, newest = known.get(member, (UNKNOWN, UNKNOWN))
            entries.append(SEPARATOR.join((member, lowest if old == UNKNOWN else old, newest)))
        listing.write_text("\n".join(head + entries) + "\n", encoding="utf-8")
        return 0
    problems = [
        f"not verified: {member}"
        for member, old in sorted(wanted.items())
        if UNKNOWN in known.get(member, [UNKNOWN]) or (known[member][0] == OLD) != (old == OLD)
    ]
    problems += [f"no longer used: {member}" for member in sorted(known.keys() - wanted.keys())]
    for problem in problems:
        print(f"{listing}: {problem}", file=sys.stderr)
    return 1 if problems else 0


sys.exit(main())
