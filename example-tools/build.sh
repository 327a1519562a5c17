#!/usr/bin/env bash
# Builds each example whose compiler is on this machine, and says of the others why not.
#
#   example-tools/build.sh [DIR]      modules to DIR (default: example-tools/target/tools)
#   example-tools/build.sh --bundle   also renews the Rust ones in assets/tools/, which travel in the binary
#
# RUSTC is passed through to cargo. JavaScript has nothing to build: `autocode tool add todo`.
set -euo pipefail
cd "$(dirname "$0")"
bundle=; [ "${1:-}" = --bundle ] && { bundle=1; shift; }
out=${1:-target/tools}; mkdir -p "$out"; out=$(cd "$out" && pwd)
assets=$PWD/../assets/tools
rust=(add fetch search)   # every member of the workspace
bundled=(add fetch search)

built() { printf '%-12s %8s bytes\n' "$1" "$(wc -c <"$out/$1.wasm")"; }
skipped() { printf '%-12s skipped: %s\n' "$1" "$2"; }
has() { command -v "$1" >/dev/null; }

# What a bundled module was built from; a test of the runner compares it.
digest() {
  { echo Cargo.toml; find "$1" -name '*.rs' -o -name Cargo.toml; } | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -d' ' -f1
}

zig=(); if has zig; then zig=(zig); elif python3 -c 'import ziglang' 2>/dev/null; then zig=(python3 -m ziglang); fi

libdir=$("${RUSTC:-rustc}" --print target-libdir --target wasm32-wasip1 2>/dev/null || true)
if ! has cargo; then skipped rust "cargo is not installed"
elif ! compgen -G "$libdir/libcore*.rlib" >/dev/null; then skipped rust "rustup target add wasm32-wasip1"
else
  # No path of this machine in what is committed.
  export RUSTFLAGS="--remap-path-prefix=$(cd .. && pwd)=. --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
  cargo build --quiet --release --locked --target wasm32-wasip1
  for tool in "${rust[@]}"; do
    cp "${CARGO_TARGET_DIR:-target}/wasm32-wasip1/release/$tool.wasm" "$out/$tool.wasm"; built "$tool"
  done
  # The same SDK makes components for WASI 0.2 without a detour.
  libdir=$("${RUSTC:-rustc}" --print target-libdir --target wasm32-wasip2)
  if compgen -G "$libdir/libcore*.rlib" >/dev/null; then
    cargo build --quiet --release --locked --target wasm32-wasip2 --package add
    cp "${CARGO_TARGET_DIR:-target}/wasm32-wasip2/release/add.wasm" "$out/add-wasip2.wasm"; built add-wasip2
  else skipped add-wasip2 "rustup target add wasm32-wasip2"; fi
  if [ -n "$bundle" ]; then
    mkdir -p "$assets"
    for tool in "${bundled[@]}"; do
      cp "$out/$tool.wasm" "$assets/$tool.wasm"; digest "$tool" >"$assets/$tool.wasm.src-sha256"
    done
  fi
fi

if [ ${#zig[@]} -gt 0 ]; then
  export ZIG_LOCAL_CACHE_DIR=$PWD/target/zig
  "${zig[@]}" cc -target wasm32-wasi -mexec-model=reactor -Os -Wl,--strip-debug -o "$out/count.wasm" count/tool.c; built count
  (cd digest && "${zig[@]}" build-exe tool.zig -target wasm32-freestanding -fno-entry -rdynamic -O ReleaseSmall -fstrip \
    "-femit-bin=$out/digest.wasm"); built digest
else skipped "count (C)" "pip install ziglang"; skipped "digest (Zig)" "pip install ziglang"; fi

if has asc; then
  asc codepoints/tool.ts -O3 --runtime stub --use abort= -o "$out/codepoints.wasm"; built codepoints
else skipped "codepoints (AssemblyScript)" "npm install -g assemblyscript"; fi

if has componentize-py; then
  wit=$(cd ../tool-sdk/wit && pwd)
  # It writes beside the source, so it gets a copy.
  work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cp pyoutline/tool.py "$work"
  (cd "$work" && componentize-py -q -d "$wit" -w tool componentize tool -o "$out/pyoutline.wasm"); built pyoutline
else skipped "pyoutline (Python)" "pip install componentize-py"; fi
