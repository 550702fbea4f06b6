#!/usr/bin/env python3
"""Writes crates/k8s-model/build/go_types.txt: what the Go types of Kubernetes have and its OpenAPI document lacks.

    git clone https://github.com/kubernetes/api API
    git clone https://github.com/kubernetes/apiextensions-apiserver EXTENSIONS
    git clone https://github.com/kubernetes/kube-aggregator AGGREGATOR
    git clone https://github.com/kubernetes/apimachinery MACHINERY
    tests/tools/go_types.py v0.36.2 API EXTENSIONS AGGREGATOR MACHINERY > crates/k8s-model/build/go_types.txt

The head of the file says what its lines mean; `build/types.rs` reads it beside the crate k8s-openapi and stops at a difference.
"""
import re
import subprocess
import sys

# Package of each checkout -> prefix of its type names in the table.
PACKAGES = [
    {"core/v1": "v1", "apps/v1": "appsv1", "batch/v1": "batchv1", "autoscaling/v2": "autoscalingv2", "policy/v1": "policyv1",
     "storage/v1": "storagev1", "discovery/v1": "discoveryv1", "scheduling/v1": "schedulingv1", "networking/v1": "networkingv1",
     "coordination/v1": "coordinationv1", "rbac/v1": "rbacv1", "node/v1": "nodev1",
     "admissionregistration/v1": "admissionregistrationv1", "certificates/v1": "certificatesv1", "flowcontrol/v1": "flowcontrolv1",
     "resource/v1": "resourcev1"},
    {"pkg/apis/apiextensions/v1": "apiextensionsv1"},
    {"pkg/apis/apiregistration/v1": "apiregistrationv1"},
    {"pkg/apis/meta/v1": "metav1"},
]
KINDS = {
    "v1": "ComponentStatus ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod PodTemplate "
          "ReplicationController ResourceQuota Secret Service ServiceAccount",
    "admissionregistrationv1": "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration "
                               "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
    "appsv1": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet", "autoscalingv2": "HorizontalPodAutoscaler",
    "batchv1": "CronJob Job", "certificatesv1": "CertificateSigningRequest", "coordinationv1": "Lease", "discoveryv1": "EndpointSlice",
    "flowcontrolv1": "FlowSchema PriorityLevelConfiguration",
    "networkingv1": "IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR", "nodev1": "RuntimeClass",
    "policyv1": "PodDisruptionBudget", "rbacv1": "ClusterRole ClusterRoleBinding Role RoleBinding",
    "resourcev1": "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice", "schedulingv1": "PriorityClass",
    "storagev1": "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass",
    "apiextensionsv1": "CustomResourceDefinition", "apiregistrationv1": "APIService",
}
# Structs that are something else in JSON: a number or a text, or anything.
LEAVES = {"JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray", "FieldsV1", "Time", "MicroTime"}
SCALARS = {"types.UID": "string"}


# All packages that are read.
KNOWN = {}


def source(checkout, revision, package):
    names = subprocess.run(["git", "-C", checkout, "ls-tree", "--name-only", revision, package + "/"],
                           check=True, capture_output=True, text=True).stdout.split()
    for name in names:
        if re.search(r"/(\w+\.)?types(_jsonschema)?\.go$|types\.go$", name):
            yield subprocess.run(["git", "-C", checkout, "show", f"{revision}:{name}"],
                                 check=True, capture_output=True, text=True).stdout


def imports(text):
    table = {}
    for alias, path in re.findall(r'^\t(?:(\w+) )?"([^"]+)"$', text, re.M):
        last = path.split("/")
        name = alias or (last[-1] if not re.fullmatch(r"v\d\w*", last[-1]) else last[-1])
        if path.startswith("k8s.io/api/"):
            table[name] = KNOWN.get(path[len("k8s.io/api/"):], "?" + path)
        elif path.endswith("apis/meta/v1"):
            table[name] = "metav1"
        else:
            table[name] = last[-1]
    return table


def qualify(kind, package, table):
    def one(match):
        word, dot = match.group(1), match.group(2)
        if dot:
            return table.get(word, word) + "."
        if match.start() and match.string[match.start() - 1] == ".":
            return word
        return word if word[0].islower() else f"{package}.{word}"
    return re.sub(r"\b([A-Za-z]\w*)(\.)?", one, kind)


def patch(tags):
    strategy = re.search(r'patchStrategy:"([^"]*)"', tags)
    key = re.search(r'patchMergeKey:"([^"]*)"', tags)
    return f"&{strategy.group(1)}:{key.group(1) if key else ''}" if strategy else ""


def enums(text, package, found):
    marked = re.findall(r"^// \+enum\n(?://.*\n)*type (\w+) string$", text, re.M)
    for name in marked:
        values = re.findall(r'^\s+\w+\s+' + name + r'\s+=\s+"([^"]*)"|^\s+\w+\s+=\s+' + name + r'\((?:"([^"]*)"|v1\.(\w+)Protocol)\)', text, re.M)
        values = ["".join(value) for value in values]
        found[f"{package}.{name}"] = sorted(set(values))


