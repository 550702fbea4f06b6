//! The `loopscope` command and what the page is made of.

mod check;
mod export;
mod kept;
mod lesson_command;
mod lesson_schema;
mod lessons;
mod links;
mod mcp;
mod messages;
