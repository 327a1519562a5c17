//! The one built-in tool.
