//! Cases written by hand after upstream's validation code: no cluster has printed these words. What a cluster did print is in
//! `recorded.rs`.

use super::{play, words};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use serde_json::Value;

/// A manifest of one kind, and what is wrong with it.
type Case = (&'static str, &'static str);

fn refusal(manifest: &str) -> String {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let session = play(&mut sim, &words("apply -f -"), manifest);
    let text = format!("{}{}", session.stdout, session.stderr);
    let text = text
        .split_once(" is invalid: ")
        .map_or(text.as_str(), |(_, faults)| faults);
    text.lines()
        .map(|line| line.strip_prefix("* ").unwrap_or(line))
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" | ")
}

/// Every case is put into the frame in place of `@`; the words are those of upstream's validation.
fn told(frame: &str, cases: &[Case]) {
    let mut wrong = Vec::new();
    for (fault, expected) in cases {
        let printed = refusal(&frame.replace('@', fault));
        if printed != *expected {
            wrong.push(format!(
                "{fault}\n  expected: {expected}\n  printed:  {printed}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_of_roles_need_only_fit_into_a_path() {
    let role = |name: &str| {
        format!(
            "{{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {{name: {name:?}}}, rules: [{{apiGroups: [''], resources: [pods], verbs: [get]}}]}}"
        )
    };
    assert_eq!(
        refusal(&role("system:reader")),
        "clusterrole.rbac.authorization.k8s.io/system:reader created"
    );
    assert_eq!(
        refusal(&role("Team_A")),
        "clusterrole.rbac.authorization.k8s.io/Team_A created"
    );
    assert_eq!(
        refusal(&role("a/b")),
        "metadata.name: Invalid value: \"a/b\": may not contain '/'"
    );
    assert_eq!(
        refusal(&role("..")),
        "metadata.name: Invalid value: \"..\": may not be '..'"
    );
}

#[test]
fn containers_for_debugging_come_later() {
    let spec = "{containers: [{name: c, image: i}], ephemeralContainers: [{name: e, image: i}]}";
    let pod = format!("{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {spec}}}");
    assert_eq!(
        refusal(&pod),
        "spec.ephemeralContainers: Forbidden: cannot be set on create"
    );
    let set = format!(
        "{{apiVersion: apps/v1, kind: ReplicaSet, metadata: {{name: r}}, spec: {{selector: {{matchLabels: {{a: b}}}}, template: {{metadata: \
         {{labels: {{a: b}}}}, spec: {spec}}}}}}}"
    );
    assert_eq!(
        refusal(&set),
        "spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template"
    );
}

#[test]
fn restart_rules_are_looked_at() {
    told(
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i, @}]}}",
        &[
            (
                "restartPolicy: Sometimes",
                "spec.containers[0].restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \"Never\", \"OnFailure\"",
            ),
            (
                "restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [1]}}]",
                "spec.containers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used",
            ),
            (
                "restartPolicy: Never, restartPolicyRules: [{action: Stop}]",
                "spec.containers[0].restartPolicyRules[0].action: Unsupported value: \"Stop\": supported values: \"Restart\", \
                 \"RestartAllContainers\" | spec.containers[0].restartPolicyRules[0].exitCodes: Required value: must be specified",
            ),
            (
                "restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: Is, values: [1]}}]",
                "spec.containers[0].restartPolicyRules[0].exitCodes.operator: Unsupported value: \"Is\": supported values: \"In\", \"NotIn\"",
            ),
        ],
    );
    let rules = "{action: Restart, exitCodes: {operator: In, values: [1]}},".repeat(21);
    let pod = format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{containers: [{{name: c, image: i, restartPolicy: Never, restartPolicyRules: [{rules}]}}]}}}}"
    );
    assert_eq!(
        refusal(&pod),
        "spec.containers[0].restartPolicyRules: Too many: 21: must have at most 20 items"
    );
}

#[test]
fn comparing_tolerations_are_off_in_this_version() {
    told(
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {tolerations: [{key: a, operator: @, value: '5', effect: NoSchedule}], \
         containers: [{name: c, image: i}]}}",
        &[
            (
                "Gt",
                "spec.tolerations[0].operator: Unsupported value: \"Gt\": supported values: \"Equal\", \"Exists\"",
            ),
            ("Equal", "pod/p created"),
        ],
    );
}

#[test]
fn labels_of_a_template_are_named_without_its_metadata() {
    let value = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                 alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
                 '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    told(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: j, labels: {a: b}}, spec: {template: {metadata: {labels: {@}}, spec: {restartPolicy: Never, \
         containers: [{name: c, image: i}]}}}}",
        &[(
            "step: $ITEM",
            Box::leak(
                format!("spec.template.labels: Invalid value: \"$ITEM\": {value}").into_boxed_str(),
            ),
        )],
    );
}

