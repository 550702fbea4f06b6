use controllers::{Controller, Event, Watch};
use k8s_model::pod::{Pod, PodCondition};
use k8s_model::policy::{BudgetSpec, BudgetStatus};
use k8s_model::time::SECOND;
use k8s_model::workload::{Deployment, IntOrPercent, ReplicaSet, StatefulSet};
use k8s_model::{Body, Kind, Object, ObjectRef, Timestamp, Uid};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use controller_runtime::informer::Cache;
use controller_runtime::out::{Action, Out, PassView};
use apiserver::{ApiError, ApiServer, StatusReason};
use apiserver::why::Why;
use smol_str::format_smolstr;
use std::rc::Rc;
use controllers::disruption::*;
use k8s_model::ObjectMeta;

#[test]
fn an_absolute_number_counts_existing_pods() {
    let pod = || Rc::new(Object { kind: Kind::Pod, meta: ObjectMeta::default(), body: Body::Pod(Box::default()) });
    let sim = cluster::Sim::new(Default::default(), 1);
    let cache = sim.manager_cache();
    let spec = |min, max| BudgetSpec { min_available: min, max_unavailable: max, ..Default::default() };
    let cases = [
        (spec(Some(IntOrPercent::Int(2)), None), (3, 2)),
        // Bare Pods have no controller with a desired number of replicas.
        (spec(Some(IntOrPercent::Percent(50)), None), (0, 0)),
        (spec(None, Some(IntOrPercent::Int(1))), (0, 0)),
        (spec(None, None), (0, 0)),
    ];
    for (spec, counts) in cases {
        assert_eq!(expected(&spec, &[pod(), pod(), pod()], cache, sim.server()), Ok(counts), "{spec:?}");
    }
}
