//! The manifest as a file in the console: a line that names it reads the text of the editor.

use super::examples;
use super::run::Run;
use actions::{Action, OutputLine, first_named};
use cluster::disk::{CONSOLE, absolute};
use i18n::msg;
use kubectl::published;

/// Longest text that is saved, in bytes.
const MAX_BYTES: usize = 100_000;
/// Delimiter of the here-document that saves the text; not a valid line of YAML.
const END: &str = "END_OF_MANIFEST";
/// Documents of two texts that are compared.
const COMPARED_DOCUMENTS: usize = 64;

/// Command that saves the editor's text as a file, for a line that reads it.
#[derive(Debug)]
pub(super) struct Save {
    pub(super) action: Action,
    /// Line that says so, if the file is not the one named above the editor.
    pub(super) notice: Option<OutputLine>,
}

/// Returns the file name of the editor's text, as shown above it.
pub fn name_of(text: &str) -> &'static str {
    examples::of(text).map_or("manifest.yaml", |at| examples::ALL[at].file)
}

/// Returns true if a line is equivalent to the editor's Apply: the file that it names has this text.
pub(super) fn applies(line: &str, text: &str, run: &Run) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let file = match words[..] {
        ["kubectl", "apply", "-f", file] => file,
        _ => return false,
    };
    writes_here(line, run) && held(file, run).is_some_and(|held| held.trim_end() == text.trim_end())
}

/// Returns the command that saves the editor's text, if a line reads it: by its name, or by the name of a file that the console does not
/// have. A file of that name with other contents is kept.
pub(super) fn saves(line: &str, text: &str, run: &Run) -> Option<Save> {
    if text.len() > MAX_BYTES || !writes_here(line, run) {
        return None;
    }
    let own = name_of(text);
    let other = if reads(line, own) {
        None
    } else {
        Some(stand_in(line, text, run)?)
    };
    let name = other.as_deref().unwrap_or(own);
    if let Some(held) = held(name, run) {
        let is = |text: &str| held.trim_end() == text.trim_end();
        if is(text) || !saved(run, name).any(is) {
            return None;
        }
    }
    let said = other.as_deref().map(msg::console_editor_as_file);
    Some(Save {
        action: Action::Kubectl([&opening(name), text.trim_end(), "\n", END].concat().into()),
        notice: said.map(|said| OutputLine {
            said: Some(said.clone()),
            ..OutputLine::new(said.english(), false)
        }),
    })
}

/// Returns the file that a line names in place of the editor's manifest: the only one that the console does not have, or one saved before
/// from an earlier text of that manifest.
fn stand_in(line: &str, text: &str, run: &Run) -> Option<String> {
    if lesson::is_lesson(text) || is_blank(text) {
        return None;
    }
    let files = kubectl::named_files(line);
    let is_manifest = |file: &str| {
        kubectl::EXTENSIONS.iter().any(|end| file.ends_with(end))
            && !is_address(file)
            && !file.contains(['\'', '\n'])
            // A line that also writes the file has its own text.
            && line.matches(file).count() == files.iter().filter(|other| *other == file).count()
    };
    let stands = |file: &str| match held(file, run) {
        None => !is_folder(file, run),
        Some(held) => {
            saved(run, file).any(|text| text.trim_end() == held.trim_end()) && is_edit(held, text)
        }
    };
    let mut found = files
        .iter()
        .filter(|file| is_manifest(file) && stands(file));
    let first = found.next()?;
    found.all(|other| other == first).then(|| first.to_owned())
}

/// Returns true for a text of blank lines, comments and separators.
fn is_blank(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    lines.all(|line| line.is_empty() || line.starts_with('#') || line.starts_with("---"))
}

/// Returns true if two texts name an object in common: one is an edit of the other.
fn is_edit(before: &str, after: &str) -> bool {
    let before = first_named(before, COMPARED_DOCUMENTS);
    let after = first_named(after, COMPARED_DOCUMENTS);
    after.iter().any(|key| before.contains(key))
}

/// Returns true if `-f` names a file of the web.
fn is_address(file: &str) -> bool {
    file.starts_with("https://") || file.starts_with("http://")
}