#[test]
fn faults_of_containers_are_told() {
    told(
        "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {volumes: [{name: v, emptyDir: {}}], containers: [{name: c, image: i, @}]}}",
        &[
            (
                "terminationMessagePolicy: Log",
                "spec.containers[0].terminationMessagePolicy: Unsupported value: \"Log\": supported values: \"File\", \"FallbackToLogsOnError\"",
            ),
            (
                "imagePullPolicy: Sometimes",
                "spec.containers[0].imagePullPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \"IfNotPresent\", \"Never\"",
            ),
            (
                "envFrom: [{prefix: A}]",
                "spec.containers[0].envFrom: Invalid value: \"\": must specify one of: `configMapRef` or `secretRef`",
            ),
            (
                "envFrom: [{configMapRef: {name: a}, secretRef: {name: b}}]",
                "spec.containers[0].envFrom: Invalid value: \"\": may not have more than one field specified at a time",
            ),
            (
                "envFrom: [{configMapRef: {}}]",
                "spec.containers[0].envFrom[0].configMapRef.name: Required value",
            ),
            (
                "env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.nam}}}]",
                "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: \"metadata.nam\": error converting fieldPath: field label not supported: metadata.nam",
            ),
            (
                "env: [{name: A, valueFrom: {configMapKeyRef: {name: m}}}]",
                "spec.containers[0].env[0].valueFrom.configMapKeyRef.key: Required value",
            ),
            (
                "env: [{name: A, valueFrom: {secretKeyRef: {name: m, key: ..}}}]",
                "spec.containers[0].env[0].valueFrom.secretKeyRef.key: Invalid value: \"..\": must not be '..'",
            ),
            (
                "env: [{name: A, valueFrom: {resourceFieldRef: {containerName: c}}}]",
                "spec.containers[0].env[0].valueFrom.resourceFieldRef.resource: Required value",
            ),
            (
                "env: [{name: A, value: b, valueFrom: {configMapKeyRef: {name: m, key: k}}}]",
                "spec.containers[0].env[0].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty",
            ),
            (
                "env: [{value: b}]",
                "spec.containers[0].env[0].name: Required value",
            ),
            (
                "volumeMounts: [{name: w, mountPath: /a}]",
                "spec.containers[0].volumeMounts[0].name: Not found: \"w\"",
            ),
            (
                "volumeMounts: [{name: v, mountPath: /a}, {name: v, mountPath: /a}]",
                "spec.containers[0].volumeMounts[1].mountPath: Invalid value: \"/a\": must be unique",
            ),
            (
                "volumeMounts: [{name: v, mountPath: /a, subPath: /b}]",
                "spec.containers[0].volumeMounts.subPath: Invalid value: \"/b\": must be a relative path",
            ),
            (
                "volumeMounts: [{name: v, mountPath: /a, subPath: b/../c}]",
                "spec.containers[0].volumeMounts.subPath: Invalid value: \"b/../c\": must not contain '..'",
            ),
            (
                "volumeMounts: [{name: v, mountPath: /a, subPath: b, subPathExpr: c}]",
                "spec.containers[0].volumeMounts[0].subPathExpr: Invalid value: \"c\": subPathExpr and subPath are mutually exclusive",
            ),
            (
                "volumeDevices: [{name: w, devicePath: /a}]",
                "spec.containers[0].volumeDevices[0].name: Not found: \"w\"",
            ),
            (
                "lifecycle: {preStop: {}}",
                "spec.containers[0].lifecycle.preStop: Required value: must specify a handler type",
            ),
            (
                "lifecycle: {postStart: {exec: {}}}",
                "spec.containers[0].lifecycle.postStart.exec.command: Required value",
            ),
            (
                "lifecycle: {preStop: {sleep: {seconds: 31}}}",
                "spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)",
            ),
            (
                "lifecycle: {preStop: {httpGet: {port: 0}}}",
                "spec.containers[0].lifecycle.preStop.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive",
            ),
            (
                "livenessProbe: {exec: {command: [a]}, tcpSocket: {port: 1}}",
                "spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type",
            ),
            (
                "livenessProbe: {tcpSocket: {port: 1}, successThreshold: 2}",
                "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
            ),
            (
                "livenessProbe: {tcpSocket: {port: 1}, terminationGracePeriodSeconds: 0}",
                "spec.containers[0].livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0",
            ),
            (
                "readinessProbe: {tcpSocket: {port: 1}, terminationGracePeriodSeconds: 5}",
                "spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes",
            ),
            (
                "readinessProbe: {tcpSocket: {port: 1}, periodSeconds: -1}",
                "spec.containers[0].readinessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0",
            ),
            (
                "readinessProbe: {httpGet: {port: 1, scheme: FTP}}",
                "spec.containers[0].readinessProbe.httpGet.scheme: Unsupported value: \"FTP\": supported values: \"HTTP\", \"HTTPS\"",
            ),
            (
                "startupProbe: {grpc: {port: 70000}}",
                "spec.containers[0].startupProbe.grpc.port: Invalid value: 70000: must be between 1 and 65535, inclusive",
            ),
            (
                "ports: [{containerPort: 80, hostPort: 80}, {containerPort: 81, hostPort: 80}]",
                "spec.containers[0].ports[1].hostPort: Duplicate value: \"TCP//80\"",
            ),
            (
                "ports: [{name: a, containerPort: 80}, {name: a, containerPort: 81}]",
                "spec.containers[0].ports[1].name: Duplicate value: \"a\"",
            ),
            (
                "ports: [{}]",
                "spec.containers[0].ports[0].containerPort: Required value",
            ),
            (
                "securityContext: {runAsUser: -1}",
                "spec.containers[0].securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive",
            ),
            (
                "resources: {requests: {cpu: '-1'}}",
                "spec.containers[0].resources.requests[cpu]: Invalid value: \"-1\": must be greater than or equal to 0",
            ),
            (
                "resources: {limits: {gpu: 1}}",
                "spec.containers[0].resources.limits: Invalid value: \"gpu\": must be a standard resource type or fully qualified | spec.containers[0].resources.limits: Invalid value: \"gpu\": must be a standard resource for containers | spec.containers[0].resources.requests: Invalid value: \"gpu\": must be a standard resource type or fully qualified | spec.containers[0].resources.requests: Invalid value: \"gpu\": must be a standard resource for containers",
            ),
        ],
    );
}

