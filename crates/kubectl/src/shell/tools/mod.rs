//! Tools of the shell, one constant each.

mod cut;
mod date;
mod files;
mod grep;
mod host;
mod http;
mod lines;
mod network;
mod printf;
mod sed;
mod test;
pub mod tool;
mod tr;

use tool::ShellTool;

/// Returns the tool of a name.
pub fn find(name: &str) -> Option<&'static ShellTool> {
    TOOLS.iter().copied().find(|tool| tool.name == name)
}

/// All tools.
const TOOLS: &[&ShellTool] = &[
    &grep::GREP,
    &grep::EGREP,
    &lines::HEAD,
    &lines::TAIL,
    &lines::WC,
    &lines::SORT,
    &lines::UNIQ,
    &lines::SEQ,
    &cut::CUT,
    &cut::AWK,
    &tr::TR,
    &sed::SED,
    &files::CAT,
    &files::TEE,
    &files::LS,
    &files::TOUCH,
    &files::RM,
    &files::MKDIR,
    &files::CP,
    &host::ECHO,
    &printf::PRINTF,
    &date::DATE,
    &host::ENV,
    &host::PRINTENV,
    &host::HOSTNAME,
    &host::PS,
    &host::ID,
    &host::WHOAMI,
    &host::PWD,
    &host::BASENAME,
    &host::DIRNAME,
    &test::TEST,
    &test::BRACKET,
    &test::DOUBLE_BRACKET,
    &network::NSLOOKUP,
    &network::DIG,
    &network::PING,
    &http::CURL,
    &http::WGET,
    &network::NC,
];
