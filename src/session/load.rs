//! The CPU load that an autoscaler reacts to, to be set by a slider.

use super::run::Run;
use crate::api::workload::Deployment;
use crate::api::{Body, Kind, Object, ObjectRef};
use crate::engine::Sim;

/// The most that the slider sets, in thousandths of a core.
pub const MAX_LOAD: i64 = 2_000;

/// The load of the Pods that an autoscaler scales.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuLoad {
    /// `app=shop`.
    pub selector: String,
    /// What is set, in thousandths of a core.
    pub milli: i64,
}

impl CpuLoad {
    /// The line of the fault that sets another.
    pub fn line(&self, milli: i64) -> String {
        format!("cpu-load {} {}m", self.selector, milli.clamp(0, MAX_LOAD))
    }
}

/// The load that the first autoscaler of a Deployment by CPU reacts to.
pub fn read(run: &Run) -> Option<CpuLoad> {
    let sim = run.sim();
    let selector = sim.list(Kind::HorizontalPodAutoscaler).find_map(|scaler| selector_of(sim, scaler))?;
    let milli = sim.cpu_load(&selector).unwrap_or(0);
    Some(CpuLoad { selector, milli })
}

fn selector_of(sim: &Sim, scaler: &Object) -> Option<String> {
    let Body::Other(body) = &scaler.body else { return None };
    let spec = body.get("spec")?;
    let target = &spec["scaleTargetRef"];
    let by_cpu = spec["metrics"].as_array()?.iter().any(|metric| metric["resource"]["name"] == "cpu");
    if !by_cpu || target["kind"] != "Deployment" {
        return None;
    }
    let key = ObjectRef::new(Kind::Deployment, &scaler.meta.namespace, target["name"].as_str()?);
    let labels = &sim.get(&key)?.get::<Deployment>()?.spec.selector.match_labels;
    let pairs: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    (!pairs.is_empty()).then(|| pairs.join(","))
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::api::Kind;
    use crate::session::timeline::TimelineMsg;
    use crate::session::{Msg, State, examples};

    #[test]
    fn the_slider_of_the_example_scales_its_deployment() {
        let mut state = State::new((examples::ALL[8].text)(), 1);
        state.update(TimelineMsg::Seconds(20));
        let load = read(&state.timeline.run).expect("a load");
        assert_eq!((load.selector.as_str(), load.milli), ("app=shop", 0));
        state.update(Msg::Fault(load.line(900)));
        assert_eq!(read(&state.timeline.run).map(|load| load.milli), Some(900));
        state.update(TimelineMsg::Seconds(120));
        assert!(state.timeline.run.sim().list(Kind::Pod).count() > 4);
        assert_eq!(read(&State::new((examples::ALL[0].text)(), 1).timeline.run), None);
    }
}