#[test]
fn faults_of_pods_are_told() {
    told(
        "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: c, image: i, ports: [{containerPort: 80}]}], @}}",
        &[
            (
                "dnsPolicy: None",
                "spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None",
            ),
            (
                "dnsPolicy: None, dnsConfig: {searches: [a]}",
                "spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None",
            ),
            (
                "dnsConfig: {nameservers: [a]}",
                "spec.dnsConfig.nameservers[0]: Invalid value: \"a\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
            ),
            (
                "dnsConfig: {options: [{value: a}]}",
                "spec.dnsConfig.options[0]: Required value: must not be empty",
            ),
            (
                "dnsPolicy: Any",
                "spec.dnsPolicy: Unsupported value: \"Any\": supported values: \"ClusterFirstWithHostNet\", \"ClusterFirst\", \"Default\", \"None\"",
            ),
            (
                "activeDeadlineSeconds: 0",
                "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive",
            ),
            (
                "hostname: a.b",
                "spec.hostname: Invalid value: \"a.b\": must not contain dots",
            ),
            (
                "hostAliases: [{ip: 1.2.3, hostnames: [a]}]",
                "spec.hostAliases[0].ip: Invalid value: \"1.2.3\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
            ),
            (
                "schedulingGates: [{name: a}, {name: a}]",
                "spec.schedulingGates[1]: Duplicate value: \"a\"",
            ),
            // Admission precedes validation.
            (
                "preemptionPolicy: Sometimes",
                "Error from server (Forbidden): error when creating \"STDIN\": pods \"x\" is forbidden: the string value of PreemptionPolicy (Sometimes) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name",
            ),
            (
                "os: {name: beos}",
                "spec.os: Unsupported value: \"beos\": supported values: \"linux\", \"windows\"",
            ),
            (
                "securityContext: {fsGroup: -5}",
                "spec.securityContext.fsGroup: Invalid value: -5: must be between 0 and 2147483647, inclusive",
            ),
            (
                "tolerations: [{operator: Equal}]",
                "spec.tolerations[0].operator: Invalid value: \"Equal\": operator must be Exists when `key` is empty, which means \"match all values and all keys\"",
            ),
            (
                "tolerations: [{key: a, operator: Exists, value: b}]",
                "spec.tolerations[0].operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'",
            ),
            (
                "tolerations: [{key: a, operator: Exists, tolerationSeconds: 5}]",
                "spec.tolerations[0].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set",
            ),
            (
                "tolerations: [{key: a, operator: Exists, effect: Never}]",
                "spec.tolerations[0].effect: Unsupported value: \"Never\": supported values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\"",
            ),
            (
                "volumes: [{name: v, hostPath: {path: /a/../b}}]",
                "spec.volumes[0].hostPath.path: Invalid value: \"/a/../b\": must not contain '..'",
            ),
            (
                "volumes: [{name: v, hostPath: {path: /a, type: Pipe}}]",
                "spec.volumes[0].hostPath.type: Unsupported value: \"Pipe\": supported values: \"\", \"BlockDevice\", \"CharDevice\", \"Directory\", \"DirectoryOrCreate\", \"File\", \"FileOrCreate\", \"Socket\"",
            ),
            (
                "volumes: [{name: v, emptyDir: {sizeLimit: -1Gi}}]",
                "spec.volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity",
            ),
            (
                "volumes: [{name: v, nfs: {server: a, path: b}}]",
                "spec.volumes[0].nfs.path: Invalid value: \"b\": must be an absolute path",
            ),
            (
                "volumes: [{name: v, configMap: {name: a, defaultMode: 512}}]",
                "spec.volumes[0].configMap.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
            ),
            (
                "volumes: [{name: v, secret: {secretName: a, items: [{key: k, path: /p}]}}]",
                "spec.volumes[0].secret.items[0].path: Invalid value: \"/p\": must be a relative path",
            ),
            (
                "volumes: [{name: v, configMap: {name: a, items: [{path: p}]}}]",
                "spec.volumes[0].configMap.items[0].key: Required value",
            ),
            (
                "volumes: [{name: v, secret: {}}]",
                "spec.volumes[0].secret.secretName: Required value",
            ),
            (
                "volumes: [{name: v, emptyDir: {}}, {name: v, emptyDir: {}}]",
                "spec.volumes[1].name: Duplicate value: \"v\"",
            ),
            (
                "initContainers: [{name: c, image: i}]",
                "spec.initContainers[0].name: Duplicate value: \"c\"",
            ),
            (
                "initContainers: [{name: a, image: i, lifecycle: {preStop: {exec: {command: [a]}}}}]",
                "spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always",
            ),
            (
                "initContainers: [{name: a, image: i, readinessProbe: {exec: {command: [a]}}}]",
                "spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
            ),
            (
                "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}",
                "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term",
            ),
            (
                "affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, podAffinityTerm: {topologyKey: a}}]}}",
                "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100",
            ),
            (
                "topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: Never}]",
                "spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: \"Never\": supported values: \"DoNotSchedule\", \"ScheduleAnyway\"",
            ),
        ],
    );
}

#[test]
fn faults_of_services_are_told() {
    told(
        "{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {ports: [{name: a, port: 80}], @}}",
        &[
            (
                "type: ExternalName, externalName: a, clusterIP: 10.96.0.9",
                "spec.clusterIPs: Forbidden: may not be set for ExternalName services",
            ),
            (
                "type: NodePort, clusterIP: None",
                "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services",
            ),
            (
                "sessionAffinity: Cookie",
                "spec.sessionAffinity: Unsupported value: \"Cookie\": supported values: \"ClientIP\", \"None\"",
            ),
            (
                "sessionAffinityConfig: {clientIP: {timeoutSeconds: 5}}",
                "spec.sessionAffinityConfig: Forbidden: must not be set when session affinity is None",
            ),
            (
                "sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 0}}",
                "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0 and less than 86400",
            ),
            (
                "externalIPs: [here]",
                "spec.externalIPs[0]: Invalid value: \"here\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
            ),
            (
                "externalTrafficPolicy: Local",
                "spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set for externally-accessible services",
            ),
            (
                "type: NodePort, externalTrafficPolicy: Far",
                "spec.externalTrafficPolicy: Unsupported value: \"Far\": supported values: \"Cluster\", \"Local\"",
            ),
            (
                "internalTrafficPolicy: Far",
                "spec.internalTrafficPolicy: Unsupported value: \"Far\": supported values: \"Cluster\", \"Local\"",
            ),
            (
                "healthCheckNodePort: 30001",
                "spec.healthCheckNodePort: Invalid value: 30001: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
            ),
            (
                "loadBalancerSourceRanges: [10.0.0.0/8]",
                "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
            ),
            (
                "allocateLoadBalancerNodePorts: true",
                "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'",
            ),
            (
                "loadBalancerClass: a.b/c",
                "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
            ),
            (
                "selector: {a: '-'}",
                "spec.selector: Invalid value: \"-\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
            ),
        ],
    );
    told(
        "{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {type: NodePort, ports: [{name: a, port: 80}, @]}}",
        &[
            (
                "{name: a, port: 81}",
                "spec.ports[1].name: Duplicate value: \"a\"",
            ),
            (
                "{name: b, port: 81, targetPort: UP}",
                "spec.ports[1].targetPort: Invalid value: \"UP\": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-) | spec.ports[1].targetPort: Invalid value: \"UP\": must contain at least one letter (a-z)",
            ),
            (
                "{name: b, port: 81, nodePort: 80}",
                "spec.ports[1].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767",
            ),
            (
                "{name: b, port: 81, nodePort: 30001}, {name: c, port: 82, nodePort: 30001}",
                "spec.ports[2].nodePort: Duplicate value: 30001",
            ),
            (
                "{name: b, port: 81, protocol: HTTP}",
                "spec.ports[1].protocol: Unsupported value: \"HTTP\": supported values: \"SCTP\", \"TCP\", \"UDP\"",
            ),
        ],
    );
}

