//! Sources named by `-f` and `-k`: files and folders of the terminal, bundled files of the web, kustomizations, stdin.
//!
//! Models `FilenameParam` of `cli-runtime/pkg/resource/builder.go` and `ExpandPathsToFileVisitors` of `visitor.go` beside it.

use super::Failure;
use super::client::Client;
use super::parse::Args;
use super::{kustomize, published};
use apiserver::ObjectSelector;
use cluster::disk::joined;
use manifest::STDIN;
use std::borrow::Cow;
use std::rc::Rc;

/// File extensions that are read in a folder.
pub const EXTENSIONS: [&str; 3] = [".json", ".yaml", ".yml"];
/// Message for a URL that cannot be fetched, with a workaround.
const NOTHING_FETCHED: &str = ", nothing is fetched from the network here; paste its text as the manifest, or save it as a file and name that";

/// File flags of a command.
#[derive(Clone, Debug, Default)]
pub struct Filenames {
    /// Values of `-f`.
    pub paths: Vec<String>,
    /// Folder of `-k`.
    pub kustomization: Option<String>,
    /// True if subfolders are read.
    pub recursive: bool,
}

/// Text that a command reads.
pub struct NamedText<'a> {
    /// Name in messages.
    pub name: Rc<str>,
    /// Text, or the reason why it is unavailable: other texts are read regardless.
    pub text: Result<Cow<'a, str>, Failure>,
}

impl Filenames {
    /// Returns the file flags of a command.
    pub fn of(args: &Args) -> Filenames {
        Filenames {
            paths: args
                .all("filename")
                .filter(|path| !path.is_empty())
                .map(str::to_owned)
                .collect(),
            kustomization: args.get("kustomize").map(str::to_owned),
            recursive: args.on("recursive"),
        }
    }

    /// Extracts the file flags from words, before the verb's flags are parsed; returns them and the other words. `by_folder` is set if
    /// `-k` is a flag.
    pub fn among(words: Vec<String>, by_folder: bool) -> (Filenames, Vec<String>) {
        let (mut files, mut others) = (Filenames::default(), Vec::new());
        let mut rest = words.into_iter();
        while let Some(word) = rest.next() {
            if word == "--" {
                others.push(word);
                others.extend(rest);
                break;
            }
            // `-Rf web` is `-R -f web`.
            let plain = word
                .strip_prefix("-R")
                .filter(|more| !more.is_empty() && !more.starts_with('='));
            let plain = plain.map_or_else(|| word.clone(), |more| format!("-{more}"));
            files.recursive |= plain.len() < word.len();
            let value = |flags: [&str; 3]| {
                flags
                    .iter()
                    .find_map(|flag| plain.strip_prefix(flag))
                    .map(str::to_owned)
            };
            match plain.as_str() {
                "-f" | "--filename" => files.paths.extend(rest.next()),
                "-k" | "--kustomize" if by_folder => match rest.next() {
                    Some(folder) => files.kustomization = Some(folder),
                    None => others.push(word),
                },
                "-R" | "--recursive" | "-R=true" | "--recursive=true" => files.recursive = true,
                "-R=false" | "--recursive=false" => files.recursive = false,
                _ => match (
                    value(["--filename=", "-f=", "-f"]),
                    value(["--kustomize=", "-k=", "-k"]).filter(|_| by_folder),
                ) {
                    (Some(path), _) => files.paths.push(path),
                    (None, Some(folder)) => files.kustomization = Some(folder),
                    (None, None) => others.push(word),
                },
            }
        }
        files.paths.retain(|path| !path.is_empty());
        (files, others)
    }

