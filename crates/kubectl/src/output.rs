//! Output format and dry-run mode of a command: `-o` and `--dry-run`.
//!
//! Models `cli-runtime/pkg/genericclioptions` (print flags) and `kubectl/pkg/cmd/util` (dry runs).

use super::Failure;
use super::parse::Args;
use super::printers::table::Widths;
use super::printers::template::Template;
use super::printers::{jsonpath, kyaml, yaml};
use apiserver::Unknown;
use k8s_model::Kind;
use serde_json::{Value, json};

/// Dry-run mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DryRun {
    /// Writes are sent.
    #[default]
    No,
    /// Requests are not sent.
    Client,
    /// The server processes requests but stores no changes.
    Server,
    /// `--local`: objects come from files, and the server is not contacted.
    Local,
}

impl DryRun {
    fn parse(args: &Args) -> Result<DryRun, Failure> {
        Ok(match args.get("dry-run") {
            _ if args.on("local") => DryRun::Local,
            None | Some("none" | "false") => DryRun::No,
            Some("client" | "unchanged" | "true") => DryRun::Client,
            Some("server") => DryRun::Server,
            Some(other) => {
                return Err(Failure::error(format!(
                    "Invalid dry-run value ({other}). Must be \"none\", \"server\", or \"client\"."
                )));
            }
        })
    }

    /// Returns the suffix of a result line.
    pub fn note(self) -> &'static str {
        match self {
            DryRun::No | DryRun::Local => "",
            DryRun::Client => " (dry run)",
            DryRun::Server => " (server dry run)",
        }
    }
}

/// Output format.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputFormat {
    /// Table with one row per object.
    Table {
        wide: bool,
    },
    Yaml,
    Kyaml,
    Json,
    Name,
    JsonPath(String),
    /// Values of a path as a list.
    JsonPathAsJson(String),
    Template(Template),
    Columns(Vec<(String, String)>),
}

/// Formats of `get` only, and of every verb.
const TABLES: &str = "custom-columns,custom-columns-file,";
const FORMATS: &str = "go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,";

/// Output and write options of a command.
#[derive(Clone, Debug, Default)]
pub struct Mode {
    /// Dry-run mode.
    pub dry: DryRun,
    /// Format of `-o`.
    pub format: Option<OutputFormat>,
    /// True if the command names a namespace.
    pub namespaced: bool,
    /// Field manager of writes.
    pub field_manager: String,
    /// Handling of unknown fields in writes.
    pub field_validation: Unknown,
    /// True if a server-side apply takes over the fields of client-side apply.
    pub migrates: bool,
}

impl Mode {
    /// Parses the flags of a verb.
    pub fn parse(args: &Args) -> Result<Mode, Failure> {
        Ok(Mode {
            dry: DryRun::parse(args)?,
            format: format(args)?,
            namespaced: args.get("namespace").is_some(),
            field_manager: field_manager(args),
            field_validation: field_validation(args),
            migrates: args.verb == "apply" && args.on("server-side"),
        })
    }
}

/// Returns the field manager: that of `--field-manager`, or the verb's default.
fn field_manager(args: &Args) -> String {
    let default = || match args.verb.as_str() {
        "apply" if args.on("server-side") => "kubectl".to_owned(),
        "apply" => "kubectl-client-side-apply".to_owned(),
        "scale" => "kubectl".to_owned(),
        verb => format!("kubectl-{verb}"),
    };
    args.get("field-manager")
        .filter(|name| !name.is_empty())
        .map_or_else(default, str::to_owned)
}

/// Returns the handling of unknown fields: that of `--validate`, or the verb's default.
fn field_validation(args: &Args) -> Unknown {
    match (args.verb.as_str(), args.get("validate")) {
        (_, Some("warn")) => Unknown::Warn,
        (_, Some("false" | "ignore")) => Unknown::Drop,
        ("apply" | "create" | "replace", _) => Unknown::Refuse,
        // Default of the server, without the flag.
        _ => Unknown::Warn,
    }
}

fn format(args: &Args) -> Result<Option<OutputFormat>, Failure> {
    let template = args.get("template").unwrap_or("");
    let usual = if template.is_empty() {
        ""
    } else {
        "go-template"
    };
    let text = args
        .get("output")
        .filter(|text| !text.is_empty())
        .unwrap_or(usual);
    if text.is_empty() {
        return Ok(None);
    }
    let (name, detail) = text.split_once('=').unwrap_or((text, template));
    let tables = matches!(args.verb.as_str(), "get" | "events");
    Ok(Some(match name {
        "wide" if tables => OutputFormat::Table { wide: true },
        "yaml" => OutputFormat::Yaml,
        "kyaml" => OutputFormat::Kyaml,
        "json" => OutputFormat::Json,
        "name" => OutputFormat::Name,
        "jsonpath" | "jsonpath-as-json" | "go-template" | "template" if detail.is_empty() => {
            return Err(Failure::error(
                "template format specified but no template given",
            ));
        }
        "jsonpath" => OutputFormat::JsonPath(detail.to_owned()),
        "jsonpath-as-json" => OutputFormat::JsonPathAsJson(detail.to_owned()),
        "go-template" | "template" => {
            OutputFormat::Template(Template::parse(detail).map_err(Failure::error)?)
        }
        "custom-columns" if tables && detail.is_empty() => {
            return Err(Failure::error(
                "custom-columns format specified but no custom columns given",
            ));
        }
        "custom-columns" if tables => {
            let split = |part: &str| {
                part.split_once(':')
                    .map(|(head, path)| (head.to_owned(), path.to_owned()))
            };
            let columns: Option<Vec<_>> = detail.split(',').map(split).collect();
            let wrong = || {
                Failure::error(format!(
                    "unexpected custom-columns spec: {detail}, expected <header>:<json-path-expr>"
                ))
            };
            OutputFormat::Columns(columns.ok_or_else(wrong)?)
        }
        _ => {
            let (first, wide) = if tables { (TABLES, "wide,") } else { ("", "") };
            return Err(Failure::error(format!(
                "unable to match a printer suitable for the output format \"{text}\", allowed formats are: {first}{FORMATS}{wide}yaml"
            )));
        }
    }))
}

