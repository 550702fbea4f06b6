//! Functions that a program can call besides its own: those of the language, and those of the cluster.

/// Function of the cluster, which a [`Host`](crate::Host) carries out.
#[derive(Debug)]
pub struct Signature {
    /// Name.
    pub name: &'static str,
    /// Names of its parameters.
    pub parameters: &'static [&'static str],
    /// Number of parameters that a call must have.
    pub required: usize,
    /// True if a call may write.
    pub writes: bool,
    /// Description in a sentence.
    pub help: &'static str,
}

macro_rules! signatures {
    ($($name:ident($($required:ident),*; $($optional:ident),*) $access:ident $help:literal)*) => {
        /// Functions of the cluster.
        pub static CLUSTER: &[Signature] = &[$(Signature {
            name: stringify!($name),
            parameters: &[$(stringify!($required),)* $(stringify!($optional),)*],
            required: [$(stringify!($required),)* ""].len() - 1,
            writes: matches!(Access::$access, Access::Writes),
            help: $help,
        },)*];
    };
}

/// Effect of a function.
enum Access {
    Reads,
    Writes,
}

signatures! {
    get(kind, name; namespace) Reads
        "Reads an object from the cache of the loop; None if it is not there."
    list(kind; namespace, labels, owner) Reads
        "Reads the objects of a kind from the cache of the loop, of one namespace, with these labels, or controlled by this object."
    create(object;) Writes
        "Creates an object."
    update(object;) Writes
        "Replaces an object; it fails with conflict if the object has changed since it was read."
    update_status(object; status) Writes
        "Replaces the status of an object."
    patch(object, changes;) Writes
        "Changes fields of an object, whatever its version; None removes a field."
    apply(object; force) Writes
        "Creates the object, or changes the fields that it has (server-side apply)."
    delete(object; uid, version, propagation) Writes
        "Deletes an object, if it still has this uid and version."
    event(object, reason, message; type) Writes
        "Records an Event about an object."
    requeue_after(seconds;) Reads
        "Asks for a further pass over the key after this time."
    now(;) Reads
        "Returns the time in seconds since 1970."
    seconds(timestamp;) Reads
        "Returns the seconds since 1970 of a timestamp of an object."
    timestamp(seconds;) Reads
        "Returns the timestamp of seconds since 1970."
    log(message;) Reads
        "Keeps a line of the loop's log."
}

/// Functions of the language.
pub static LANGUAGE: &[&str] = &[
    "abs",
    "add_finalizer",
    "all",
    "any",
    "bool",
    "check",
    "dict",
    "diff",
    "enumerate",
    "fail",
    "float",
    "has_finalizer",
    "int",
    "is_error",
    "len",
    "max",
    "min",
    "print",
    "range",
    "remove_finalizer",
    "repr",
    "reversed",
    "set_owner",
    "sorted",
    "str",
    "sum",
    "type",
    "zip",
];

/// Returns the function of the cluster with this name.
pub fn cluster_function(name: &str) -> Option<&'static Signature> {
    CLUSTER.iter().find(|signature| signature.name == name)
}
