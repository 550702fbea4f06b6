//! A kubectl command line to requests and printed output.
