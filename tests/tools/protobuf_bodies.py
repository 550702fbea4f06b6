#!/usr/bin/env python3
"""Writes tests/data/serve/protobuf.txt: bodies as client-go sends them, encoded by Google's protobuf from Kubernetes' generated.proto.

    pip install grpcio-tools; generated.proto of k8s.io/{api,apimachinery,apiextensions-apiserver,kube-aggregator} below PROTO/k8s.io,
    each without its go_package; python3 -m grpc_tools.protoc -I PROTO --python_out OUT (all of them)
    tests/tools/protobuf_bodies.py OUT > tests/data/serve/protobuf.txt

A line is the path of the collection, and the body in hexadecimal digits.
"""
import importlib
import sys

sys.path.insert(0, sys.argv[1])


def messages(package):
    return importlib.import_module(f"k8s.io.{package}.generated_pb2")


meta, runtime = messages("apimachinery.pkg.apis.meta.v1"), messages("apimachinery.pkg.runtime")
core, events, admission = messages("api.core.v1"), messages("api.events.v1"), messages("api.admissionregistration.v1")
extensions = messages("apiextensions_apiserver.pkg.apis.apiextensions.v1")
aggregation = messages("kube_aggregator.pkg.apis.apiregistration.v1")


def write(path, version, kind, message):
    envelope = runtime.Unknown(typeMeta=runtime.TypeMeta(apiVersion=version, kind=kind), raw=message.SerializeToString())
    print(path, (b"k8s\0" + envelope.SerializeToString()).hex())


def schema(**fields):
    return extensions.JSONSchemaProps(**fields)


def raw(text):
    return extensions.JSON(raw=text.encode())


oars = schema(type="integer", minimum=1, maximum=8.5, default=raw("2"), description="how many")
names = schema(type="array", items=extensions.JSONSchemaPropsOrArray(schema=schema(type="string", enum=[raw('"a"'), raw('"b"')])))
names.xKubernetesListType = "set"
labels = schema(type="object", additionalProperties=extensions.JSONSchemaPropsOrBool(schema=schema(type="string", nullable=True)))
spec = schema(type="object", required=["oars"], properties={"oars": oars, "names": names, "labels": labels})
spec.xKubernetesValidations.append(extensions.ValidationRule(rule="self.oars > 1", message="too few"))
free = schema(type="object", xKubernetesPreserveUnknownFields=True)
root = schema(type="object", properties={"spec": spec, "status": free})
version = extensions.CustomResourceDefinitionVersion(name="v1", served=True, storage=True)
version.schema.openAPIV3Schema.CopyFrom(root)
version.subresources.status.SetInParent()
version.subresources.scale.specReplicasPath = ".spec.oars"
version.subresources.scale.statusReplicasPath = ".status.oars"
version.additionalPrinterColumns.append(
    extensions.CustomResourceColumnDefinition(name="Oars", type="integer", jsonPath=".spec.oars", priority=1))
version.selectableFields.append(extensions.SelectableField(jsonPath=".spec.oars"))
definition = extensions.CustomResourceDefinition(metadata=meta.ObjectMeta(name="boats.example.com", labels={"a": "b"}))
definition.spec.group, definition.spec.scope = "example.com", "Namespaced"
definition.spec.names.plural, definition.spec.names.kind = "boats", "Boat"
definition.spec.names.shortNames.append("bt")
definition.spec.versions.append(version)
write("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "apiextensions.k8s.io/v1", "CustomResourceDefinition", definition)

service = aggregation.APIService(metadata=meta.ObjectMeta(name="v1.example.org"))
service.spec.group, service.spec.version = "example.org", "v1"
service.spec.groupPriorityMinimum, service.spec.versionPriority, service.spec.caBundle = 1000, 15, b"CA"
service.spec.service.namespace, service.spec.service.name, service.spec.service.port = "far", "api", 8443
write("/apis/apiregistration.k8s.io/v1/apiservices", "apiregistration.k8s.io/v1", "APIService", service)

event = events.Event(metadata=meta.ObjectMeta(name="sunk", namespace="default"), reason="Sunk", note="it sank", type="Warning",
                     action="Sinking", reportingController="example.com/boats", reportingInstance="boats-0")
event.eventTime.seconds, event.eventTime.nanos = 1_700_000_000, 250_000_000
event.regarding.kind, event.regarding.name, event.regarding.namespace = "Pod", "one", "default"
event.series.count, event.series.lastObservedTime.seconds = 2, 1_700_000_060
write("/apis/events.k8s.io/v1/namespaces/default/events", "events.k8s.io/v1", "Event", event)


def rule(operations, resources, **more):
    return admission.RuleWithOperations(operations=operations, rule=admission.Rule(
        apiGroups=["example.com"], apiVersions=["*"], resources=resources, **more))


def hook(kind):
    one = kind(name="a.boats.example.com", rules=[rule(["CREATE"], ["boats"], scope="Namespaced")], sideEffects="None",
               failurePolicy="Ignore", timeoutSeconds=3, admissionReviewVersions=["v1"])
    one.clientConfig.service.namespace, one.clientConfig.service.name, one.clientConfig.service.path = "far", "hook", "/judge"
    one.clientConfig.caBundle = b"CA"
    one.namespaceSelector.matchLabels["judged"] = "yes"
    one.matchConditions.append(admission.MatchCondition(name="deep", expression="object.spec.oars > 2"))
    return one


for kind, inner in [("ValidatingWebhookConfiguration", admission.ValidatingWebhook), ("MutatingWebhookConfiguration", admission.MutatingWebhook)]:
    whole = getattr(admission, kind)(metadata=meta.ObjectMeta(name="boats"))
    whole.Webhooks.append(hook(inner))
    write(f"/apis/admissionregistration.k8s.io/v1/{kind.lower()}s", "admissionregistration.k8s.io/v1", kind, whole)

policy = admission.ValidatingAdmissionPolicy(metadata=meta.ObjectMeta(name="boats"))
policy.spec.failurePolicy = "Fail"
named = admission.NamedRuleWithOperations(resourceNames=["one"], ruleWithOperations=rule(["CREATE", "UPDATE"], ["boats"]))
policy.spec.matchConstraints.resourceRules.append(named)
policy.spec.validations.append(admission.Validation(Expression="object.spec.oars < 9", message="too many", reason="Forbidden"))
policy.spec.variables.append(admission.Variable(Name="oars", Expression="object.spec.oars"))
policy.spec.auditAnnotations.append(admission.AuditAnnotation(key="oars", valueExpression="string(object.spec.oars)"))
write("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", policy)

binding = admission.ValidatingAdmissionPolicyBinding(metadata=meta.ObjectMeta(name="boats"))
binding.spec.policyName = "boats"
binding.spec.validationActions.extend(["Deny", "Audit"])
binding.spec.matchResources.objectSelector.matchLabels["deep"] = "sea"
write("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings", "admissionregistration.k8s.io/v1",
      "ValidatingAdmissionPolicyBinding", binding)
