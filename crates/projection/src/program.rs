//! Problems of programs in words.

use i18n::{Message, msg};
use script::{Problem, ScriptError};

/// Describes the problem of a program.
pub fn problem(problem: &Problem) -> Message {
    match problem {
        Problem::UnexpectedText { found, expected } => {
            msg::program_unexpected(text(expected), text(found))
        }
        Problem::Indentation => msg::program_indentation(),
        Problem::OpenString => msg::program_open_string(),
        Problem::NumberTooLarge => msg::program_number_large(),
        Problem::TooNested => msg::program_nested(),
        Problem::Unsupported(what) => msg::program_unsupported(what),
        Problem::UndefinedName(name) => msg::program_undefined(name),
        Problem::NoEntryPoint => msg::program_no_entry(),
        Problem::TwoEntryPoints => msg::program_two_entries(),
        Problem::EntryParameters(name) => msg::program_entry_parameters(*name),
        Problem::Operation { operation, types } => {
            msg::program_operation(operation, types.join(", "))
        }
        Problem::TooManyArguments {
            function,
            most,
            given,
        } => msg::program_too_many(function, *most, *given),
        Problem::UnexpectedArgument { function, name } => {
            msg::program_unexpected_argument(function, name)
        }
        Problem::MissingArgument { function, name } => {
            msg::program_missing_argument(function, name)
        }
        Problem::Argument { function, reason } => msg::program_argument(function, reason),
        Problem::NoField { of, field } => msg::program_no_field(*of, field),
        Problem::NoItem(item) => msg::program_no_item(item),
        Problem::NotCallable(of) => msg::program_not_callable(*of),
        Problem::DivisionByZero => msg::program_zero(),
        Problem::Overflow => msg::program_overflow(),
        Problem::OutsidePass(name) => msg::program_outside(*name),
        Problem::Failed(message) => Message::state(message),
        Problem::Unchecked { reason, message } => msg::program_unchecked(*reason, message),
        Problem::Steps(most) => msg::program_steps(*most),
        Problem::Memory(most) => msg::program_memory(*most),
        Problem::Depth => msg::program_depth(),
    }
}

/// Describes the problem of a program with its line.
pub fn error(error: &ScriptError) -> Message {
    msg::program_line(error.line, problem(&error.problem))
}

/// Describes a part of the grammar; text of the program stays as it is.
fn text(part: &str) -> Message {
    match part {
        "the end of the line" => msg::program_end_of_line(),
        "a number" => msg::program_number(),
        "an expression" => msg::program_expression(),
        "a named argument" => msg::program_named_argument(),
        "a name" => msg::program_name(),
        "a statement" => msg::program_statement(),
        "an indented block" => msg::program_block(),
        "the end of the block" => msg::program_end_of_block(),
        "the end of the program" => msg::program_end(),
        "a string" => msg::program_string(),
        "an index" => msg::program_index(),
        "something that can be assigned to" => msg::program_target(),
        other => Message::state(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use script::Program;

    #[test]
    fn words_of_a_problem_are_those_of_the_api_server() {
        for source in [
            "def reconcile(key):\n    if True\n        pass\n",
            "def reconcile(key):\n    x = (1,\n",
            "def reconcile(key):\n    if True:\n    pass\n",
            "def reconcile(key):\n    if True:\n",
            "def reconcile(key):\n    x = 1 'b'\n",
            "def reconcile(key):\n    return replcas\n",
            "def other(key):\n    pass\n",
            "import os\n",
            "def reconcile(key):\n    x = 'abc\n",
            "def reconcile(key):\n    get(1)\n",
            "def reconcile(key):\n    get(1, 2, 3, 4)\n",
            "def reconcile(key):\n    get(1, 2, nmespace=3)\n",
            "def reconcile(key):\n    f()\n\ndef f(x, y=1):\n    pass\n",
        ] {
            let found = Program::parse(source).unwrap_err();
            assert_eq!(error(&found).english(), found.to_string());
        }
    }
}