    /// Returns true if there are no file flags.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.kustomization.is_none()
    }

    /// Returns each of the paths.
    fn each(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().flat_map(|paths| paths.split(','))
    }

    /// Returns true if stdin is one of the paths.
    pub fn stdin(&self) -> bool {
        self.each().any(|path| path == "-")
    }

    /// Returns the texts in order, or the errors if any path does not exist.
    pub fn read<'a>(
        &self,
        client: &Client<'_>,
        stdin: &'a str,
    ) -> Result<Vec<NamedText<'a>>, Vec<Failure>> {
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        if !self.paths.is_empty() && self.kustomization.is_some() {
            return Err(vec![Failure::error(
                "only one of -f or -k can be specified",
            )]);
        }
        if self.each().filter(|path| *path == "-").count() > 1 {
            return Err(vec![Failure::error(
                "standard input cannot be used for multiple arguments",
            )]);
        }
        for path in self.each() {
            match self.at(client, path, stdin) {
                Ok(mut texts) => found.append(&mut texts),
                Err(failure) => missing.push(failure),
            }
            // Of folders without a manifest only the first is reported, and only if no other source precedes it.
            if found.is_empty() && missing.is_empty() {
                missing.push(Failure::error(format!(
                    "error reading [{path}]: recognized file extensions are [{}]",
                    EXTENSIONS.join(" ")
                )));
            }
        }
        if let Some(folder) = &self.kustomization {
            match kustomize::text(client, folder) {
                Ok(text) => found.push(NamedText {
                    name: folder.as_str().into(),
                    text: Ok(text.into()),
                }),
                Err(failure) => missing.push(failure),
            }
        }
        if missing.is_empty() {
            Ok(found)
        } else {
            Err(missing)
        }
    }

    /// Returns the texts at a path; empty for a folder without manifests.
    fn at<'a>(
        &self,
        client: &Client<'_>,
        path: &str,
        stdin: &'a str,
    ) -> Result<Vec<NamedText<'a>>, Failure> {
        let one = |name: &str, text| {
            Ok(vec![NamedText {
                name: name.into(),
                text,
            }])
        };
        if path == "-" {
            return one(STDIN, Ok(stdin.into()));
        }
        if path.starts_with("https://") || path.starts_with("http://") {
            let why = if published::is_known(path) {
                ""
            } else {
                NOTHING_FETCHED
            };
            let text = published::text(path).map(Cow::from);
            return one(
                path,
                text.ok_or_else(|| Failure::error(format!("unable to read URL {path:?}{why}"))),
            );
        }
        if let Some(text) = client.file(path) {
            return one(path, Ok(text.into()));
        }
        let files = client.files(path).filter(|_| !path.is_empty());
        let Some(files) = files else {
            return Err(Failure::error(format!("the path {path:?} does not exist")));
        };
        let is_read = |file: &&String| {
            EXTENSIONS.iter().any(|end| file.ends_with(end))
                && (self.recursive || !file.contains('/'))
        };
        let read = files.iter().filter(is_read).map(|file| joined(path, file));
        let text = |name: &str| {
            client
                .file(name)
                .map(Cow::from)
                .ok_or_else(|| Failure::error(format!("error parsing {name}: it is no text")))
        };
        Ok(read
            .map(|name| NamedText {
                text: text(&name),
                name: name.into(),
            })
            .collect())
    }
}

/// Parses `-l` of a command that selects among the objects of files.
pub fn selector_of_files(labels: Option<&str>) -> Result<ObjectSelector, Failure> {
    ObjectSelector::parse(labels, None).map_err(|fault| {
        Failure::error(format!(
            "the provided selector {:?} is not valid: {fault}",
            labels.unwrap_or("")
        ))
    })
}

#[cfg(test)]
mod tests {
    use crate::{Session, parse};
    use cluster::Sim;
    use cluster::disk::CONSOLE;
    use controller_runtime::cluster::ClusterConfig;

    /// Builds a terminal with files.
    fn terminal() -> Sim {
        let mut sim = Sim::new(ClusterConfig::default(), 1);
        let config =
            |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
        let files = [
            ("bad.yaml", config("first") + "---\na: [b\n"),
            ("web.yaml", config("web")),
            ("headless.yaml", "apiVersion: v1\nmetadata: {name: x}\n---\n".to_owned() + &config("after")),
            ("unknown.yaml", "apiVersion: no/v1\nkind: Thing\nmetadata: {name: t}\n---\n".to_owned() + &config("known")),
            ("invalid.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: []}\n".to_owned()),
            ("wrong.json", "{\"apiVersion\": \"v1\", \"kind\" \"ConfigMap\"}\n".to_owned()),
            ("dir/1.yaml", config("one")),
            ("dir/2.yml", config("two") + "x: 1\n"),
            ("dir/readme.txt", "hello\n".to_owned()),
            ("dir/sub/3.json", "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"three\"}}".to_owned()),
            ("texts/readme.txt", "hello\n".to_owned()),
            ("tree/kustomization.yaml", "resources: [web.yaml, invalid.yaml]\n".to_owned()),
            ("tree/web.yaml", config("web")),
            ("tree/invalid.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: []}\n".to_owned()),
        ];
        for (path, text) in files {
            assert!(sim.disks.write(CONSOLE, path, &text));
        }
        sim
    }

