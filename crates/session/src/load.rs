//! CPU load to which an autoscaler reacts, set by a slider.

use super::run::Run;
use cluster::Sim;
use cluster_network::usage::Usage;
use controller_runtime::load;
use fault::{Fault, Load};
use k8s_model::kind::api_group;
use k8s_model::quantity::Quantity;
use k8s_model::workload::Deployment;
use k8s_model::{Body, Kind, Object, ObjectRef, Str};

/// Minimum range of the slider, in thousandths of a core.
const MIN_REACH: i64 = 2_000;
/// Number of steps of the slider.
const STEPS: i64 = 40;

/// Load of the Pods that an autoscaler scales.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuLoad {
    /// Labels of the Pods.
    labels: Vec<(Str, Str)>,
    /// Current load, in thousandths of a core.
    pub milli: i64,
    /// Maximum of the slider: the sum of the requests of `maxReplicas` Pods.
    pub most: i64,
}

impl CpuLoad {
    /// Selector, such as `app=shop`.
    pub fn selector(&self) -> String {
        selector(&self.labels)
    }

    /// Fault that sets another load.
    pub fn fault(&self, milli: i64) -> Fault {
        let labels = self.labels.iter().map(|(key, value)| (key, value));
        Fault::Load(Load::new(
            "cpu",
            labels,
            Quantity::millis(milli.clamp(0, self.most)),
        ))
    }

    /// Step of the slider, in thousandths of a core.
    pub fn step(&self) -> i64 {
        self.most / STEPS
    }
}

/// Returns the load of the first autoscaler by CPU of a Deployment.
pub fn read(run: &Run) -> Option<CpuLoad> {
    let sim = run.sim();
    let (namespace, (labels, most)) = sim
        .store()
        .list(Kind::HorizontalPodAutoscaler)
        .find_map(|scaler| Some((&scaler.meta.namespace, target_of(sim, scaler)?)))?;
    let set = load::amount(&sim.kubelets.loads.set, "cpu", &selector(&labels));
    let milli = set.unwrap_or_else(|| requested(sim, namespace, &labels));
    Some(CpuLoad {
        labels,
        milli,
        most: rounded(most.max(milli)),
    })
}

/// Returns the load of the requests that Pods with these labels get.
fn requested(sim: &Sim, namespace: &str, labels: &[(Str, Str)]) -> i64 {
    if !sim.kubelets.loads.has_generated() {
        return 0;
    }
    let mut usage = Usage::new(sim.store(), &sim.kubelets.loads);
    let has = |pod: &Object, (key, value): &(Str, Str)| pod.meta.labels.get(key) == Some(value);
    let pods = sim.store().list(Kind::Pod).filter(|pod| {
        pod.meta.namespace == namespace && labels.iter().all(|label| has(pod, label))
    });
    pods.filter_map(|pod| usage.of("cpu", pod))
        .fold(0, i64::saturating_add)
}

/// Returns the selector of an autoscaler's target, and the maximum of the slider.
fn target_of(sim: &Sim, scaler: &Object) -> Option<(Vec<(Str, Str)>, i64)> {
    let Body::Other(body) = &scaler.body else {
        return None;
    };
    let spec = body.get("spec")?;
    let target = &spec["scaleTargetRef"];
    let by_cpu = spec["metrics"]
        .as_array()?
        .iter()
        .any(|metric| metric["resource"]["name"] == "cpu");
    let kind = Kind::from_group_kind(
        api_group(target["apiVersion"].as_str().unwrap_or("")),
        target["kind"].as_str()?,
    );
    if !by_cpu || kind != Some(Kind::Deployment) {
        return None;
    }
    let key = ObjectRef::new(
        Kind::Deployment,
        &scaler.meta.namespace,
        target["name"].as_str()?,
    );
    let deployment = &sim.store().get(&key)?.get::<Deployment>()?.spec;
    let labels: Vec<(Str, Str)> = deployment
        .selector
        .match_labels
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let requests = deployment
        .template
        .spec
        .requests
        .cpu
        .clamp(0, i64::from(i32::MAX))
        * spec["maxReplicas"].as_i64().unwrap_or(0);
    (!labels.is_empty()).then_some((labels, requests))
}

/// Formats labels as `app=shop,tier=front`.
fn selector(labels: &[(Str, Str)]) -> String {
    let pairs: Vec<String> = labels
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    pairs.join(",")
}

/// Rounds up to a multiple of [`MIN_REACH`], which makes each step a round number too.
fn rounded(most: i64) -> i64 {
    most.max(MIN_REACH).saturating_add(MIN_REACH - 1) / MIN_REACH * MIN_REACH
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::console::ConsoleMsg;
    use crate::timeline::TimelineMsg;
    use crate::{Msg, State, examples};
    use k8s_model::Kind;

    #[test]
    fn the_slider_of_the_example_scales_its_deployment() {
        let mut state = State::new((examples::ALL[8].text)(), 1);
        state.update(TimelineMsg::Seconds(20));
        let load = read(&state.timeline.run).expect("a load");
        assert_eq!(
            (&*load.selector(), load.milli, load.most, load.step()),
            ("app=shop", 0, 2_000, 50)
        );
        state.update(Msg::Fault(load.fault(900)));
        assert_eq!(read(&state.timeline.run).map(|load| load.milli), Some(900));
        state.update(TimelineMsg::Seconds(120));
        assert!(state.timeline.run.sim().store().count(Kind::Pod) > 4);
        assert_eq!(
            read(&State::new((examples::ALL[0].text)(), 1).timeline.run),
            None
        );
    }

    #[test]
    fn the_example_scales_by_the_requests_that_its_comment_sends() {
        let text = (examples::ALL[8].text)();
        let comment = text.lines().filter_map(|line| line.strip_prefix("#   "));
        let comment: Vec<&str> = comment.map(str::trim).collect();
        let commands = comment.join("\n").replace("\\\n", "");
        let mut state = State::new(text, 1);
        state.update(TimelineMsg::Seconds(20));
        for command in commands.lines() {
            state.update(ConsoleMsg::Enter(command.into()));
        }
        state.update(TimelineMsg::Seconds(120));
        let run = &state.timeline.run;
        assert_eq!(run.sim().store().count(Kind::Pod), 1 + 7, "{commands}");
        // The slider shows what is sent, until it is moved.
        assert_eq!(read(run).map(|load| load.milli), Some(7 * 92));
        let fault = read(run).map(|load| load.fault(100)).expect("a load");
        state.update(Msg::Fault(fault));
        assert_eq!(read(&state.timeline.run).map(|load| load.milli), Some(100));
    }

    #[test]
    fn the_slider_reaches_what_the_most_pods_request() {
        let text = (examples::ALL[8].text)().replace("cpu: 200m", "cpu: 1");
        let mut state = State::new(&text, 1);
        state.update(TimelineMsg::Seconds(20));
        let load = read(&state.timeline.run).expect("a load");
        assert_eq!(
            (load.most, load.step(), load.fault(9_999).to_string()),
            (8_000, 200, "cpu-load app=shop 8".into())
        );
    }
}
