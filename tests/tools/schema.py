#!/usr/bin/env python3
"""Writes crates/k8s-model/src/schema.txt, or crates/k8s-model/src/openapi.txt, from the Go types of a checkout of k8s.io/api; for the latter also of
k8s.io/apiextensions-apiserver and k8s.io/kube-aggregator.

    git clone https://github.com/kubernetes/api API
    tests/tools/schema.py v0.36.2 API > crates/k8s-model/src/schema.txt
    tests/tools/schema.py v0.36.2 API APIEXTENSIONS AGGREGATOR > crates/k8s-model/src/openapi.txt

The table keeps only what strict decoding and the template hash need: per struct its fields in the
order of the Go source, with their JSON and Go names and types. A type is followed by `!` when the field
is required, `^` when it is optional but always written, `~` when a zero struct is left out; the others
are left out when they are empty. After `&` stand the patch strategy and the merge key.

The second table has in the same form what only OpenAPI needs: the kinds that are stored as they come and their structs; after `!` a
struct and a field of it that is required although it may be left out; after `|` a type and its values, each after a tab.
"""
import re
import subprocess
import sys

# package of the checkout -> prefix of its type names in the table
PACKAGES = {
    "core/v1": "v1", "apps/v1": "appsv1", "batch/v1": "batchv1", "autoscaling/v2": "autoscalingv2",
    "policy/v1": "policyv1", "storage/v1": "storagev1", "discovery/v1": "discoveryv1",
    "scheduling/v1": "schedulingv1", "networking/v1": "networkingv1", "coordination/v1": "coordinationv1",
}
KINDS = [
    ("v1", "v1", "Pod ReplicationController Service Endpoints PersistentVolume PersistentVolumeClaim Node "
                 "Namespace ServiceAccount ConfigMap Secret ResourceQuota LimitRange Event PodTemplate"),
    ("apps/v1", "appsv1", "Deployment ReplicaSet StatefulSet DaemonSet ControllerRevision"),
    ("batch/v1", "batchv1", "Job CronJob"),
    ("autoscaling/v2", "autoscalingv2", "HorizontalPodAutoscaler"),
    ("policy/v1", "policyv1", "PodDisruptionBudget"),
    ("storage.k8s.io/v1", "storagev1", "StorageClass"),
    ("discovery.k8s.io/v1", "discoveryv1", "EndpointSlice"),
    ("scheduling.k8s.io/v1", "schedulingv1", "PriorityClass"),
    ("networking.k8s.io/v1", "networkingv1", "Ingress NetworkPolicy"),
    ("coordination.k8s.io/v1", "coordinationv1", "Lease"),
]
# The same for the second table, by the checkout they are in.
OPENAPI_PACKAGES = [
    {"rbac/v1": "rbacv1", "node/v1": "nodev1", "admissionregistration/v1": "admissionregistrationv1", "certificates/v1": "certificatesv1",
     "flowcontrol/v1": "flowcontrolv1", "resource/v1": "resourcev1"},
    {"pkg/apis/apiextensions/v1": "apiextensionsv1"},
    {"pkg/apis/apiregistration/v1": "apiregistrationv1"},
]
OPENAPI_KINDS = [
    ("networking.k8s.io/v1", "networkingv1", "IngressClass IPAddress ServiceCIDR"),
    ("rbac.authorization.k8s.io/v1", "rbacv1", "Role RoleBinding ClusterRole ClusterRoleBinding"),
    ("storage.k8s.io/v1", "storagev1", "CSIDriver CSINode CSIStorageCapacity VolumeAttachment VolumeAttributesClass"),
    ("node.k8s.io/v1", "nodev1", "RuntimeClass"),
    ("apiextensions.k8s.io/v1", "apiextensionsv1", "CustomResourceDefinition"),
    ("apiregistration.k8s.io/v1", "apiregistrationv1", "APIService"),
    ("admissionregistration.k8s.io/v1", "admissionregistrationv1",
     "MutatingWebhookConfiguration ValidatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding "
     "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding"),
    ("certificates.k8s.io/v1", "certificatesv1", "CertificateSigningRequest"),
    ("flowcontrol.apiserver.k8s.io/v1", "flowcontrolv1", "FlowSchema PriorityLevelConfiguration"),
    ("resource.k8s.io/v1", "resourcev1", "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice"),
]
# Structs that are something else in JSON: a number or a text, or anything.
LEAVES = {"JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray"}
# Types of k8s.io/apimachinery that the checkout does not hold: (json, Go, type, required).
META = {
    "metav1.ObjectMeta": [
        "name Name string", "generateName GenerateName string", "namespace Namespace string",
        "selfLink SelfLink string", "uid UID types.UID", "resourceVersion ResourceVersion string",
        "generation Generation int64", "creationTimestamp CreationTimestamp metav1.Time~",
        "deletionTimestamp DeletionTimestamp *metav1.Time",
        "deletionGracePeriodSeconds DeletionGracePeriodSeconds *int64", "labels Labels map[string]string",
        "annotations Annotations map[string]string", "ownerReferences OwnerReferences []metav1.OwnerReference&merge:uid",
        "finalizers Finalizers []string&merge:", "managedFields ManagedFields []metav1.ManagedFieldsEntry"],
    "metav1.OwnerReference": [
        "apiVersion APIVersion string!", "kind Kind string!", "name Name string!", "uid UID types.UID!",
        "controller Controller *bool", "blockOwnerDeletion BlockOwnerDeletion *bool"],
    "metav1.ManagedFieldsEntry": [
        "manager Manager string", "operation Operation metav1.ManagedFieldsOperationType",
        "apiVersion APIVersion string", "time Time *metav1.Time", "fieldsType FieldsType string",
        "fieldsV1 FieldsV1 *metav1.FieldsV1", "subresource Subresource string"],
    "metav1.LabelSelector": [
        "matchLabels MatchLabels map[string]string",
        "matchExpressions MatchExpressions []metav1.LabelSelectorRequirement"],
    "metav1.LabelSelectorRequirement": [
        "key Key string!", "operator Operator metav1.LabelSelectorOperator!", "values Values []string"],
    "metav1.Condition": [
        "type Type string!", "status Status metav1.ConditionStatus!",
        "observedGeneration ObservedGeneration int64", "lastTransitionTime LastTransitionTime metav1.Time!",
        "reason Reason string!", "message Message string!"],
    "metav1.ListMeta": [
        "selfLink SelfLink string", "resourceVersion ResourceVersion string", "continue Continue string",
        "remainingItemCount RemainingItemCount *int64"],
    "metav1.TypeMeta": ["kind Kind string", "apiVersion APIVersion string"],
}
SCALARS = {
    "types.UID": "string", "metav1.ManagedFieldsOperationType": "string",
    "metav1.LabelSelectorOperator": "string", "metav1.ConditionStatus": "string", "metav1.StatusReason": "string",
}


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
                fields.append(f"{'~' if inline else json_name} {go} {kind}{mark}{patch(tags)}")
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
            todo.extend(names_in(field.split(" ")[2]))
        if name in scalars:
            todo.extend(names_in(scalars[name]))
    return used


