//! Validation of objects on create and update, in the API server's words.