impl OutputFormat {
    /// Returns true if an expression of the format uses a field.
    pub fn reads(&self, field: &str) -> bool {
        match self {
            OutputFormat::JsonPath(text) | OutputFormat::JsonPathAsJson(text) => {
                text.contains(field)
            }
            OutputFormat::Template(template) => template.text().contains(field),
            OutputFormat::Columns(columns) => columns.iter().any(|(_, path)| path.contains(field)),
            _ => false,
        }
    }

    /// Formats objects, for every format except tables: one object as itself (`single`), or a list of them.
    pub fn print(
        &self,
        kind: Kind,
        objects: &[Value],
        single: bool,
        header: bool,
    ) -> Result<String, Failure> {
        let whole = match objects {
            [one] if single => one.clone(),
            all => {
                json!({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": all})
            }
        };
        Ok(match self {
            OutputFormat::Table { .. } => String::new(),
            OutputFormat::Yaml => yaml::print(&whole),
            OutputFormat::Kyaml => kyaml::print(&whole),
            OutputFormat::Json => pretty(&whole),
            OutputFormat::Name => objects
                .iter()
                .map(|object| format!("{}\n", named(kind_of(object, kind), object)))
                .collect(),
            OutputFormat::JsonPath(template) => jsonpath::print(template, &whole)
                .map_err(|fault| Failure::error(fault.told(template, &whole)))?,
            OutputFormat::JsonPathAsJson(path) => {
                let found = jsonpath::values(path, &whole)
                    .map_err(|fault| Failure::error(fault.told(path, &whole)))?;
                pretty(&found.into_iter().cloned().collect())
            }
            OutputFormat::Template(template) => template.print(&whole).map_err(Failure::error)?,
            OutputFormat::Columns(columns) => {
                let mut rows = Vec::new();
                if header {
                    rows.push(columns.iter().map(|(head, _)| head.clone()).collect());
                }
                for object in objects {
                    rows.push(columns.iter().map(|(_, path)| cell(path, object)).collect());
                }
                Widths::default().print(&rows)
            }
        })
    }
}

/// Formats a kind as Go does: `apps/v1, Resource=deployments`.
pub fn resource(kind: Kind) -> String {
    let info = kind.info();
    format!("{}/{}, Resource={}", info.group, info.version, info.plural)
}

/// Formats a kind as Go does: `apps/v1, Kind=Deployment`.
pub fn group_version_kind(kind: Kind) -> String {
    let info = kind.info();
    format!("{}/{}, Kind={}", info.group, info.version, info.name)
}

/// Returns the Go type of a kind's objects: `*v1.Deployment`.
pub fn go_type(kind: Kind) -> String {
    if kind.is_custom() {
        "*unstructured.Unstructured".to_owned()
    } else {
        format!("*{}.{}", kind.info().version, kind.name())
    }
}

/// Formats an object's name: `deployment.apps/nginx`.
pub fn named(kind: Kind, object: &Value) -> String {
    format!(
        "{}/{}",
        kind.qualified_singular(),
        object["metadata"]["name"].as_str().unwrap_or("")
    )
}

/// Returns the kind that an object declares.
pub fn kind_of(object: &Value, fallback: Kind) -> Kind {
    Kind::from_api(
        object["apiVersion"].as_str().unwrap_or(""),
        object["kind"].as_str().unwrap_or(""),
    )
    .unwrap_or(fallback)
}

fn cell(path: &str, object: &Value) -> String {
    let found = jsonpath::values(path, object).unwrap_or_default();
    if found.is_empty() {
        "<none>".to_owned()
    } else {
        found
            .into_iter()
            .map(jsonpath::show)
            .collect::<Vec<_>>()
            .join(",")
    }
}

/// Formats JSON indented by four blanks, as kubectl does.
fn pretty(value: &Value) -> String {
    let mut out = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
    // Writing a Value to a vector cannot fail.
    let _ = serde::Serialize::serialize(value, &mut serializer);
    format!("{}\n", String::from_utf8_lossy(&out))
}