    /// Commands with the output of a real kubectl, run in sequence; `{v}` stands for the hint on turning validation off.
    const SAID: [(&str, &str); 26] = [
        (
            "apply -f bad.yaml -f web.yaml",
            "configmap/first created\nconfigmap/web created\nerror: error parsing bad.yaml: error converting YAML to JSON: yaml: line 1: \
             did not find expected ',' or ']'\n",
        ),
        (
            "apply -f headless.yaml,web.yaml",
            "configmap/web unchanged\nerror: error validating \"headless.yaml\": error validating data: kind not set; {v}\n",
        ),
        (
            "apply -f unknown.yaml",
            "configmap/known created\nerror: resource mapping not found for name: \"t\" namespace: \"\" from \"unknown.yaml\": no \
             matches for kind \"Thing\" in version \"no/v1\"\nensure CRDs are installed first\n",
        ),
        (
            "apply -f wrong.json -f web.yaml",
            "configmap/web unchanged\nerror: error parsing wrong.json: json: offset 29: invalid character '\"' after object key\n",
        ),
        (
            "apply -f dir",
            "configmap/one created\nError from server (BadRequest): error when creating \"dir/2.yml\": ConfigMap in version \"v1\" cannot \
             be handled as a ConfigMap: strict decoding error: unknown field \"x\"\n",
        ),
        (
            "apply -R -f ./dir/ --validate=false",
            "configmap/one unchanged\nconfigmap/two created\nconfigmap/three created\n",
        ),
        (
            "apply -f texts",
            "error: error reading [texts]: recognized file extensions are [.json .yaml .yml]\n",
        ),
        ("apply -f web.yaml -f texts", "configmap/web unchanged\n"),
        (
            "apply -f -,-",
            "error: standard input cannot be used for multiple arguments\n",
        ),
        (
            "apply -f web.yaml,",
            "error: the path \"\" does not exist\n",
        ),
        (
            "apply -f gone.yaml -f web.yaml",
            "error: the path \"gone.yaml\" does not exist\n",
        ),
        (
            "apply -f gone.yaml -f lost.yaml",
            "the path \"gone.yaml\" does not exist\nthe path \"lost.yaml\" does not exist\n",
        ),
        (
            "apply -k tree",
            "configmap/web unchanged\nThe Pod \"p\" is invalid: spec.containers: Required value\n",
        ),
        (
            "apply -k tree -f web.yaml",
            "error: only one of -f or -k can be specified\n",
        ),
        (
            "create -f bad.yaml -f headless.yaml",
            "Error from server (AlreadyExists): error when creating \"bad.yaml\": configmaps \"first\" already exists\n[error parsing \
             bad.yaml: error converting YAML to JSON: yaml: line 1: did not find expected ',' or ']', error validating \
             \"headless.yaml\": error validating data: kind not set; {v}]\n",
        ),
        (
            "create -f ./web.yaml",
            "Error from server (AlreadyExists): error when creating \"./web.yaml\": configmaps \"web\" already exists\n",
        ),
        (
            "replace -f invalid.yaml",
            "Error from server (NotFound): error when replacing \"invalid.yaml\": pods \"p\" not found\n",
        ),
        (
            "replace --force -f invalid.yaml",
            "The Pod \"p\" is invalid: spec.containers: Required value\n",
        ),
        (
            "delete -f invalid.yaml -f web.yaml --wait=false",
            "configmap \"web\" deleted from default namespace\nError from server (NotFound): error when deleting \"invalid.yaml\": pods \
             \"p\" not found\n",
        ),
        (
            "delete -f headless.yaml --wait=false",
            "Error from server (NotFound): error when deleting \"headless.yaml\": configmaps \"after\" not found\nunable to decode \
             \"headless.yaml\": Object 'Kind' is missing in '{\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"x\"}}'\n",
        ),
        (
            "get -Rf dir -o name",
            "configmap/one\nconfigmap/two\nconfigmap/three\n",
        ),
        (
            "get --recursive=true -f dir -o name",
            "configmap/one\nconfigmap/two\nconfigmap/three\n",
        ),
        (
            "get -R -f dir -o name",
            "configmap/one\nconfigmap/two\nconfigmap/three\n",
        ),
        (
            "label -f gone.yaml a=b",
            "error: the path \"gone.yaml\" does not exist\n",
        ),
        (
            "diff -f gone.yaml",
            "error: the path \"gone.yaml\" does not exist\n",
        ),
        (
            "diff -f bad.yaml -f web.yaml",
            "error: error parsing bad.yaml: error converting YAML to JSON: yaml: line 1: did not find expected ',' or ']'\n",
        ),
    ];

