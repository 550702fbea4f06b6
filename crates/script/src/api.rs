//! Functions that a program can call besides its own: those of the language, and those of the cluster.

use crate::error::Problem;

/// Function that a program can call.
#[derive(Debug)]
pub struct Signature {
    /// Name.
    pub name: &'static str,
    /// Names of its parameters.
    pub parameters: &'static [&'static str],
    /// Number of parameters that a call must have.
    pub required: usize,
    /// True if a call may have more arguments than these.
    pub variadic: bool,
    /// True if a call may write.
    pub writes: bool,
    /// Description in a sentence.
    pub help: &'static str,
}

macro_rules! signatures {
    ($(#[$doc:meta])* $table:ident: $($name:ident($($required:ident),*; $($optional:ident),*) $access:ident $help:literal)*) => {
        $(#[$doc])*
        pub static $table: &[Signature] = &[$(Signature {
            name: stringify!($name),
            parameters: &[$(stringify!($required),)* $(stringify!($optional),)*],
            required: [$(stringify!($required),)* ""].len() - 1,
            variadic: matches!(Access::$access, Access::Variadic),
            writes: matches!(Access::$access, Access::Writes),
            help: $help,
        },)*];
    };
}

impl Signature {
    /// Returns the form of a call, such as `get(kind, name, namespace=)`.
    pub fn form(&self) -> String {
        let parameters = self.parameters.iter().enumerate();
        let shown = parameters.map(|(i, name)| match i < self.required {
            true => (*name).to_owned(),
            false => format!("{name}="),
        });
        let mut shown: Vec<String> = shown.collect();
        if self.variadic {
            shown.push("…".to_owned());
        }
        format!("{}({})", self.name, shown.join(", "))
    }
}

/// Refuses a call whose arguments do not fit the parameters of the function, each with its name and whether it must be given.
pub(crate) fn fit<'p>(
    function: &str,
    parameters: impl Iterator<Item = (&'p str, bool)> + Clone,
    positional: usize,
    named: impl Iterator<Item = &'p str> + Clone,
) -> Result<(), Problem> {
    let most = parameters.clone().count();
    if positional > most {
        return Err(Problem::TooManyArguments {
            function: function.to_owned(),
            most,
            given: positional,
        });
    }
    for (i, name) in named.clone().enumerate() {
        let open = parameters.clone().skip(positional);
        let is_repeated = named.clone().take(i).any(|before| before == name);
        if is_repeated || !open.into_iter().any(|(known, _)| known == name) {
            return Err(Problem::UnexpectedArgument {
                function: function.to_owned(),
                name: name.to_owned(),
            });
        }
    }
    let mut missing = parameters.skip(positional).filter(|(_, needed)| *needed);
    match missing.find(|(name, _)| named.clone().all(|given| given != *name)) {
        Some((name, _)) => Err(Problem::MissingArgument {
            function: function.to_owned(),
            name: name.to_owned(),
        }),
        None => Ok(()),
    }
}

/// Effect of a function.
enum Access {
    Reads,
    Writes,
    Variadic,
}

signatures! {
    /// Functions of the cluster, which a [`Host`](crate::Host) carries out.
    CLUSTER:
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

signatures! {
    /// Functions of the language.
    LANGUAGE:
    abs(number;) Reads "Returns the number without its sign."
    add_finalizer(object, name;) Reads
        "Adds a finalizer to the object in hand; returns True if it was not there."
    all(items;) Reads "Returns True if all items are true."
    any(items;) Reads "Returns True if an item is true."
    bool(value;) Reads "Returns True for what counts as true in a condition."
    check(result;) Reads
        "Returns the result of a request; an error ends the pass, which is retried."
    dict(;items) Reads "Returns a new dict, or a copy of one."
    diff(desired, current;) Reads
        "Returns the fields of the first object that the second does not have so, as texts."
    enumerate(items;) Reads "Returns the items with their positions."
    fail(message;) Reads "Ends the pass with an error, after which it is retried."
    float(value;) Reads "Returns the number with a fraction that a text or an integer stands for."
    has_finalizer(object, name;) Reads "Returns True if the object has the finalizer."
    int(value;) Reads "Returns the integer that a text or a number stands for."
    is_error(value;) Reads "Returns True for the error of a failed request."
    len(value;) Reads "Returns the number of items, or of characters."
    max(items;) Variadic "Returns the greatest item; key= ranks them."
    min(items;) Variadic "Returns the least item; key= ranks them."
    print(;) Variadic "Keeps a line of the loop's log."
    range(end;) Variadic "Returns the integers up to this one, without it: range(end), range(start, end), range(start, end, step)."
    remove_finalizer(object, name;) Reads
        "Removes a finalizer of the object in hand; returns True if it was there."
    repr(value;) Reads "Returns the value as it is written in a program."
    reversed(items;) Reads "Returns the items from the last to the first."
    set_owner(object, owner;) Reads
        "Makes the owner the controller of the object, and returns the object."
    sorted(items; key, reverse) Reads "Returns the items in order; key= ranks them."
    str(value;) Reads "Returns the value as a text."
    sum(items;) Reads "Returns the sum of the items."
    type(value;) Reads "Returns the name of the type."
    zip(first, second;) Reads "Returns the pairs of two lists."
}

/// Words of the language that are no functions.
pub static KEYWORDS: &[&str] = &[
    "and", "break", "continue", "def", "elif", "else", "False", "for", "global", "if", "in",
    "lambda", "None", "not", "or", "pass", "return", "True", "while",
];

/// Returns the function of the cluster with this name.
pub fn cluster_function(name: &str) -> Option<&'static Signature> {
    CLUSTER.iter().find(|signature| signature.name == name)
}

/// Returns the function of the language with this name.
pub fn language_function(name: &str) -> Option<&'static Signature> {
    LANGUAGE.iter().find(|signature| signature.name == name)
}
