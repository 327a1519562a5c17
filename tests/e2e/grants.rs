//! What a tool may reach, seen from outside: the project and nothing else, until a grant says more.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use autocode_tests::TestEnv;
use serde_json::json;

use crate::AUTOCODE;

/// Reads a file and writes one.
const FILES: &str = r#"
export const schema = {
  name: "files",
  description: "Reads and writes.",
  parameters: {type: "object", properties: {read: {type: "string"}, write: {type: "string"}}},
};
export function run({ read, write }) {
  if (write) fs.writeFile(write, "written\n");
  return read ? fs.readFile(read) : "done";
}
"#;

/// What `autocode tool run` says, on success or not.
fn run(env: &TestEnv, name: &str, arguments: &serde_json::Value) -> Result<String, String> {
    let run = env.cmd(["tool", "run", name, &arguments.to_string()]).run();
    if run.code == Some(0) { Ok(run.stdout) } else { Err(run.stderr) }
}

#[test]
fn a_tool_reads_and_writes_within_the_project_only() {
    let env = TestEnv::new(AUTOCODE);
    env.write(".autocode/src/files/tool.js", FILES);
    let built = env.cmd(["tool", "build", "files"]).run();
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    env.write("sub/inside.txt", "inside\n");
    let secret = env.write_home("secret.txt", "secret\n");
    std::os::unix::fs::symlink(&secret, env.project().join("link.txt")).unwrap();
    std::os::unix::fs::symlink(env.home(), env.project().join("dir")).unwrap();

    assert_eq!(run(&env, "files", &json!({ "read": "sub/inside.txt" })).unwrap().trim(), "inside");
    run(&env, "files", &json!({ "write": "sub/new.txt" })).unwrap();
    assert_eq!(env.read("sub/new.txt"), "written\n");
    let ways_out = [
        "../home/secret.txt".to_owned(),
        "sub/../../home/secret.txt".to_owned(),
        secret.display().to_string(),
        "link.txt".to_owned(),
        "dir/secret.txt".to_owned(),
        "/etc/passwd".to_owned(),
        "/proc/self/environ".to_owned(),
    ];
    for way in &ways_out {
        let said = run(&env, "files", &json!({ "read": way })).expect_err(way);
        assert!(!said.contains("secret\n"), "{way}: {said}");
        run(&env, "files", &json!({ "write": way })).expect_err(way);
    }
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "secret\n");

    let grants = json!({ "fs": [env.home()] }).to_string();
    env.write(".autocode/tools/files.grants.json", grants);
    assert_eq!(run(&env, "files", &json!({ "read": secret })).unwrap().trim(), "secret");
    let said = run(&env, "files", &json!({ "write": secret })).expect_err("granted to read only");
    assert!(said.contains("secret.txt"), "{said}");
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "secret\n");
}

/// A web server that says hello to everyone; its address, and how many came.
fn web_server() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let visits = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&visits);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            counted.fetch_add(1, Ordering::SeqCst);
            let mut request = Vec::new();
            let mut buffer = [0; 1024];
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                match stream.read(&mut buffer).unwrap() {
                    0 => break,
                    n => request.extend_from_slice(&buffer[..n]),
                }
            }
            let page = "<html><h1>Hello</h1><p>from &lt;here&gt;</p></html>";
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{page}",
                page.len()
            );
        }
    });
    (address, visits)
}

#[test]
fn a_tool_reaches_the_hosts_it_was_granted_and_no_others() {
    let env = TestEnv::new(AUTOCODE);
    assert_eq!(env.cmd(["tool", "add", "fetch"]).run().code, Some(0));
    let ((granted, visits), (other, others)) = (web_server(), web_server());
    let url = |address: &str| json!({ "url": format!("http://{address}/page") });

    let said = run(&env, "fetch", &url(&granted)).expect_err("nothing is granted");
    assert!(said.contains("is not granted to this tool") && said.contains(&granted), "{said}");
    env.write(".autocode/tools/fetch.grants.json", json!({ "net": [granted] }).to_string());
    let page = run(&env, "fetch", &url(&granted)).unwrap();
    assert!(page.contains("Hello") && page.contains("from <here>"), "{page}");
    let said = run(&env, "fetch", &url(&other)).expect_err("only the first is granted");
    assert!(said.contains(&other), "{said}");
    assert_eq!(
        (visits.load(Ordering::SeqCst), others.load(Ordering::SeqCst)),
        (1, 0),
        "a refused request is never sent"
    );
}
