//! Environment variables and names by which a client finds its node.

/// Path of the socket that the node listens on, in a directory that is its user's alone.
pub const NODE: &str = "CRESTLINE_NODE";
/// Directory that stands in for `/dev/dri`, `/sys` and debugfs entries of the devices.
pub const TREE: &str = "CRESTLINE_TREE";
/// Set to 1: every request, parameter or path that is not known is reported each time.
pub const STRICT: &str = "CRESTLINE_STRICT";
/// File name of the socket in the tree.
pub const SOCKET: &str = "socket";
