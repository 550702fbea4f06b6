//! The manifest as a file of the console: a line that names it finds the text that stands in the editor.

use super::effect::Effect;
use super::examples;
use super::state::State;
use crate::actions::Command;

/// Longest text that is saved so.
const MAX_BYTES: usize = 100_000;
/// What ends the text in the command that saves it; no line of YAML.
const END: &str = "END_OF_MANIFEST";

impl State {
    /// The name over the editor.
    pub fn manifest_name(&self) -> &'static str {
        examples::of(&self.editor.text).map_or("manifest.yaml", |at| examples::ALL[at].file)
    }

    /// Saves the text of the editor where a line reads it by its name. A file of that name that somebody else wrote stays.
    pub(super) fn save_manifest_for(&mut self, line: &str) {
        let (name, run) = (self.manifest_name(), &self.timeline.run);
        let names = line.split([' ', '=', ',', '/']).any(|word| word == name);
        if !names || line.contains('>') || self.editor.text.len() > MAX_BYTES || run.takes_input() || run.follows() || run.in_past() {
            return;
        }
        let here = run.ask(&["cat ", name].concat());
        let is_missing = here.iter().any(|line| line.error);
        let held: String = here.iter().flat_map(|line| [line.text.as_str(), "\n"]).collect();
        let is = |text: &str| held.trim_end() == text.trim_end();
        if !is_missing && (is(&self.editor.text) || !self.console.saved.as_deref().is_some_and(is)) {
            return;
        }
        let text = self.editor.text.clone();
        let save = format!("cat > {name} <<'{END}'\n{}\n{END}", text.trim_end());
        self.console.saved = Some(text);
        self.perform(vec![Effect::Fork, Effect::Execute(Command::Kubectl(save.into()))]);
    }
}

#[cfg(test)]
mod tests {
    use crate::session::State;
    use crate::session::console::ConsoleMsg;
    use crate::session::editor::EditorMsg;

    #[test]
    fn the_console_finds_the_manifest_by_its_name() {
        let mut state = State::new("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: '1'}}\n", 1);
        let told = |state: &mut State, line: &str| {
            let before = state.console.lines.len();
            state.update(ConsoleMsg::Enter(line.into()));
            state.console.lines[before..].iter().map(|line| line.text.clone()).collect::<Vec<_>>().join("\n")
        };
        assert!(told(&mut state, "kubectl diff -f ./manifest.yaml").ends_with("manifest.yaml"));
        state.update(EditorMsg::Edit("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: '2'}}\n".into()));
        assert!(told(&mut state, "kubectl apply -f manifest.yaml").contains("configmap/a configured"));
        // What a person has written there is theirs.
        told(&mut state, "echo mine > manifest.yaml");
        state.update(EditorMsg::Edit("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: '3'}}\n".into()));
        assert!(told(&mut state, "cat manifest.yaml").ends_with("mine"));
    }
}
