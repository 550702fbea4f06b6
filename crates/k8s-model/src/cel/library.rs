//! Functions of Kubernetes' expressions, with the types of their results.
//!
//! Models the libraries of `apiserver/pkg/cel/environment/base.go`: those of `cel-go/ext` and of `apiserver/pkg/cel/library`.

use super::parse::{OPTIONAL_INDEX, OPTIONAL_SELECT};
use super::types::CelType::{
    self, Bool, Bytes, Double, Dyn, Int, List, Map, Named, Optional, String, Uint,
};

/// Declared function.
pub(super) struct Function {
    name: &'static str,
    /// True if it is called on a receiver.
    is_method: bool,
    least: usize,
    most: usize,
    /// Returns the type of the result, by those of receiver and arguments.
    pub result: fn(&[CelType]) -> CelType,
    /// True if this engine evaluates it.
    pub is_evaluated: bool,
}

const fn function(
    name: &'static str,
    least: usize,
    most: usize,
    result: fn(&[CelType]) -> CelType,
) -> Function {
    Function {
        name,
        is_method: false,
        least,
        most,
        result,
        is_evaluated: false,
    }
}

const fn method(
    name: &'static str,
    least: usize,
    most: usize,
    result: fn(&[CelType]) -> CelType,
) -> Function {
    Function {
        name,
        is_method: true,
        least,
        most,
        result,
        is_evaluated: false,
    }
}

const fn evaluated(function: Function) -> Function {
    Function {
        is_evaluated: true,
        ..function
    }
}

fn element(of: &[CelType]) -> CelType {
    of.first().map_or(Dyn, CelType::element)
}

fn receiver(of: &[CelType]) -> CelType {
    of.first().cloned().unwrap_or(Dyn)
}

fn unwrapped(of: &[CelType]) -> CelType {
    of.first().map_or(Dyn, CelType::unwrapped)
}

fn strings(_: &[CelType]) -> CelType {
    List(String.into())
}

fn resource_check(_: &[CelType]) -> CelType {
    Named("kubernetes.authorization.ResourceCheck")
}

fn named_format(_: &[CelType]) -> CelType {
    Named("kubernetes.NamedFormat")
}

fn ip(_: &[CelType]) -> CelType {
    Named("net.IP")
}

fn cidr(_: &[CelType]) -> CelType {
    Named("net.CIDR")
}

fn quantity(_: &[CelType]) -> CelType {
    Named("kubernetes.Quantity")
}