/// Returns the line that offers the editor's manifest in place of the only address that a line names and that is not fetched.
pub(super) fn offer(line: &str, text: &str, run: &Run) -> Option<OutputLine> {
    if run.takes_input() || run.follows() || is_blank(text) {
        return None;
    }
    let files = kubectl::named_files(line);
    let mut unknown = files
        .iter()
        .filter(|file| is_address(file) && !published::is_known(file));
    let address = unknown.next()?;
    if unknown.any(|other| other != address) {
        return None;
    }
    let name = name_of(text);
    let enters = line.replace(address.as_str(), name);
    let said = msg::console_not_fetched(address, &*enters);
    Some(OutputLine {
        said: Some(said.clone()),
        enters: Some(enters),
        ..OutputLine::new(said.english(), false)
    })
}

/// Returns true if a line runs at the newest instant of the page's own cluster, which a write in the past begins, and is no input of a
/// program.
fn writes_here(line: &str, run: &Run) -> bool {
    !run.takes_input() && !run.follows() && (!run.in_past() || !kubectl::only_reads(line))
}

/// Returns the text of a file of the console, if it exists.
fn held<'a>(name: &str, run: &'a Run) -> Option<&'a str> {
    let path = absolute("", name);
    run.sim()
        .disks
        .read(CONSOLE, path.trim_start_matches('/'))
        .map(|text| &**text)
}

/// Returns true if a path is a folder of the console.
fn is_folder(name: &str, run: &Run) -> bool {
    let path = [absolute("", name).trim_start_matches('/'), "/"].concat();
    let mut files = run.sim().disks.list(CONSOLE);
    files.any(|(file, _)| file.starts_with(&*path))
}

/// Returns the first line of the command that saves the manifest.
fn opening(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let quote = if name.chars().all(is_plain) { "" } else { "'" };
    format!("cat > {quote}{name}{quote} <<'{END}'\n")
}

/// Returns true if a command saves the manifest: part of the line that reads the file.
pub(super) fn is_save(line: &str) -> bool {
    line.starts_with("cat > ") && line.ends_with(END)
}

