//! Generators of objects from arguments.

use crate::Failure;
use crate::client::Client;
use crate::parse::Args;
use serde_json::{Map, Value, json};

/// Subcommand that builds an object from arguments.
pub struct Generator {
    /// Name: `configmap`, or two words as `service nodeport`.
    pub name: &'static str,
    /// Alias of the first word.
    pub alias: &'static str,
    /// Flags besides the common ones, in the notation of [`super::parse`].
    pub flags: &'static str,
    /// Prefix of the server's refusal; empty for none.
    pub fails: &'static str,
    pub make: fn(&mut Client<'_>, &Args, &str) -> Result<Value, Failure>,
}

/// Parses `a=b,c=d` into a map.
pub fn pairs(text: &str) -> Map<String, Value> {
    text.split(',')
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (key.to_owned(), Value::from(value)))
        .collect::<serde_json::Map<_, _>>()
}

/// Parses `5` or `20%`.
pub fn amount(text: &str) -> Value {
    text.parse::<i64>().map_or(Value::from(text), Value::from)
}

/// Returns the values of a flag that may be repeated and may hold several.
pub fn list<'a>(args: &'a Args, flag: &'a str) -> impl Iterator<Item = &'a str> {
    args.all(flag)
        .flat_map(|words| words.split(','))
        .filter(|word| !word.is_empty())
}

/// Builds an object with only a name; the caller adds the rest.
pub fn object(api_version: &str, kind: &str, name: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}})
}