def kinds_of(table):
    return [(version, name, f"{package}.{name}") for version, package, names in table for name in names.split()]


def show(kinds, used, structs, scalars):
    for kind in kinds:
        print("@" + " ".join(kind))
    for name in sorted(used):
        if name in scalars and name not in structs:
            print(f"={name} {scalars[name]}")
    for name in sorted(used):
        if name in structs:
            print(">" + name)
            for field in structs[name]:
                json_name, go, kind = field.split(" ")
                short = "" if go == json_name[:1].upper() + json_name[1:] else go
                print(f"{json_name} {kind}" + (f" {short}" if short else ""))
        elif name not in scalars:
            print("?" + name, file=sys.stderr)


def main():
    revision, *checkouts = sys.argv[1:]
    structs, scalars, demanded, values = dict(META), dict(SCALARS), [], {}
    packages = [{**PACKAGES, **OPENAPI_PACKAGES[0]}, *OPENAPI_PACKAGES[1:]] if len(checkouts) > 1 else [PACKAGES]
    for found in packages:
        KNOWN.update(found)
    for checkout, found in zip(checkouts, packages):
        for path, package in found.items():
            for text in source(checkout, revision, path):
                parse(text, package, structs, scalars, demanded)
                enums(text, package, values)
    kinds = kinds_of(KINDS)
    decoded = reachable(["v1.PodTemplateSpec", *(kind[2] for kind in kinds)], structs, scalars)
    print("# Written by tests/tools/schema.py from the types of " + revision + "; see crates/k8s-model/src/" +
          ("schema.rs." if len(checkouts) == 1 else "openapi.rs."))
    if len(checkouts) == 1:
        show(kinds, decoded, structs, scalars)
        return
    kinds = kinds_of(OPENAPI_KINDS)
    used = reachable([kind[2] for kind in kinds], structs, scalars)
    show(kinds, used - decoded, structs, scalars)
    for name, field in sorted(demanded):
        if name in used | decoded:
            print(f"!{name} {field}")
    for name in sorted(values):
        if name in used | decoded:
            print("\t".join([f"|{name}", *values[name]]))


main()
