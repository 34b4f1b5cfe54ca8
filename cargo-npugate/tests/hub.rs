//! Fetching from the Hugging Face hub, for which a server on this machine stands in.
#![cfg(feature = "hf")]
#![allow(clippy::unwrap_used, reason = "the server is part of the test")]

mod support;

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    thread,
};
use support::Scene;

const WEIGHTS: &[u8] = b"weights";
const DIGEST: &str = "9a129038d9a00aed0cf6a7ea059ca50a813449061ab87848cf1a13eafdf33b2c";

#[test]
fn a_file_of_the_hub_is_fetched_and_not_kept_twice() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    // The thread ends with the test program.
    thread::spawn(move || listener.incoming().flatten().for_each(answer));
    let scene = Scene::new();
    let home = scene.path("hf-home").display().to_string();
    let source = "hf:owner/tiny@main#sub/weights.bin";
    let scene = scene
        .with("HF_ENDPOINT", endpoint)
        .with("HF_HOME", home)
        .with("FAKE_WEIGHTS", format!("7 {DIGEST} {source}"));
    scene.run("fetch alpha").expect(
        0,
        &[
            "    Fetching alpha: weights.bin, 7 B from hf:owner/tiny@main#sub/weights.bin",
            "     Fetched alpha: 7 B in ",
        ],
    );
    assert_eq!(scene.read("weights/alpha/weights.bin"), "weights");
    assert_eq!(std::fs::read_dir(scene.path("weights/alpha")).unwrap().count(), 1);
    assert!(!scene.path("hf-home").exists(), "the hub's own cache is not filled");
    let scene = scene.with("FAKE_WEIGHTS", format!("7 {DIGEST} hf:owner/tiny@main#none"));
    scene.run("fetch alpha").expect(0, &["Fresh"]);
    std::fs::remove_dir_all(scene.path("weights")).unwrap();
    scene
        .run("fetch alpha")
        .expect(96, &["hf:owner/tiny@main#none could not be downloaded: ", "404"]);
}

/// Answers one request as the hub would: with a range of its only file.
fn answer(mut stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let request = lines.first().cloned().unwrap_or_default();
    if !request.starts_with("GET /owner/tiny/resolve/main/sub/weights.bin ") {
        let _ = stream
            .write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return;
    }
    let range = lines
        .iter()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("range: bytes=").map(str::to_owned))
        .unwrap();
    let (first, last) = range.split_once('-').unwrap();
    let first: usize = first.parse().unwrap();
    let last = last.parse().unwrap_or(WEIGHTS.len() - 1);
    let body = &WEIGHTS[first..=last];
    let head = format!(
        "HTTP/1.1 206 Partial Content\r\nX-Repo-Commit: 0123abcd\r\nETag: \"tag\"\r\nContent-Range: bytes {first}-{last}/{}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        WEIGHTS.len(),
        body.len()
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}
