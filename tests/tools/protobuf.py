#!/usr/bin/env python3
"""Writes crates/serve/src/protobuf.txt: the protobuf messages that clients send and that belong to no stored kind, such as options and reviews.
Those of stored kinds are in crates/k8s-model/build/go_types.txt.

    git clone https://github.com/kubernetes/api API
    git clone https://github.com/kubernetes/apimachinery MACHINERY
    git clone https://github.com/kubernetes/apiextensions-apiserver EXTENSIONS
    git clone https://github.com/kubernetes/kube-aggregator AGGREGATOR
    tests/tools/protobuf.py API MACHINERY EXTENSIONS AGGREGATOR v0.36.2 > crates/serve/src/protobuf.txt

`@apiVersion kind message` names the message of a kind. `>message` begins one; each of its lines is the number, the JSON name (`-` for
a message whose fields stand in the place of the field) and the Go type. `~` after it: left out when it is empty.
"""
import re
import subprocess
import sys

GROUPS = {
    "core/v1": "v1", "apps/v1": "apps/v1", "batch/v1": "batch/v1", "autoscaling/v1": "autoscaling/v1", "autoscaling/v2": "autoscaling/v2",
    "policy/v1": "policy/v1", "storage/v1": "storage.k8s.io/v1", "discovery/v1": "discovery.k8s.io/v1",
    "scheduling/v1": "scheduling.k8s.io/v1", "networking/v1": "networking.k8s.io/v1", "coordination/v1": "coordination.k8s.io/v1",
    "rbac/v1": "rbac.authorization.k8s.io/v1", "admissionregistration/v1": "admissionregistration.k8s.io/v1",
    "authentication/v1": "authentication.k8s.io/v1", "authorization/v1": "authorization.k8s.io/v1",
    "certificates/v1": "certificates.k8s.io/v1", "node/v1": "node.k8s.io/v1", "flowcontrol/v1": "flowcontrol.apiserver.k8s.io/v1",
    "resource/v1": "resource.k8s.io/v1", "events/v1": "events.k8s.io/v1",
}
# Kinds whose types are in repositories of their own: the group's package, its version, and the files.
OTHERS = [
    (2, "apiextensions/v1", "apiextensions.k8s.io/v1", ["types.go", "types_jsonschema.go"]),
    (3, "apiregistration/v1", "apiregistration.k8s.io/v1", ["types.go"]),
]
META = "meta/v1"
TYPES = "crates/k8s-model/build/go_types.txt"
PLAIN = {"string", "bool", "int", "int32", "int64", "uint32", "uint64", "float64", "byte"}
# Types with a form of their own in protobuf, as src/protobuf.rs reads them.
LEAVES = PLAIN | {"resource.Quantity", "metav1.Time", "metav1.MicroTime", "intstr.IntOrString", "runtime.RawExtension", "metav1.FieldsV1"}
SCALARS = {"types.UID": "string", "types.NodeName": "string", "metav1.Duration": "int64", "runtime.Object": "runtime.RawExtension"}


def short(name):
    """Converts `apps/v1.Deployment` to `appsv1.Deployment`, and `core/v1.Pod` to `v1.Pod`."""
    group, slash, rest = name.partition("/")
    return ("" if group == "core" else group) + rest if slash else name


def show(path, tag, file):
    return subprocess.run(["git", "-C", path, "show", f"{tag}:{file}"], capture_output=True, text=True).stdout


