//! The manifest as a file in the console: a line that names it reads the text of the editor.

use super::examples;
use super::run::Run;
use actions::Action;
use cluster::disk::CONSOLE;

/// Longest text that is saved, in bytes.
const MAX_BYTES: usize = 100_000;
/// Delimiter of the here-document that saves the text; not a valid line of YAML.
const END: &str = "END_OF_MANIFEST";

/// Returns the file name of the editor's text, as shown above it.
pub fn name_of(text: &str) -> &'static str {
    examples::of(text).map_or("manifest.yaml", |at| examples::ALL[at].file)
}

/// Returns true if a line is equivalent to the editor's Apply: the file that it names has this text.
pub(super) fn applies(line: &str, text: &str, run: &Run) -> bool {
    let name = name_of(text);
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_it = matches!(words[..], ["kubectl", "apply", "-f", file] if file.trim_start_matches("./") == name);
    is_it
        && writes_here(run)
        && held(name, run).is_some_and(|held| held.trim_end() == text.trim_end())
}

/// Returns the command that saves the editor's text, if a line reads it by its name. A file of that name with other contents is kept.
pub(super) fn saves(line: &str, text: &str, run: &Run) -> Option<Action> {
    let name = name_of(text);
    if !reads(line, name) || text.len() > MAX_BYTES || !writes_here(run) {
        return None;
    }
    if let Some(held) = held(name, run) {
        let is = |text: &str| held.trim_end() == text.trim_end();
        if is(text) || !saved(run, name).is_some_and(is) {
            return None;
        }
    }
    Some(Action::Kubectl(
        [&opening(name), text.trim_end(), "\n", END].concat().into(),
    ))
}

/// Returns true if a line runs at the newest instant of the page's own cluster, and is no input of a program.
fn writes_here(run: &Run) -> bool {
    !run.takes_input() && !run.follows() && !run.in_past()
}

/// Returns the text of a file of the console, if it exists.
fn held<'a>(name: &str, run: &'a Run) -> Option<&'a str> {
    run.sim().disks.read(CONSOLE, name).map(|text| &**text)
}

/// Returns the first line of the command that saves the manifest.
fn opening(name: &str) -> String {
    format!("cat > {name} <<'{END}'\n")
}

/// Returns true if a command saves the manifest: part of the line that reads the file.
pub(super) fn is_save(line: &str) -> bool {
    line.starts_with("cat > ") && line.ends_with(END)
}

/// Returns the text saved last in this branch of the history.
fn saved<'a>(run: &'a Run, name: &str) -> Option<&'a str> {
    let opening = opening(name);
    let text = |command: &'a Action| match command {
        Action::Kubectl(line) => line.strip_prefix(&opening)?.strip_suffix(END),
        _ => None,
    };
    let saves = run.commands().iter().rev();
    saves.map(|did| &did.action).find_map(text)
}

/// Returns true if a line names a file of the current directory other than to write it.
fn reads(line: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].strip_suffix("./").unwrap_or(&line[..at]);
        !before.ends_with(is_part)
            && !line[at + name.len()..].starts_with(is_part)
            && !before.trim_end().ends_with('>')
    })
}

#[cfg(test)]
mod tests {
    use crate::State;
    use crate::console::ConsoleMsg;
    use crate::editor::EditorMsg;

    #[test]
    fn the_console_finds_the_manifest_by_its_name() {
        let mut state = State::new(
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: '1'}}\n",
            1,
        );
        let told = |state: &mut State, line: &str| {
            let before = state.console.lines.len();
            state.update(ConsoleMsg::Enter(line.into()));
            state.console.lines[before..]
                .iter()
                .map(|line| line.text.clone())
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert!(told(&mut state, "kubectl diff -f ./manifest.yaml").ends_with("manifest.yaml"));
        state.update(EditorMsg::Edit(
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: '2'}}\n".into(),
        ));
        assert!(
            told(&mut state, "kubectl apply -f manifest.yaml").contains("configmap/a configured")
        );
        assert_eq!(state.editor.status, crate::editor::ApplyStatus::Applied);
        // A file written by the person is kept.
        told(&mut state, "echo mine > manifest.yaml");
        state.update(EditorMsg::Edit(
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: '3'}}\n".into(),
        ));
        assert!(told(&mut state, "cat manifest.yaml").ends_with("mine"));
    }

    #[test]
    fn a_history_that_is_repeated_knows_whose_file_it_is() {
        let text = |value: &str| {
            format!(
                "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a}}, data: {{k: '{value}'}}}}\n"
            )
        };
        let mut state = State::new(&text("1"), 1);
        state.update(EditorMsg::Edit(text("2")));
        state.update(ConsoleMsg::Enter("kubectl apply -f manifest.yaml".into()));
        let link = state.shared();
        let mut again = State::from_link(Some(&link));
        again.recall(&link);
        while again.timeline.run_until.is_some() {
            again.run_slice(50);
        }
        assert_eq!(
            again.console.history[..],
            ["kubectl apply -f manifest.yaml"]
        );
        again.update(EditorMsg::Edit(text("3")));
        again.update(ConsoleMsg::Enter(
            "kubectl apply -f manifest.yaml --wait=false\nkubectl get pods".into(),
        ));
        let found = again
            .timeline
            .run
            .sim()
            .store()
            .get(&k8s_model::ObjectRef::new(
                k8s_model::Kind::ConfigMap,
                "default",
                "a",
            ))
            .unwrap()
            .to_value();
        assert_eq!(found["data"]["k"], "3");
    }

    #[test]
    fn what_names_the_file_is_told_from_what_looks_like_it() {
        let all = [
            "apply -f manifest.yaml",
            "apply -f ./manifest.yaml; x",
            "cat <manifest.yaml",
            "diff -f 'manifest.yaml' 2>&1",
            "a -f manifest.yaml\nb",
        ];
        assert!(all.iter().all(|line| super::reads(line, "manifest.yaml")));
        let none = [
            "apply -f other/manifest.yaml",
            "cat my-manifest.yaml",
            "cat > manifest.yaml",
            "echo a >>manifest.yaml",
            "cat manifest.yaml.old",
        ];
        assert!(!none.iter().any(|line| super::reads(line, "manifest.yaml")));
    }
}
