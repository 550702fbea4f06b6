//! What makes an object of a few words.

use crate::Failure;
use crate::client::Client;
use crate::parse::Args;
use serde_json::{Map, Value, json};

/// A subcommand that makes an object of a few words.
pub struct Generator {
    /// `configmap`, or two words as `service nodeport`.
    pub name: &'static str,
    /// Another word for the first.
    pub alias: &'static str,
    /// Its flags beside those that all have, in the notation of [`super::parse`].
    pub flags: &'static str,
    /// What stands before the server's refusal; empty if that stands alone.
    pub fails: &'static str,
    pub make: fn(&mut Client<'_>, &Args, &str) -> Result<Value, Failure>,
}

/// `a=b,c=d` as a map.
pub fn pairs(text: &str) -> Map<String, Value> {
    k8s_model::sort::map(
        text.split(',')
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (key.to_owned(), Value::from(value))),
    )
}

/// `5` or `20%`.
pub fn amount(text: &str) -> Value {
    text.parse::<i64>().map_or(Value::from(text), Value::from)
}

/// The words of a flag that may be repeated and hold several.
pub fn list<'a>(args: &'a Args, flag: &'a str) -> impl Iterator<Item = &'a str> {
    args.all(flag)
        .flat_map(|words| words.split(','))
        .filter(|word| !word.is_empty())
}

/// An object with nothing but a name; its kind is filled in.
pub fn object(api_version: &str, kind: &str, name: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}})
}
