#!/usr/bin/env python3
"""Writes crates/serve/src/protobuf.txt: the numbers and types of the fields of Kubernetes' protobuf messages.

    git clone https://github.com/kubernetes/api API
    git clone https://github.com/kubernetes/apimachinery MACHINERY
    git clone https://github.com/kubernetes/apiextensions-apiserver EXTENSIONS
    git clone https://github.com/kubernetes/kube-aggregator AGGREGATOR
    tests/tools/protobuf.py API MACHINERY EXTENSIONS AGGREGATOR v0.36.2 > crates/serve/src/protobuf.txt

`@apiVersion kind message` names the message of a kind. `>message` begins one; each of its lines is the number, the JSON name (`-` for
a message whose fields stand in the place of the field) and the type: `[` list, `{` map, then s string, y bytes, i integer, b boolean,
d double, q quantity, t time, u time with microseconds, n integer or string, r raw JSON, l list of strings in a message of its own,
A, B, S a schema of a CustomResourceDefinition or schemas, a boolean, strings, or `>message`. `~` after it: left out when it is zero.
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
LEAVES = {
    "string": "s", "bool": "b", "int": "i", "int32": "i", "int64": "i", "uint32": "i", "uint64": "i", "float64": "d", "byte": "i",
    "resource.Quantity": "q", "meta/v1.Time": "t", "meta/v1.MicroTime": "u", "intstr.IntOrString": "n", "runtime.RawExtension": "r",
    "meta/v1.FieldsV1": "r", "types.UID": "s", "types.NodeName": "s", "meta/v1.Duration": "i", "runtime.Object": "r",
    "apiextensions/v1.JSON": "r", "apiextensions/v1.JSONSchemaPropsOrArray": "A", "apiextensions/v1.JSONSchemaPropsOrBool": "B",
    "apiextensions/v1.JSONSchemaPropsOrStringArray": "S",
}


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
            return f"{aliases.get(left, left)}.{right}"
        return name if name in LEAVES else f"{package}.{name}"

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
        structs[f"{package}.{name}"] = fields
    for name, what in re.findall(r"^type (\w+) ((?!struct|interface)\S.*)$", text, re.M):
        named[f"{package}.{name}"] = typed(what)
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
        kinds += [(version, kind, f"{package}.{kind}") for kind in three]
    one, two, three = read(META, show(machinery, tag, "pkg/apis/meta/v1/types.go"))
    structs.update(one)
    named.update(two)
    kinds += [("meta.k8s.io/v1", kind, f"{META}.{kind}") for kind in three]
    used, missing = set(), set()

    def word(kind, inside=False):
        if kind[0] == "ptr":
            return "*" + word(kind[1])
        if kind[0] == "bytes":
            return "y"
        if kind[0] == "list":
            return "[" + word(kind[1], True)
        if kind[0] == "map":
            return "{" + word(kind[1], True)
        name = kind[1]
        if name in LEAVES:
            return LEAVES[name]
        if name in structs:
            reach(name)
            return ">" + name
        if name in named:
            # A named list inside a map or a list is a message of its own.
            return "l" if inside and named[name][0] == "list" else word(named[name], inside)
        missing.add(name)
        return "s"

    lines = {}

    def reach(name):
        if name in used:
            return
        used.add(name)
        lines[name] = [f"{number} {json} {word(kind)}{'~' if omit else ''}" for number, json, kind, omit in structs[name]]

    roots = [root for root in kinds if not root[1].endswith("List")]
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