#[test]
fn faults_of_autoscalers_and_budgets_are_told() {
    told(
        "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: x}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, @}}",
        &[
            (
                "minReplicas: -1",
                "spec.minReplicas: Invalid value: -1: must be greater than or equal to 1",
            ),
            (
                "metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization}}}]",
                "spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization",
            ),
            (
                "metrics: [{type: Resource, resource: {name: cpu, target: {type: Half, averageUtilization: 5}}}]",
                "spec.metrics[0].resource.target.type: Invalid value: \"Half\": must be either Utilization, Value, or AverageValue",
            ),
            (
                "metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 0}}}]",
                "spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0",
            ),
            (
                "metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 5, averageValue: 1}}}]",
                "spec.metrics[0].resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization",
            ),
            (
                "metrics: [{type: Resource, resource: {target: {type: Utilization, averageUtilization: 5}}}]",
                "spec.metrics[0].resource.name: Required value: must specify a resource name",
            ),
            (
                "metrics: [{type: ContainerResource, containerResource: {name: cpu, target: {type: Utilization, averageUtilization: 5}}}]",
                "spec.metrics[0].containerResource.container: Required value: must specify a container",
            ),
            (
                "metrics: [{type: Pods, pods: {metric: {}, target: {type: AverageValue, averageValue: 1}}}]",
                "spec.metrics[0].pods.metric.name: Required value: must specify a metric name",
            ),
            (
                "metrics: [{type: Resource}]",
                "spec.metrics[0].resource: Required value: must populate information for the given metric source",
            ),
            (
                "behavior: {scaleUp: {stabilizationWindowSeconds: 4000}}",
                "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 4000: must be less than or equal to 3600",
            ),
            (
                "behavior: {scaleDown: {stabilizationWindowSeconds: -1}}",
                "spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero",
            ),
            (
                "behavior: {scaleDown: {selectPolicy: Some}}",
                "spec.behavior.scaleDown.selectPolicy: Unsupported value: \"Some\": supported values: \"Disabled\", \"Max\", \"Min\"",
            ),
            (
                "behavior: {scaleUp: {policies: [{type: Nodes, value: 1, periodSeconds: 5}]}}",
                "spec.behavior.scaleUp.policies[0].type: Unsupported value: \"Nodes\": supported values: \"Percent\", \"Pods\"",
            ),
            (
                "behavior: {scaleUp: {policies: [{type: Pods, value: 0, periodSeconds: 5}]}}",
                "spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero",
            ),
            (
                "behavior: {scaleUp: {policies: [{type: Pods, value: 1, periodSeconds: 2000}]}}",
                "spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 2000: must be less than or equal to 1800",
            ),
        ],
    );
    told(
        "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: x}, spec: {selector: {matchLabels: {a: b}}, @}}",
        &[
            (
                "minAvailable: 101%",
                "spec.minAvailable: Invalid value: \"101%\": must not be greater than 100%",
            ),
            (
                "maxUnavailable: half",
                "spec.maxUnavailable: Invalid value: \"half\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
            ),
            (
                "unhealthyPodEvictionPolicy: Never",
                "spec.unhealthyPodEvictionPolicy: Unsupported value: \"Never\": supported values: \"AlwaysAllow\", \"IfHealthyBudget\"",
            ),
        ],
    );
}

#[test]
fn faults_of_limits_and_classes_are_told() {
    told(
        "{apiVersion: v1, kind: LimitRange, metadata: {name: x}, spec: {limits: [@]}}",
        &[
            (
                "{type: Pod, min: {cpu: '2'}, max: {cpu: '1'}}",
                "spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is greater than max value 1",
            ),
            (
                "{type: Container, defaultRequest: {cpu: '2'}, default: {cpu: '1'}}",
                "spec.limits[0].defaultRequest[cpu]: Invalid value: \"2\": default request value 2 is greater than default limit value 1",
            ),
            (
                "{type: Container, min: {cpu: '2'}, defaultRequest: {cpu: '1'}}",
                "spec.limits[0].defaultRequest[cpu]: Invalid value: \"1\": min value 2 is greater than default request value 1",
            ),
            (
                "{type: Pod, default: {cpu: '1'}}",
                "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
            ),
            (
                "{type: Pod, max: {cpu: '1'}}, {type: Pod, max: {cpu: '2'}}",
                "spec.limits[1].type: Duplicate value: \"Pod\"",
            ),
        ],
    );
    told(
        "{apiVersion: v1, kind: ResourceQuota, metadata: {name: x}, spec: {hard: {@}}}",
        &[
            (
                "gpus: 1",
                "spec.hard[gpus]: Invalid value: \"gpus\": must be a standard resource type or fully qualified | spec.hard[gpus]: Invalid value: \"gpus\": must be a standard resource for quota",
            ),
            (
                "pods: 1500m",
                "spec.hard[pods]: Invalid value: \"1500m\": must be an integer",
            ),
            (
                "pods: '-1'",
                "spec.hard[pods]: Invalid value: \"-1\": must be greater than or equal to 0",
            ),
        ],
    );
    told(
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: x}, @}",
        &[
            (
                "value: 1000000001",
                "value: Forbidden: maximum allowed value of a user defined priority is 1000000000",
            ),
            (
                "value: 1, preemptionPolicy: Ask",
                "preemptionPolicy: Unsupported value: \"Ask\": supported values: \"PreemptLowerPriority\", \"Never\"",
            ),
        ],
    );
}

#[test]
fn faults_of_ingresses_and_policies_are_told() {
    told(
        "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: x}, spec: {@}}",
        &[
            (
                "ingressClassName: a",
                "spec: Invalid value: null: either `defaultBackend` or `rules` must be specified",
            ),
            (
                "defaultBackend: {service: {name: a}}",
                "spec.defaultBackend: Required value: port name or number is required",
            ),
            (
                "defaultBackend: {}",
                "spec.defaultBackend: Invalid value: \"\": resource or service backend is required",
            ),
            (
                "rules: [{host: 1.2.3.4}]",
                "spec.rules[0].host: Invalid value: \"1.2.3.4\": must be a DNS name, not an IP address",
            ),
            (
                "rules: [{http: {paths: []}}]",
                "spec.rules[0].http.paths: Required value",
            ),
            (
                "rules: [{http: {paths: [{path: /, backend: {service: {name: a, port: {number: 80}}}}]}}]",
                "spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified",
            ),
            (
                "rules: [{http: {paths: [{path: a, pathType: Prefix, backend: {service: {name: a, port: {number: 80}}}}]}}]",
                "spec.rules[0].http.paths[0].path: Invalid value: \"a\": must be an absolute path",
            ),
            (
                "rules: [{http: {paths: [{path: /, pathType: Regex, backend: {service: {name: a, port: {number: 80}}}}]}}]",
                "spec.rules[0].http.paths[0].pathType: Unsupported value: \"Regex\": supported values: \"Exact\", \"ImplementationSpecific\", \"Prefix\"",
            ),
            (
                "rules: [{http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: a, port: {number: 80, name: b}}}}]}}]",
                "spec.rules[0].http.paths[0].backend: Invalid value: \"\": cannot set both port name & port number",
            ),
        ],
    );
    told(
        "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: x}, spec: {podSelector: {}, @}}",
        &[
            (
                "ingress: [{from: [{}]}]",
                "spec.ingress[0].from[0]: Required value: must specify a peer",
            ),
            (
                "ingress: [{from: [{podSelector: {}, ipBlock: {cidr: 10.0.0.0/8}}]}]",
                "spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer",
            ),
            (
                "policyTypes: [In]",
                "spec.policyTypes[0]: Unsupported value: \"In\": supported values: \"Ingress\", \"Egress\"",
            ),
        ],
    );
}

