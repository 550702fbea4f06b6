//! Faults: what a person breaks on purpose.

use super::kubelet::Forced;
use super::load::Load;
use super::sim::Sim;
use crate::api::{Kind, ObjectRef};

impl Sim {
    /// Injects a fault given as words: `exit pod/P CODE`, `unready pod/P`, `ready pod/P`, `cpu-load app=web 700m`.
    pub fn fault(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(result) = self.lose_by_words(line, &words) {
            return result;
        }
        if let ["cpu-load", selector, total] = words[..] {
            let load = Load::parse(selector, total)?;
            self.command(&format!("fault {line}"));
            self.loads.retain(|old| !load.replaces(old));
            self.loads.push(load);
            return Ok(());
        }
        let (target, forced) = match words[..] {
            ["exit", target, code] => (target, Forced::Exit(code.parse().map_err(|_| format!("exit: not an exit code: {code}"))?)),
            ["unready", target] => (target, Forced::Ready(false)),
            ["ready", target] => (target, Forced::Ready(true)),
            _ => {
                return Err(format!(
                    "unknown fault {line:?}; known are: exit pod/NAME CODE, unready pod/NAME, ready pod/NAME, cpu-load LABEL=VALUE AMOUNT, lose KIND/NAME, \
                     relist SECONDSs, restart COMPONENT, conflict KIND/NAME"
                ));
            }
        };
        let name = target.strip_prefix("pod/").ok_or_else(|| format!("{target}: pod/NAME is required"))?;
        let key = ObjectRef::new(Kind::Pod, "default", name);
        let Some(uid) = self.get(&key).map(|pod| pod.meta.uid) else { return Err(format!("pods {name:?} not found")) };
        let origin = self.command(&format!("fault {line}"));
        self.force(uid, forced, origin.cause);
        Ok(())
    }
}