def read(package, text):
    """Structs and other named types of a package, types with their full names."""
    aliases = {"metav1": META}
    for alias, path in re.findall(r'^\s*(\w*)\s*"k8s\.io/(?:api|apimachinery/pkg/apis)/([\w./]+)"', text, re.M):
        aliases[alias or path.rsplit("/", 1)[-1]] = path

    def full(name):
        if "." in name:
            left, right = name.split(".", 1)
            return short(f"{aliases.get(left, left)}.{right}")
        return name if name in PLAIN else short(f"{package}.{name}")

    def typed(text):
        text = text.strip()
        if text.startswith("*"):
            return ("ptr", typed(text[1:]))
        if text == "[]byte":
            return ("bytes",)
        if text.startswith("[]"):
            return ("list", typed(text[2:]))
        if text.startswith("map["):
            return ("map", typed(text.split("]", 1)[1]))
        return ("name", full(text))

    structs, named, kinds = {}, {}, []
    for name, body in re.findall(r"^type (\w+) struct ?\{(?:\n(.*?)^)?\}", text, re.M | re.S):
        fields = []
        for line in body.splitlines():
            if re.search(r"TypeMeta\s+`json:\"[^\"]*inline", line):
                kinds.append(name)
            found = re.match(r'\s*(?:(\w+)\s+)?(\S+)\s+`(.*)`', line)
            if not found or line.strip().startswith("//"):
                continue
            number = re.search(r'protobuf:"\w+,(\d+),', found[3])
            json = re.search(r'json:"([^"]*)"', found[3])
            if number and json:
                words = json[1].split(",")
                fields.append((int(number[1]), "-" if "inline" in words else words[0], typed(found[2]), "omitempty" in words or "omitzero" in words))
        structs[short(f"{package}.{name}")] = fields
    for name, what in re.findall(r"^type (\w+) ((?!struct|interface)\S.*)$", text, re.M):
        named[short(f"{package}.{name}")] = typed(what)
    return structs, named, kinds


def main():
    api, machinery, _, _, tag = sys.argv[1:6]
    structs, named, kinds = {}, {}, []
    sources = [(package, version, show(api, tag, f"{package}/types.go")) for package, version in GROUPS.items()]
    for index, package, version, files in OTHERS:
        text = "".join(show(sys.argv[index + 1], tag, f"pkg/apis/{package}/{file}") for file in files)
        sources.append((package, version, text))
    for package, version, text in sources:
        one, two, three = read(package, text)
        structs.update(one)
        named.update(two)
        kinds += [(version, kind, short(f"{package}.{kind}")) for kind in three]
    one, two, three = read(META, show(machinery, tag, "pkg/apis/meta/v1/types.go"))
    structs.update(one)
    named.update(two)
    kinds += [("meta.k8s.io/v1", kind, short(f"{META}.{kind}")) for kind in three]
    with open(TYPES) as file:
        stored = {line.split(" ")[0] for line in file if line[0] not in "#|"}
    lines, missing = {}, set()

    def word(kind, inside=False):
        if kind[0] == "ptr":
            return "*" + word(kind[1])
        if kind[0] == "bytes":
            return "[]byte"
        if kind[0] == "list":
            return "[]" + word(kind[1], True)
        if kind[0] == "map":
            return "map[string]" + word(kind[1], True)
        name = kind[1]
        if name in structs and name not in LEAVES:
            reach(name)
            return name
        if name in named and not (inside and named[name][0] == "list"):
            return word(named[name], inside)
        if name not in LEAVES and name not in SCALARS and name not in named:
            missing.add(name)
        return SCALARS.get(name, name)

    def reach(name):
        if name in lines or name in stored:
            return
        lines[name] = []
        lines[name] = [f"{number} {json} {word(kind)}{'~' if omit else ''}" for number, json, kind, omit in structs[name]]

    roots = [root for root in kinds if not root[1].endswith("List") and root[2] not in stored]
    for _, _, name in roots:
        reach(name)
    print(f"# Written by tests/tools/protobuf.py from the types of {tag}; see crates/serve/src/protobuf.rs.")
    for version, kind, name in roots:
        print(f"@{version} {kind} {name}")
    for name in sorted(lines):
        print(f">{name}", *lines[name], sep="\n")
    if missing:
        sys.exit(f"unknown types: {sorted(missing)}")


main()
