//! `loopscope serve` with clients and admission webhooks outside of it: HTTPS, credentials, calls.

mod client;
mod hooks;
mod identity;
mod webhooks;