/// Declared functions; `namespace.name` is a function without a receiver.
static FUNCTIONS: [Function; 138] = [
    evaluated(function("size", 1, 1, |_| Int)),
    evaluated(function("int", 1, 1, |_| Int)),
    evaluated(function("double", 1, 1, |_| Double)),
    evaluated(function("string", 1, 1, |_| String)),
    evaluated(function("bool", 1, 1, |_| Bool)),
    evaluated(function("dyn", 1, 1, |_| Dyn)),
    evaluated(function("duration", 1, 1, |_| Named("duration"))),
    evaluated(function("matches", 2, 2, |_| Bool)),
    evaluated(method("size", 0, 0, |_| Int)),
    evaluated(method("startsWith", 1, 1, |_| Bool)),
    evaluated(method("endsWith", 1, 1, |_| Bool)),
    evaluated(method("contains", 1, 1, |_| Bool)),
    evaluated(method("matches", 1, 1, |_| Bool)),
    evaluated(method("lowerAscii", 0, 0, |_| String)),
    evaluated(method("upperAscii", 0, 0, |_| String)),
    evaluated(method("trim", 0, 0, |_| String)),
    evaluated(method("split", 1, 2, strings)),
    evaluated(method("join", 0, 1, |_| String)),
    evaluated(method("replace", 2, 3, |_| String)),
    evaluated(method("substring", 1, 2, |_| String)),
    evaluated(method("charAt", 1, 1, |_| String)),
    evaluated(method("indexOf", 1, 1, |_| Int)),
    evaluated(method("lastIndexOf", 1, 1, |_| Int)),
    evaluated(method("isSorted", 0, 0, |_| Bool)),
    evaluated(method("sum", 0, 0, element)),
    evaluated(method("min", 0, 0, element)),
    evaluated(method("max", 0, 0, element)),
    evaluated(method("find", 1, 1, |_| String)),
    evaluated(method("reverse", 0, 0, receiver)),
    function("uint", 1, 1, |_| Uint),
    function("bytes", 1, 1, |_| Bytes),
    function("timestamp", 1, 1, |_| Named("timestamp")),
    function("type", 1, 1, |_| Named("type")),
    method("indexOf", 2, 2, |_| Int),
    method("lastIndexOf", 2, 2, |_| Int),
    method("format", 1, 1, |_| String),
    function("strings.quote", 1, 1, |_| String),
    method("findAll", 1, 2, strings),
    method("getFullYear", 0, 1, |_| Int),
    method("getMonth", 0, 1, |_| Int),
    method("getDate", 0, 1, |_| Int),
    method("getDayOfMonth", 0, 1, |_| Int),
    method("getDayOfWeek", 0, 1, |_| Int),
    method("getDayOfYear", 0, 1, |_| Int),
    method("getHours", 0, 1, |_| Int),
    method("getMinutes", 0, 1, |_| Int),
    method("getSeconds", 0, 1, |_| Int),
    method("getMilliseconds", 0, 1, |_| Int),
    method("slice", 2, 2, receiver),
    method("flatten", 0, 1, |_| List(Dyn.into())),
    method("distinct", 0, 0, receiver),
    method("sort", 0, 0, receiver),
    method("first", 0, 0, |of| Optional(element(of).into())),
    method("last", 0, 0, |of| Optional(element(of).into())),
    function("lists.range", 1, 1, |_| List(Int.into())),
    function("sets.contains", 2, 2, |_| Bool),
    function("sets.equivalent", 2, 2, |_| Bool),
    function("sets.intersects", 2, 2, |_| Bool),
    function("optional.of", 1, 1, |of| Optional(receiver(of).into())),
    function("optional.ofNonZeroValue", 1, 1, |of| {
        Optional(receiver(of).into())
    }),
    function("optional.none", 0, 0, |_| Optional(Dyn.into())),
    method("hasValue", 0, 0, |_| Bool),
    method("value", 0, 0, unwrapped),
    method("or", 1, 1, receiver),
    method("orValue", 1, 1, unwrapped),
    method("unwrapOpt", 0, 0, |_| List(Dyn.into())),
    function("optional.unwrap", 1, 1, |_| List(Dyn.into())),
    method(OPTIONAL_SELECT, 1, 1, |_| Optional(Dyn.into())),
    method(OPTIONAL_INDEX, 1, 1, |_| Optional(Dyn.into())),
    function("url", 1, 1, |_| Named("kubernetes.URL")),
    function("isURL", 1, 1, |_| Bool),
    method("getScheme", 0, 0, |_| String),
    method("getHost", 0, 0, |_| String),
    method("getHostname", 0, 0, |_| String),
    method("getPort", 0, 0, |_| String),
    method("getEscapedPath", 0, 0, |_| String),
    method("getQuery", 0, 0, |_| Map(strings(&[]).into())),
    function("quantity", 1, 1, quantity),
    function("isQuantity", 1, 1, |_| Bool),
    method("isInteger", 0, 0, |_| Bool),
    method("asInteger", 0, 0, |_| Int),
    method("asApproximateFloat", 0, 0, |_| Double),
    method("sign", 0, 0, |_| Int),
    method("add", 1, 1, quantity),
    method("sub", 1, 1, quantity),
    method("isLessThan", 1, 1, |_| Bool),
    method("isGreaterThan", 1, 1, |_| Bool),
    method("compareTo", 1, 1, |_| Int),
    function("ip", 1, 1, ip),
    function("isIP", 1, 1, |_| Bool),
    function("ip.isCanonical", 1, 1, |_| Bool),
    method("family", 0, 0, |_| Int),
    method("isUnspecified", 0, 0, |_| Bool),
    method("isLoopback", 0, 0, |_| Bool),
    method("isLinkLocalMulticast", 0, 0, |_| Bool),
    method("isLinkLocalUnicast", 0, 0, |_| Bool),
    method("isGlobalUnicast", 0, 0, |_| Bool),
    function("cidr", 1, 1, cidr),
    function("isCIDR", 1, 1, |_| Bool),
    method("containsIP", 1, 1, |_| Bool),
    method("containsCIDR", 1, 1, |_| Bool),
    method("ip", 0, 0, ip),
    method("masked", 0, 0, cidr),
    method("prefixLength", 0, 0, |_| Int),
    function("format.named", 1, 1, |of| Optional(named_format(of).into())),
    function("format.dns1123Label", 0, 0, named_format),
    function("format.dns1123Subdomain", 0, 0, named_format),
    function("format.dns1035Label", 0, 0, named_format),
    function("format.qualifiedName", 0, 0, named_format),
    function("format.dns1123LabelPrefix", 0, 0, named_format),
    function("format.dns1123SubdomainPrefix", 0, 0, named_format),
    function("format.dns1035LabelPrefix", 0, 0, named_format),
    function("format.labelValue", 0, 0, named_format),
    function("format.uri", 0, 0, named_format),
    function("format.uuid", 0, 0, named_format),
    function("format.byte", 0, 0, named_format),
    function("format.date", 0, 0, named_format),
    function("format.datetime", 0, 0, named_format),
    method("validate", 1, 1, |of| Optional(strings(of).into())),
    function("semver", 1, 2, |_| Named("kubernetes.Semver")),
    function("isSemver", 1, 2, |_| Bool),
    method("major", 0, 0, |_| Int),
    method("minor", 0, 0, |_| Int),
    method("patch", 0, 0, |_| Int),
    method("path", 1, 1, |_| {
        Named("kubernetes.authorization.PathCheck")
    }),
    method("group", 1, 1, |_| {
        Named("kubernetes.authorization.GroupCheck")
    }),
    method("serviceAccount", 2, 2, |_| super::types::AUTHORIZER),
    method("resource", 1, 1, resource_check),
    method("subresource", 1, 1, resource_check),
    method("namespace", 1, 1, resource_check),
    method("name", 1, 1, resource_check),
    method("fieldSelector", 1, 1, resource_check),
    method("labelSelector", 1, 1, resource_check),
    method("check", 1, 1, |_| {
        Named("kubernetes.authorization.Decision")
    }),
    method("allowed", 0, 0, |_| Bool),
    method("errored", 0, 0, |_| Bool),
    method("error", 0, 0, |_| String),
    method("reason", 0, 0, |_| String),
];

/// Returns the function of this name, called on a receiver or not, with a number of arguments.
pub(super) fn declared(name: &str, is_method: bool, arguments: usize) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| {
        function.name == name
            && function.is_method == is_method
            && (function.least..=function.most).contains(&arguments)
    })
}