def parse(text, package, structs, scalars, demanded):
    table = imports(text)
    for name, body in re.findall(r"^type (\w+) struct \{\n(.*?)^\}", text, re.M | re.S):
        if name in LEAVES:
            continue
        fields, optional, required = [], False, False
        for line in body.split("\n"):
            if "+optional" in line:
                optional = True
            if re.search(r"//\s*\+required", line):
                required = True
            match = re.match(r"^\t(?:(\w+)\s+)?([\w.*\[\]]+)\s+`json:\"([^\"]*)\"(.*)", line)
            if match:
                go, kind, tag, tags = match.groups()
                json_name = tag.split(",")[0]
                kind = qualify(kind, package, table)
                inline = ",inline" in tag or (go is None and json_name == "")
                always = "omitempty" not in tag and "omitzero" not in tag and not inline
                mark = "~" if "omitzero" in tag else "" if not always else "^" if optional else "!"
                go = go or kind.split(".")[-1].lstrip("*")
                if required and not always and not inline:
                    demanded.append((f"{package}.{name}", json_name))
                number = re.search(r'protobuf:"\w+,(\d+),', tags)
                number = int(number[1]) if number else None
                fields.append((f"{'~' if inline else json_name} {go} {kind}{mark}{patch(tags)}", number))
                optional = required = False
        structs[f"{package}.{name}"] = fields
    for name, kind in re.findall(r"^type (\w+) ([\w.\[\]]+)$", text, re.M):
        if kind not in ("struct",):
            scalars[f"{package}.{name}"] = qualify(kind, package, table)


def names_in(kind):
    return re.findall(r"[a-z]\w*\.[A-Z]\w*", kind)


def reachable(todo, structs, scalars):
    used, todo = set(), list(todo)
    while todo:
        name = todo.pop()
        if name in used:
            continue
        used.add(name)
        for field in structs.get(name, []):
            todo.extend(names_in(field[0].split(" ")[2]))
        if name in scalars:
            todo.extend(names_in(scalars[name]))
    return used


# Fields that k8s-openapi requires because they have a default.
DEFAULTED = {("v1.LocalObjectReference", "name")}
HEAD = """\
# Facts about Kubernetes' types that its OpenAPI document, and so the crate k8s-openapi, does not have. Written by tests/tools/go_types.py from
# the Go types of REVISION (k8s.io/api, apiextensions-apiserver, kube-aggregator and apimachinery); build/types.rs says how it is read.
#
# A line is a struct with its fields in the order of the Go source, each as [*]name[/number][:GoName][=type][mark][&strategy[:key]]:
#   *        pointer
#   /number  number in protobuf, where it is not the one after the field before
#   :GoName  name in Go, where it is not the JSON name with another first letter
#   =type    named type of a text, or of the elements or keys of a list or map; without a package, of the struct's package
#   ?        left out when empty, though required: +required with omitempty
#   ^        written when empty, though optional: +optional without omitempty
#   ~        left out when zero, a struct too: omitzero
#   -        optional, though k8s-openapi requires it: +default
#   !        required: metadata, which k8s-openapi requires of every kind
#   &        patchStrategy and patchMergeKey
#   ~Struct  inlined struct
# A line with a bar is an enum: a type and its values, each after a tab."""


def compact(name, field, number, demanded, scalars):
    """A field of `parse` without what OpenAPI has: the type, unless it is a named one, and whether it is required."""
    package = name.split(".")[0]
    json_name, go, kind = field.split(" ")
    pointer, kind, mark, patch = re.match(r"(\*?)(.*?)([!^~]?)(?:&(.*))?$", kind).groups()
    own = re.sub(rf"\b{package}\.", "", kind)
    if json_name == "~":
        return "~" + own + number
    word = pointer + json_name + number
    if go != json_name[:1].upper() + json_name[1:] and kind != "metav1.ObjectMeta":
        word += ":" + go
    if any(part in scalars for part in names_in(kind)):
        word += "=" + own
    if (name, json_name) in DEFAULTED:
        mark = "-"
    elif (name, json_name) in demanded:
        mark = "?"
    elif mark == "!" and kind != "metav1.ObjectMeta":
        mark = ""
    return word + mark + ("&" + patch.rstrip(":") if patch else "")


def main():
    revision, *checkouts = sys.argv[1:]
    structs, scalars, demanded, values = {}, dict(SCALARS), [], {}
    for found in PACKAGES:
        KNOWN.update(found)
    for checkout, found in zip(checkouts, PACKAGES):
        for path, package in found.items():
            for text in source(checkout, revision, path):
                parse(text, package, structs, scalars, demanded)
                enums(text, package, values)
    used = reachable([f"{package}.{kind}" for package, kinds in KINDS.items() for kind in kinds.split()], structs, scalars)
    print(HEAD.replace("REVISION", revision))
    for name in sorted(used & structs.keys()):
        words, last = [name], 0
        for field, number in structs[name]:
            shown = "" if number in (None, last + 1) else f"/{number}"
            last = number or last
            words.append(compact(name, field, shown, demanded, scalars))
        print(*words)
    for name in sorted(used & values.keys()):
        print("\t".join([f"|{name}", *values[name]]))


main()
