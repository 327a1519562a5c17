//! What a tool in Zig needs: the two exports of the tool contract's canonical ABI. The root file says
//! `comptime { tool.exports(@This()); }` and has `pub const schema` (JSON text), `pub const Arguments` (a struct that the
//! arguments are read into) and `pub fn run(args: Arguments) ![]const u8`.

const std = @import("std");

/// Never freed: each call runs in an instance of its own.
pub const memory = std.heap.wasm_allocator;

const Text = extern struct { ptr: [*]const u8, len: usize };
const Answer = extern struct { failed: u8, text: Text };

fn realloc(old: [*]u8, old_size: usize, alignment: usize, size: usize) callconv(.c) [*]u8 {
    if (size == 0) return @ptrFromInt(alignment);
    const fresh = memory.alloc(u64, (size + 7) / 8) catch @trap();
    const bytes: [*]u8 = @ptrCast(fresh.ptr);
    const kept = @min(old_size, size);
    if (kept > 0) @memcpy(bytes[0..kept], old[0..kept]);
    return bytes;
}

/// Exports `schema`, `run` and `cabi_realloc` for the tool in `root`.
pub fn exports(comptime root: type) void {
    const abi = struct {
        var described: Text = undefined;
        var answer: Answer = undefined;

        fn schema() callconv(.c) *const Text {
            described = .{ .ptr = root.schema.ptr, .len = root.schema.len };
            return &described;
        }

        fn run(ptr: [*]const u8, len: usize) callconv(.c) *const Answer {
            const text = if (serve(ptr[0..len])) |text| text else |reason| {
                const name = @errorName(reason);
                answer = .{ .failed = 1, .text = .{ .ptr = name.ptr, .len = name.len } };
                return &answer;
            };
            answer = .{ .failed = 0, .text = .{ .ptr = text.ptr, .len = text.len } };
            return &answer;
        }

        fn serve(json: []const u8) ![]const u8 {
            const options: std.json.ParseOptions = .{ .ignore_unknown_fields = true };
            return root.run(try std.json.parseFromSliceLeaky(root.Arguments, memory, json, options));
        }
    };
    @export(&realloc, .{ .name = "cabi_realloc" });
    @export(&abi.schema, .{ .name = "schema" });
    @export(&abi.run, .{ .name = "run" });
}
