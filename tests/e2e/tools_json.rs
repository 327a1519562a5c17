//! What providers cache: the request's prefix, byte for byte.

use autocode_tests::wat::{Behaviour, tool};
use autocode_tests::{Reply, Request};

use crate::scripted;

fn same_tools(a: &Request, b: &Request) -> bool {
    assert!(!a.tools_bytes().is_empty());
    a.tools_bytes() == b.tools_bytes()
}

#[test]
fn the_tools_are_the_same_bytes_until_one_changes() {
    let (server, env) = scripted([
        Reply::bash("true"),
        Reply::bash("cp zeta.wasm .autocode/tools/"),
        Reply::bash("true"),
        Reply::bash("cp alpha.wasm .autocode/tools/; touch .autocode/tools/zeta.wasm"),
        Reply::bash("true"),
        Reply::bash("rm .autocode/tools/zeta.wasm"),
        Reply::text("done"),
    ]);
    env.write("zeta.wasm", tool("Last by name.", Behaviour::Returns("z")));
    env.write("alpha.wasm", tool("First by name.", Behaviour::Returns("a")));
    env.cmd(["-p", "go"]).run().answered("done\n");

    let requests = server.requests();
    let same: Vec<bool> = requests.windows(2).map(|pair| same_tools(&pair[0], &pair[1])).collect();
    assert_eq!(same, [true, false, true, false, true, false]);
    assert_eq!(requests[0].tool_names(), ["bash"]);
    assert_eq!(requests[2].tool_names(), ["bash", "zeta"]);
    assert_eq!(
        requests[4].tool_names(),
        ["bash", "zeta", "alpha"],
        "in order of first load, never re-sorted"
    );
    assert_eq!(requests[6].tool_names(), ["bash", "alpha"]);
}

#[test]
fn each_request_begins_with_the_one_before() {
    let steps =
        (0..5).map(|n| Reply::bash(&format!("echo {n} ü \\\\ '\"'"))).chain([Reply::text("done")]);
    let (server, env) = scripted(steps);
    env.cmd(["-p", "go"]).run().answered("done\n");
    for pair in server.requests().windows(2) {
        let (before, after) = (&pair[0].raw, &pair[1].raw);
        let shared = before.iter().zip(after).take_while(|(a, b)| a == b).count();
        let messages = pair[0].messages_bytes();
        let end_of_messages =
            before.windows(messages.len()).position(|w| w == messages).unwrap() + messages.len();
        // All but the bracket that closes the messages, where the new ones follow.
        assert!(
            shared >= end_of_messages - 1,
            "only {shared} of {end_of_messages} bytes are shared"
        );
        assert!(same_tools(&pair[0], &pair[1]));
    }
}
