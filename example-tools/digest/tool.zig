//! The digest of a text: a tool in Zig, without libc and without WASI.

const std = @import("std");
const tool = @import("autocode.zig");

comptime {
    tool.exports(@This());
}

// Without a "name" the tool is called like its file.
pub const schema =
    \\{"description": "Digest of a text, in hexadecimal.",
    \\ "parameters": {"type": "object", "required": ["text"], "properties": {
    \\   "text": {"type": "string"},
    \\   "algorithm": {"enum": ["sha256", "sha1", "md5"], "default": "sha256"}}}}
;

pub const Arguments = struct {
    text: []const u8,
    algorithm: enum { sha256, sha1, md5 } = .sha256,
};

pub fn run(args: Arguments) ![]const u8 {
    return switch (args.algorithm) {
        .sha256 => hex(std.crypto.hash.sha2.Sha256, args.text),
        .sha1 => hex(std.crypto.hash.Sha1, args.text),
        .md5 => hex(std.crypto.hash.Md5, args.text),
    };
}

fn hex(comptime Hash: type, text: []const u8) ![]const u8 {
    var digest: [Hash.digest_length]u8 = undefined;
    Hash.hash(text, &digest, .{});
    return tool.memory.dupe(u8, &std.fmt.bytesToHex(digest, .lower));
}