    #[test]
    fn a_faulty_file_is_reported_and_the_others_are_used() {
        let mut sim = terminal();
        for (line, said) in SAID {
            let session = Session::start(&mut sim, &parse::split(line), "");
            let said = said.replace(
                "{v}",
                "if you choose to ignore these errors, turn validation off with --validate=false",
            );
            assert_eq!(session.stdout + &session.stderr, said, "{line}");
        }
    }

    #[test]
    fn what_is_written_to_a_command_and_a_published_file_are_read_beside_files() {
        let mut sim = terminal();
        let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n";
        let address = crate::published::GATEWAY_INSTALL
            .rsplit(' ')
            .next()
            .unwrap_or("");
        let line = format!("apply -f web.yaml -f - -f {address}");
        let session = Session::start(&mut sim, &parse::split(&line), text);
        assert_eq!(session.stderr, "");
        assert!(
            session
                .stdout
                .starts_with("configmap/web created\nsecret/s created\n"),
            "{}",
            session.stdout
        );
        assert!(session.stdout.contains("customresourcedefinition.apiextensions.k8s.io/gateways.gateway.networking.k8s.io created\n"));
        let session = Session::start(
            &mut sim,
            &parse::split("apply -f https://example.com/web.yaml -f web.yaml"),
            "",
        );
        assert!(session.stderr.starts_with(
            "error: unable to read URL \"https://example.com/web.yaml\", nothing is fetched"
        ));
        assert_eq!(session.stdout, "configmap/web unchanged\n");
    }

    #[test]
    fn a_folder_gives_a_config_map_each_of_its_own_files() {
        let mut sim = terminal();
        let mut said = |line: &str| {
            let session = Session::start(&mut sim, &parse::split(line), "");
            session.stdout + &session.stderr
        };
        assert_eq!(
            said("create configmap c --from-file=dir/"),
            "configmap/c created\n"
        );
        assert_eq!(
            said("get configmap c -o go-template='{{range $key, $text := .data}}{{$key}} {{end}}'"),
            "1.yaml 2.yml readme.txt "
        );
        assert_eq!(
            said("create configmap d --from-file=k=dir"),
            "error: cannot give a key name for a directory path\n"
        );
    }

    #[test]
    fn paths_begin_where_the_terminal_is() {
        let mut sim = terminal();
        let session = Session::line(
            &mut sim,
            "kubectl create ns shop; kubectl config set-context --current --namespace=shop",
            100,
        );
        assert_eq!(session.stderr, "");
        let mut session = Session::line(
            &mut sim,
            "cd dir; kubectl apply -f 1.yaml -f /web.yaml -f ../headless.yaml --validate=false",
            100,
        );
        session.poll(&mut sim);
        assert_eq!(
            session.stdout,
            "configmap/one created\nconfigmap/web created\nconfigmap/after created\n"
        );
        assert!(
            session
                .stderr
                .contains("unable to decode \"../headless.yaml\""),
            "{}",
            session.stderr
        );
        // The namespace of the context applies in every folder, and a kustomization may have an absolute path.
        assert!(
            sim.store()
                .list(k8s_model::Kind::ConfigMap)
                .any(|object| object.meta.name == "one" && object.meta.namespace == "shop")
        );
        let session = Session::line(&mut sim, "cd dir; kubectl kustomize /tree", 100);
        assert!(
            session.stderr.is_empty() && session.stdout.contains("kind: Pod"),
            "{}",
            session.stderr
        );
    }
}