#[test]
fn what_is_applied_anew_is_decoded_as_strictly() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let manifest =
        "{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {ports: [{port: 80}]}}";
    play(&mut sim, &words("apply -f -"), manifest);
    let session = play(
        &mut sim,
        &words("apply -f -"),
        &manifest.replace("port: 80", "port: 80, portt: 1"),
    );
    assert!(
        session
            .stderr
            .contains("The request is invalid: patch: Invalid value: \"map["),
        "{}",
        session.stderr
    );
    assert!(
        session
            .stderr
            .contains("strict decoding error: unknown field \"spec.ports[0].portt\""),
        "{}",
        session.stderr
    );
}

#[test]
fn networks_that_are_none_are_told() {
    told(
        "{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {type: LoadBalancer, ports: [{port: 80}], @}}",
        &[
            (
                "loadBalancerSourceRanges: [10.0.0.1]",
                "spec.LoadBalancerSourceRanges[0]: Invalid value: \"10.0.0.1\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
            ),
            (
                "loadBalancerSourceRanges: [10.0.0.0/8, 10.0.0.0/33]",
                "spec.LoadBalancerSourceRanges[1]: Invalid value: \"10.0.0.0/33\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
            ),
            (
                "trafficDistribution: Near",
                "spec.trafficDistribution: Unsupported value: \"Near\": supported values: \"PreferClose\", \"PreferSameZone\", \"PreferSameNode\"",
            ),
            (
                "ipFamilies: [IPv6]",
                "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster",
            ),
            (
                "ipFamilyPolicy: RequireDualStack",
                "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured for dual-stack services",
            ),
            ("ipFamilyPolicy: PreferDualStack", "service/x created"),
        ],
    );
    told(
        "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: x}, spec: {podSelector: {}, ingress: [{from: [{ipBlock: {@}}]}]}}",
        &[
            (
                "except: [10.0.0.0/8]",
                "spec.ingress[0].from[0].ipBlock.cidr: Required value",
            ),
            (
                "cidr: 10.0.0.0",
                "spec.ingress[0].from[0].ipBlock.cidr: Invalid value: \"10.0.0.0\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
            ),
            (
                "cidr: 10.0.0.0/8, except: [11.0.0.0/16]",
                "spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: \"11.0.0.0/16\": must be a strict subset of `cidr`",
            ),
            (
                "cidr: 10.0.0.0/8, except: [10.0.0.0/8]",
                "spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: \"10.0.0.0/8\": must be a strict subset of `cidr`",
            ),
            (
                "cidr: '2001:db8::/32', except: ['2001:db8:1::/48']",
                "networkpolicy.networking.k8s.io/x created",
            ),
        ],
    );
}

#[test]
fn faults_of_systems_and_of_what_containers_share_are_told() {
    told(
        "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {@}}",
        &[
            (
                "hostUsers: false, hostPID: true, hostIPC: true, containers: [{name: c, image: i}]",
                "spec.hostPID: Forbidden: when `hostUsers` is false | spec.hostIPC: Forbidden: when `hostUsers` is false",
            ),
            (
                "os: {name: windows}, hostPID: true, securityContext: {runAsUser: 1}, containers: [{name: c, image: i, securityContext: {privileged: true}}]",
                "spec.hostPID: Forbidden: cannot be set for a windows pod | spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod | \
                 spec.containers[0].securityContext.privileged: Forbidden: cannot be set for a windows pod",
            ),
            (
                "os: {name: linux}, securityContext: {windowsOptions: {runAsUserName: a}}, containers: [{name: c, image: i}]",
                "spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod",
            ),
            (
                "containers: [{name: c, image: i, securityContext: {windowsOptions: {hostProcess: true}}}, {name: d, image: i}]",
                "spec: Invalid value: \"\": If pod contains any hostProcess containers then all containers must be HostProcess containers | \
                 spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers",
            ),
            (
                "resources: {requests: {cpu: 1, ephemeral-storage: 1Gi}}, containers: [{name: c, image: i, resources: {requests: {cpu: 1500m}}}]",
                "spec.resources.requests[ephemeral-storage]: Unsupported value: \"ephemeral-storage\": supported values: \"cpu\", \"hugepages-\", \"memory\" | \
                 spec.resources.requests[cpu]: Invalid value: \"1\": must be greater than or equal to aggregate container requests of 1500m",
            ),
            (
                "resources: {requests: {cpu: 2}, limits: {cpu: 1}}, containers: [{name: c, image: i}]",
                "spec.resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1",
            ),
            (
                "resources: {limits: {memory: 1Gi}}, containers: [{name: c, image: i, resources: {limits: {memory: 2Gi}, requests: {memory: 1Mi}}}]",
                "spec.resources.containers[0][memory].limits: Invalid value: \"2Gi\": must be less than or equal to pod limits of 1Gi",
            ),
        ],
    );
}