/// Returns the texts saved under a name in this branch of the history.
fn saved<'a>(run: &'a Run, name: &str) -> impl Iterator<Item = &'a str> {
    let opening = opening(name);
    let text = move |command: &'a Action| match command {
        Action::Kubectl(line) => line.strip_prefix(&opening)?.strip_suffix(END),
        _ => None,
    };
    run.commands()
        .iter()
        .map(|did| &did.action)
        .filter_map(text)
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

    const MAP: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: '1'}}\n";

    /// Enters a line; returns what is printed for it.
    fn told(state: &mut State, line: &str) -> Vec<String> {
        let before = state.console.printed;
        state.update(ConsoleMsg::Enter(line.into()));
        let new = (state.console.printed - before).min(state.console.lines.len());
        let lines = &state.console.lines[state.console.lines.len() - new..];
        lines.iter().map(|line| line.text.clone()).collect()
    }

    #[test]
    fn a_file_that_is_not_there_stands_for_the_manifest() {
        let mut state = State::new(MAP, 1);
        for (line, last) in [
            (
                "kubectl diff -f app.yaml",
                "# app.yaml: the manifest in the editor",
            ),
            (
                "kubectl delete -f app.yaml",
                "configmap \"a\" deleted from default namespace",
            ),
            ("kubectl create -f statefulset.yaml", "configmap/a created"),
            (
                "apply -f 'k8s/the map.yml' && kubectl get nodes -o name",
                "node/node-3",
            ),
            (
                "kubectl replace -f ./statefulset.yaml",
                "configmap/a replaced",
            ),
        ] {
            let lines = told(&mut state, line);
            assert!(lines.iter().any(|line| line == last), "{lines:?}");
            assert!(
                !lines.iter().any(|line| line.contains("does not exist")),
                "{lines:?}"
            );
        }
        // Once edited, the file is too; another manifest leaves it as it is.
        state.update(EditorMsg::Edit(MAP.replace("'1'", "'2'")));
        let lines = told(&mut state, "kubectl apply -f statefulset.yaml");
        assert_eq!(
            lines[1..3],
            [
                "# statefulset.yaml: the manifest in the editor",
                "configmap/a configured"
            ]
        );
        assert_eq!(state.editor.status, crate::editor::ApplyStatus::Applied);
        state.update(EditorMsg::Edit(MAP.replace("name: a", "name: b")));
        assert_eq!(
            told(&mut state, "kubectl apply -f statefulset.yaml")[1..],
            ["configmap/a unchanged"]
        );
        assert_eq!(
            told(&mut state, "kubectl apply -f service.yaml")[1..],
            [
                "# service.yaml: the manifest in the editor",
                "configmap/b created"
            ]
        );
    }

    #[test]
    fn a_file_of_a_replayed_history_has_the_text_that_was_applied() {
        let mut state = State::new(MAP, 1);
        told(&mut state, "kubectl apply -f app.yaml");
        state.update(EditorMsg::Edit(MAP.replace("name: a", "name: b")));
        told(&mut state, "kubectl apply -f other.yaml");
        let link = state.shared();
        let mut again = State::from_link(Some(&link));
        again.recall(&link);
        while again.timeline.run_until.is_some() {
            again.run_slice(50);
        }
        let objects = |state: &State| state.timeline.run.objects().len();
        assert_eq!(objects(&again), objects(&state));
        assert_eq!(
            again.console.history[..],
            ["kubectl apply -f app.yaml", "kubectl apply -f other.yaml"]
        );
    }

    #[test]
    fn a_file_that_a_line_writes_or_one_of_several_does_not_stand_for_the_manifest() {
        let mut state = State::new(MAP, 1);
        for line in [
            "kubectl apply -f a.yaml -f b.yaml",
            "kubectl apply -f folder",
            "kubectl logs -f a.yaml",
        ] {
            let lines = told(&mut state, line);
            assert!(
                !lines.iter().any(|line| line.contains("in the editor")),
                "{lines:?}"
            );
        }
        let lines = told(
            &mut state,
            "cat > own.yaml <<EOF\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\nEOF\nkubectl apply -f own.yaml",
        );
        assert_eq!(
            lines.last().map(String::as_str),
            Some("configmap/own created")
        );
        assert!(
            !lines.iter().any(|line| line.contains("in the editor")),
            "{lines:?}"
        );
        let mut blank = State::new("# nothing yet\n", 1);
        assert!(told(&mut blank, "kubectl apply -f a.yaml")[1].contains("does not exist"));
    }

    #[test]
    fn in_the_past_a_write_begins_a_branch_with_the_file() {
        let mut state = State::new(MAP, 1);
        state.update(crate::timeline::TimelineMsg::Seconds(5));
        state.update(crate::timeline::TimelineMsg::Seek(1_000));
        let lines = told(&mut state, "kubectl delete -f app.yaml");
        assert!(
            lines.iter().any(|line| line.contains("deleted")),
            "{lines:?}"
        );
        assert_eq!(state.timeline.run.branches().0, 2);
    }

    #[test]
    fn an_address_is_not_fetched_and_the_manifest_is_offered() {
        let mut state = State::new(MAP, 1);
        let address = "https://k8s.io/examples/application/deployment.yaml";
        let lines = told(&mut state, &format!("kubectl apply -f {address}"));
        assert!(
            lines[1].starts_with("error: unable to read URL"),
            "{lines:?}"
        );
        let offer = state.console.lines.last().expect("a line").clone();
        assert_eq!(
            offer.enters.as_deref(),
            Some("kubectl apply -f manifest.yaml")
        );
        assert!(offer.text.contains(address), "{}", offer.text);
        assert_eq!(
            told(&mut state, &offer.enters.unwrap_or_default())[1..],
            ["configmap/a unchanged"]
        );
        let known = told(&mut state, kubectl::published::GATEWAY_INSTALL);
        assert!(!known.iter().any(|line| line.contains("Nothing is fetched")));
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