#[test]
fn faults_of_rights_and_of_what_devices_offer_are_told() {
    told(
        "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {volumes: [{name: v, emptyDir: {}}], containers: [{name: c, image: i, @}]}}",
        &[
            (
                "securityContext: {privileged: true, allowPrivilegeEscalation: false}",
                "spec.containers[0].securityContext: Invalid value: {\"Capabilities\":null,\"Privileged\":true,\"SELinuxOptions\":null,\
                 \"WindowsOptions\":null,\"RunAsUser\":null,\"RunAsGroup\":null,\"RunAsNonRoot\":null,\"ReadOnlyRootFilesystem\":null,\
                 \"AllowPrivilegeEscalation\":false,\"ProcMount\":null,\"SeccompProfile\":null,\"AppArmorProfile\":null}: cannot set \
                 `allowPrivilegeEscalation` to false and `privileged` to true",
            ),
            (
                "securityContext: {privileged: true, allowPrivilegeEscalation: true}",
                "pod/x created",
            ),
            (
                "securityContext: {seccompProfile: {}}",
                "spec.containers[0].securityContext.seccompProfile.type: Required value: type is required when seccompProfile is set",
            ),
            (
                "securityContext: {seccompProfile: {type: Default}}",
                "spec.containers[0].securityContext.seccompProfile.type: Unsupported value: \"Default\": supported values: \"Localhost\", \
                 \"RuntimeDefault\", \"Unconfined\"",
            ),
            (
                "securityContext: {seccompProfile: {type: Localhost}}",
                "spec.containers[0].securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost",
            ),
            (
                "securityContext: {seccompProfile: {type: Localhost, localhostProfile: /a}}",
                "spec.containers[0].securityContext.seccompProfile.localhostProfile: Invalid value: \"/a\": must be a relative path",
            ),
            (
                "resources: {requests: {nvidia.com/gpu: 1}}",
                "spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources",
            ),
            (
                "resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}}",
                "spec.containers[0].resources.requests: Invalid value: \"1\": must be equal to nvidia.com/gpu limit of 2",
            ),
            (
                "resources: {limits: {nvidia.com/gpu: 500m}}",
                "spec.containers[0].resources.limits[nvidia.com/gpu]: Invalid value: \"500m\": must be an integer | \
                 spec.containers[0].resources.requests[nvidia.com/gpu]: Invalid value: \"500m\": must be an integer",
            ),
            ("resources: {limits: {nvidia.com/gpu: 1}}", "pod/x created"),
            ("resources: {requests: {cpu: 500m}}", "pod/x created"),
            (
                "volumeMounts: [{name: v, mountPath: /a, mountPropagation: Bidirectional}]",
                "spec.containers[0].volumeMounts[0].mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers",
            ),
            (
                "volumeMounts: [{name: v, mountPath: /a, mountPropagation: Both}]",
                "spec.containers[0].volumeMounts[0].mountPropagation: Unsupported value: \"Both\": supported values: \"Bidirectional\", \
                 \"HostToContainer\", \"None\"",
            ),
            (
                "volumeMounts: [{name: v, mountPath: /a, mountPropagation: Bidirectional}], securityContext: {privileged: true}",
                "pod/x created",
            ),
        ],
    );
}

#[test]
fn faults_of_placement_are_told() {
    let required = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: \
                    [{key: a, operator: In, values: [b c]}]}]}}}";
    let value = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                 alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
                 '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    let at = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values[0]";
    told(
        "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: c, image: i}], @}}",
        &[
            (
                required,
                Box::leak(format!("{at}: Invalid value: \"b c\": {value}").into_boxed_str()),
            ),
            (
                "topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, topologyKey: a, \
                 whenUnsatisfiable: DoNotSchedule}]",
                "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: \"{a, DoNotSchedule}\"",
            ),
            (
                "topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]",
                "spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not \
                 ScheduleAnyway",
            ),
            (
                "topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Skip}]",
                "spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: \"Skip\": supported values: \"Honor\", \"Ignore\"",
            ),
            (
                "topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [pod-template-hash]}]",
                "spec.topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
            ),
            (
                "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, mismatchLabelKeys: [b]}]}}",
                "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].mismatchLabelKeys: Forbidden: must not be specified \
                 when labelSelector is not set",
            ),
            (
                "activeDeadlineSeconds: 3000000000",
                "spec.activeDeadlineSeconds: Invalid value: 3000000000: must be between 1 and 2147483647, inclusive",
            ),
            (
                "securityContext: {supplementalGroups: [1, -1]}",
                "spec.securityContext.supplementalGroups[1]: Invalid value: -1: must be between 0 and 2147483647, inclusive",
            ),
        ],
    );
}

#[test]
fn faults_of_secrets_metrics_and_jobs_are_told() {
    told(
        "{apiVersion: v1, kind: Secret, metadata: {name: x}, @}",
        &[
            (
                "type: kubernetes.io/tls, stringData: {tls.crt: a}",
                "data[tls.key]: Required value",
            ),
            (
                "type: kubernetes.io/tls",
                "data[tls.crt]: Required value | data[tls.key]: Required value",
            ),
            (
                "type: kubernetes.io/dockerconfigjson",
                "data[.dockerconfigjson]: Required value",
            ),
            (
                "type: kubernetes.io/service-account-token",
                "metadata.annotations[kubernetes.io/service-account.name]: Required value",
            ),
            ("type: my/own", "secret/x created"),
        ],
    );
    told(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, @}",
        &[(
            "data: {a: b}, binaryData: {a: Yg==}",
            "data[a]: Invalid value: \"a\": duplicate of key present in binaryData",
        )],
    );
    told(
        "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: x}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, \
         maxReplicas: 3, metrics: [@]}}",
        &[
            (
                "{type: Pods, pods: {metric: {name: m}, target: {type: Value, value: 1}}}",
                "spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue",
            ),
            (
                "{type: Object, object: {metric: {name: m}, describedObject: {kind: Ingress}, target: {type: Value, value: 1}}}",
                "spec.metrics[0].object.describedObject.name: Required value",
            ),
            (
                "{type: Object, object: {metric: {name: m}, describedObject: {kind: Ingress, name: i}, target: {type: Value}}}",
                "spec.metrics[0].object.target.averageValue: Required value: must set either a target value or averageValue",
            ),
            (
                "{type: External, external: {metric: {name: m}, target: {type: Value}}}",
                "spec.metrics[0].external.target.averageValue: Required value: must set either a target value for metric or a per-pod target",
            ),
            (
                "{type: External, external: {metric: {name: m}, target: {type: Value, value: 1, averageValue: 1}}}",
                "spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target",
            ),
        ],
    );
    told(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: x}, spec: {@, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}",
        &[("manualSelector: true", "spec.selector: Required value")],
    );
}

#[test]
fn faults_of_hosts_paths_and_ports_are_told() {
    let wild = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case \
                alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is \
                '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    let path = |path: &str| -> &'static str {
        Box::leak(
            format!("rules: [{{http: {{paths: [{{path: {path}, pathType: Prefix, backend: {{service: {{name: a, port: {{number: 80}}}}}}}}]}}}}]")
                .into_boxed_str(),
        )
    };
    told(
        "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: x}, spec: {@}}",
        &[
            (
                "rules: [{host: '*.a.b'}]",
                "ingress.networking.k8s.io/x created",
            ),
            (
                "rules: [{host: 'a.*.b'}]",
                Box::leak(
                    format!("spec.rules[0].host: Invalid value: \"a.*.b\": {wild}")
                        .into_boxed_str(),
                ),
            ),
            (
                "rules: [{host: a.b}], tls: [{hosts: [a.b, '*'], secretName: s}]",
                Box::leak(
                    format!("spec.tls[1].hosts: Invalid value: \"*\": {wild}").into_boxed_str(),
                ),
            ),
            (
                path("/a//b"),
                "spec.rules[0].http.paths[0].path: Invalid value: \"/a//b\": must not contain '//'",
            ),
            (
                path("/a/.."),
                "spec.rules[0].http.paths[0].path: Invalid value: \"/a/..\": cannot end with '/..'",
            ),
        ],
    );
    told(
        "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: x, annotations: {kubernetes.io/ingress.class: nginx}}, spec: {@, \
         defaultBackend: {service: {name: a, port: {number: 80}}}}}",
        &[(
            "ingressClassName: nginx",
            "annotations.kubernetes.io/ingress.class: Invalid value: \"nginx\": can not be set when the class field is also set",
        )],
    );
    told(
        "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: x}, spec: {podSelector: {}, egress: [{ports: [{@}]}]}}",
        &[
            (
                "protocol: HTTP, port: 80",
                "spec.egress[0].ports[0].protocol: Unsupported value: \"HTTP\": supported values: \"TCP\", \"UDP\", \"SCTP\"",
            ),
            (
                "port: 70000",
                "spec.egress[0].ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
            ),
            (
                "endPort: 80",
                "spec.egress[0].ports[0].endPort: Invalid value: 80: may not be specified when `port` is not specified",
            ),
            (
                "port: web, endPort: 80",
                "spec.egress[0].ports[0].endPort: Invalid value: 80: may not be specified when `port` is non-numeric",
            ),
            (
                "port: 90, endPort: 80",
                "spec.egress[0].ports[0].endPort: Invalid value: 90: must be greater than or equal to `port`",
            ),
            (
                "port: 80, endPort: 90",
                "networkpolicy.networking.k8s.io/x created",
            ),
        ],
    );
}

/// What is said of the second manifest when the first is there already.
fn change(first: &str, then: &str) -> String {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    assert_eq!(play(&mut sim, &words("apply -f -"), first).exit, Some(0));
    let session = play(&mut sim, &words("apply -f -"), then);
    let text = format!("{}{}", session.stdout, session.stderr);
    text.trim()
        .split_once(" is invalid: ")
        .map_or(text.trim(), |(_, faults)| faults)
        .to_owned()
}

#[test]
fn what_may_not_change_is_told() {
    let pod = |spec: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: x}}, spec: {{{spec}, containers: [{{name: c, image: i}}]}}}}"
        )
    };
    let class = |spec: &str| {
        format!(
            "{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {{name: x}}, {spec}}}"
        )
    };
    for (first, then, words) in [
        (
            pod("activeDeadlineSeconds: 50"),
            pod("activeDeadlineSeconds: 60"),
            "spec.activeDeadlineSeconds: Invalid value: 60: must be less than or equal to previous value",
        ),
        (
            pod("activeDeadlineSeconds: 50"),
            pod("activeDeadlineSeconds: 40"),
            "pod/x configured",
        ),
        (
            pod("activeDeadlineSeconds: 50"),
            pod("restartPolicy: Always"),
            "spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value",
        ),
        (
            pod("tolerations: [{key: a, operator: Exists}]"),
            pod("tolerations: [{key: b, operator: Exists}]"),
            "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds",
        ),
        (
            pod("schedulingGates: [{name: a}]"),
            pod("schedulingGates: [{name: a}, {name: b}]"),
            "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'b'",
        ),
        (
            pod("schedulingGates: [{name: a}], nodeSelector: {a: b}"),
            pod("schedulingGates: [{name: a}], nodeSelector: {a: b, c: d}"),
            "pod/x configured",
        ),
        (
            pod("schedulingGates: [{name: a}], nodeSelector: {a: b}"),
            pod("schedulingGates: [{name: a}], nodeSelector: {a: c}"),
            "spec.nodeSelector: Invalid value: {\"a\":\"c\"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)",
        ),
        (
            class("value: 5"),
            class("value: 6"),
            "value: Forbidden: may not be changed in an update.",
        ),
        (
            class("value: 5"),
            class("value: 5, preemptionPolicy: Never"),
            "preemptionPolicy: Invalid value: \"Never\": field is immutable",
        ),
        (
            class("value: 5"),
            class("value: 5, description: more"),
            "priorityclass.scheduling.k8s.io/x configured",
        ),
    ] {
        assert_eq!(change(&first, &then), words, "{then}");
    }
}

#[test]
fn a_class_by_annotation_and_by_field_is_refused_only_of_what_is_new() {
    let ingress = |annotation: &str, class: &str| {
        format!(
            "{{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {{name: x, annotations: {{{annotation}}}}}, spec: {{{class} \
             defaultBackend: {{service: {{name: a, port: {{number: 80}}}}}}}}}}"
        )
    };
    let both = ingress(
        "kubernetes.io/ingress.class: nginx",
        "ingressClassName: nginx,",
    );
    assert_eq!(
        change(&ingress("", "ingressClassName: nginx,"), &both),
        "ingress.networking.k8s.io/x configured"
    );
}

#[test]
fn a_priority_is_computed_from_a_class() {
    let pod = |spec: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: x}}, spec: {{{spec} containers: [{{name: c, image: i}}]}}}}"
        )
    };
    let class = |name: &str| {
        format!(
            "{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {{name: {name}}}, value: 7, globalDefault: true}}"
        )
    };
    let told = "must not be provided in pod spec; priority admission controller computed";
    let forbidden = "Error from server (Forbidden): error when creating \"STDIN\": pods \"x\" is forbidden: the";
    assert_eq!(
        refusal(&pod("priority: 5,")).trim(),
        format!(
            "{forbidden} integer value of priority (5) {told} 0 from the given PriorityClass name"
        )
    );
    assert_eq!(
        refusal(&pod("preemptionPolicy: Never,")).trim(),
        format!(
            "{forbidden} string value of PreemptionPolicy (Never) {told} PreemptLowerPriority from the given PriorityClass name"
        )
    );
    assert_eq!(refusal(&pod("priority: 0,")), "pod/x created");
    // A class for all that name none; there is only one.
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    play(&mut sim, &words("apply -f -"), &class("seven"));
    play(&mut sim, &words("apply -f -"), &pod(""));
    let spec = sim
        .store()
        .list(k8s_model::Kind::Pod)
        .next()
        .unwrap()
        .to_value()["spec"]
        .clone();
    assert_eq!(
        (&spec["priorityClassName"], &spec["priority"]),
        (&Value::from("seven"), &Value::from(7))
    );
    let second = play(&mut sim, &words("apply -f -"), &class("eight"));
    assert!(
        second.stderr.contains("\"eight\" is forbidden: PriorityClass seven is already marked as default. Only one default can exist"),
        "{}",
        second.stderr
    );
    assert_eq!(
        play(&mut sim, &words("apply -f -"), &class("seven")).exit,
        Some(0)
    );
}

#[test]
fn claims_of_devices_and_classes_of_balancers_are_looked_at() {
    told(
        "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {@, containers: [{name: c, image: i, resources: {claims: [{name: gpu}]}}]}}",
        &[
            (
                "restartPolicy: Never",
                "spec.containers[0].resources.claims[0]: Not found: \"gpu\": must be one of the names in pod.spec.resourceClaims which is empty",
            ),
            (
                "resourceClaims: [{name: b, resourceClaimName: x}, {name: a, resourceClaimName: x}]",
                "spec.containers[0].resources.claims[0]: Not found: \"gpu\": must be one of the names in pod.spec.resourceClaims: a, b",
            ),
        ],
    );
    let service = |class: &str| {
        format!(
            "{{apiVersion: v1, kind: Service, metadata: {{name: x}}, spec: {{type: LoadBalancer, {class} ports: [{{port: 80}}]}}}}"
        )
    };
    assert_eq!(
        change(
            &service("loadBalancerClass: a.b/c,"),
            &service("loadBalancerClass: a.b/d,")
        ),
        "spec.loadBalancerClass: Invalid value: \"a.b/d\": may not change once set"
    );
}

#[test]
fn a_service_changes_its_type_without_being_told_what_to_drop() {
    let spec = |kind: &str| match kind {
        "ExternalName" => "{type: ExternalName, externalName: a.b}".to_owned(),
        _ => format!("{{type: {kind}, ports: [{{port: 80}}]}}"),
    };
    for from in ["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"] {
        for to in ["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"] {
            let mut sim = Sim::new(ClusterConfig::default(), 1);
            let manifest = |kind: &str| {
                format!(
                    "{{apiVersion: v1, kind: Service, metadata: {{name: x}}, spec: {}}}",
                    spec(kind)
                )
            };
            play(&mut sim, &words("apply -f -"), &manifest(from));
            let before = sim
                .store()
                .get(&k8s_model::ObjectRef::new(
                    k8s_model::Kind::Service,
                    "default",
                    "x",
                ))
                .unwrap()
                .to_value();
            let change = match to {
                "ExternalName" => {
                    r#"{"spec":{"type":"ExternalName","externalName":"a.b"}}"#.to_owned()
                }
                _ => format!(
                    r#"{{"spec":{{"type":"{to}","externalName":null,"ports":[{{"port":80,"protocol":"TCP"}}]}}}}"#
                ),
            };
            let session = play(
                &mut sim,
                &["patch", "svc", "x", "-p", &change].map(str::to_owned),
                "",
            );
            assert_eq!(session.exit, Some(0), "{from} to {to}: {}", session.stderr);
            let after = sim
                .store()
                .get(&k8s_model::ObjectRef::new(
                    k8s_model::Kind::Service,
                    "default",
                    "x",
                ))
                .unwrap()
                .to_value();
            let spec = &after["spec"];
            assert_eq!(
                spec["clusterIP"].is_string(),
                to != "ExternalName",
                "{from} to {to}: {spec}"
            );
            let reached = matches!(to, "NodePort" | "LoadBalancer");
            if to != "ExternalName" {
                assert_eq!(
                    spec["ports"][0]["nodePort"].is_i64(),
                    reached,
                    "{from} to {to}: {spec}"
                );
            }
            assert_eq!(
                spec["externalTrafficPolicy"].is_string(),
                reached,
                "{from} to {to}: {spec}"
            );
            assert_eq!(
                spec["allocateLoadBalancerNodePorts"].is_boolean(),
                to == "LoadBalancer",
                "{from} to {to}: {spec}"
            );
            // What both have stays.
            if from != "ExternalName" && to != "ExternalName" {
                assert_eq!(spec["clusterIP"], before["spec"]["clusterIP"]);
            }
            if reached && matches!(from, "NodePort" | "LoadBalancer") {
                assert_eq!(
                    spec["ports"][0]["nodePort"],
                    before["spec"]["ports"][0]["nodePort"]
                );
            }
        }
    }
    // Who replaces it without its address keeps it; who asks for another is refused.
    let service = |spec: &str| {
        format!(
            "{{apiVersion: v1, kind: Service, metadata: {{name: x}}, spec: {{{spec} ports: [{{port: 80}}]}}}}"
        )
    };
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    play(&mut sim, &words("apply -f -"), &service(""));
    assert_eq!(
        play(&mut sim, &words("replace -f -"), &service("")).exit,
        Some(0)
    );
    let other = play(
        &mut sim,
        &words("apply -f -"),
        &service("clusterIP: 10.96.0.99,"),
    );
    assert!(
        other.stderr.contains(
            "spec.clusterIPs[0]: Invalid value: [\"10.96.0.99\"]: may not change once set"
        ),
        "{}",
        other.stderr
    );
}

#[test]
fn a_patch_must_fit_the_object() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    play(&mut sim, &words("create deployment web --image=nginx"), "");
    let mut patched = |patch: &str| {
        play(
            &mut sim,
            &[
                "patch".into(),
                "deployment/web".into(),
                "-p".into(),
                patch.into(),
            ],
            "",
        )
        .stderr
    };
    for (patch, told) in [
        (
            r#"{"metadata":{"labels":"x"}}"#,
            "The request is invalid: patch: Invalid value: \"map[metadata:map[labels:x]]\": cannot restore map from string\n",
        ),
        (
            r#"{"metadata":{"labels":{"a":7}}}"#,
            "The request is invalid: patch: Invalid value: \"map[metadata:map[labels:map[a:7]]]\": cannot convert int64 to string\n",
        ),
        (
            r#"{"spec":{"template":7}}"#,
            "The request is invalid: patch: Invalid value: \"map[spec:map[template:7]]\": cannot restore struct from: int64\n",
        ),
        (
            r#"{"metadata":{"name":"x"}}"#,
            "Error from server (BadRequest): the name of the object (x) does not match the name on the URL (web)\n",
        ),
        (
            r#"{"metadata":{"namespace":"x"}}"#,
            "Error from server (BadRequest): the namespace of the provided object does not match the namespace sent on the request\n",
        ),
    ] {
        assert_eq!(patched(patch), told);
    }
    // Whether it is current is asked before whether it is valid.
    let stale = patched(r#"{"metadata":{"resourceVersion":"99","labels":{"%":"x"}}}"#);
    assert!(stale.starts_with(
        "Error from server (Conflict): Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified"
    ));
}
