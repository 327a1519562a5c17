#!/usr/bin/env bash
# Builds assets/js-engine.wasm, which is committed, from this crate. Needed only when something here changed.
#
# Rust    with the target wasm32-wasip1 (rustup target add wasm32-wasip1); RUSTC is passed through to cargo.
# clang   with lld, a wasm sysroot and compiler-rt. Debian: clang-19 lld-19 llvm-19 wasi-libc libclang-rt-19-dev-wasm32.
#         Other names: CC_WASM, AR_WASM, WASI_SYSROOT (the folder with include/wasm32-wasi or include/).
# wasm-opt from binaryen, on PATH or in WASM_OPT (npm install binaryen).
#
# The same versions of these give the same bytes. The digest of the sources is kept beside the result; a test of the
# runner compares it, so that the two can't drift apart unseen.
set -euo pipefail
cd "$(dirname "$0")"
assets=../../assets
sources=(Cargo.toml Cargo.lock build.sh stack-check.h src/*.rs src/shims/*.js)

# The digest of a list of digests, sorted by name whatever the locale.
digest() { printf '%s\n' "${sources[@]}" | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -d' ' -f1; }
missing() { echo "error: $1" >&2; exit 1; }

cc=${CC_WASM:-clang-19}; ar=${AR_WASM:-llvm-ar-19}; opt=${WASM_OPT:-wasm-opt}; sysroot=${WASI_SYSROOT:-/usr}
command -v "$cc" >/dev/null || missing "no $cc; set CC_WASM to a clang that targets wasm32-wasi"
command -v "$opt" >/dev/null || missing "no $opt; npm install binaryen and set WASM_OPT"
include=$sysroot/include/wasm32-wasi; [ -d "$include" ] || include=$sysroot/include
[ -f "$include/malloc.h" ] || missing "no wasi-libc headers in $include; set WASI_SYSROOT"

export RQUICKJS_SYS_NO_WASI_SDK=1 CC_wasm32_wasip1=$cc AR_wasm32_wasip1=$ar
# The macro's value is there to have QuickJS built again when the header changes, of which cargo knows nothing.
export CFLAGS_wasm32_wasip1="--target=wasm32-wasi -isystem $include -include $PWD/stack-check.h -Oz
  -DSTACK_CHECK_DIGEST=$(sha256sum stack-check.h | cut -c1-8)"
CFLAGS_wasm32_wasip1=${CFLAGS_wasm32_wasip1//$'\n'/}
# No path of this machine in the result.
export RUSTFLAGS="--remap-path-prefix=$PWD=. --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo -C link-arg=-zstack-size=2097152"
cargo build --release --locked --target wasm32-wasip1

built=${CARGO_TARGET_DIR:-target}/wasm32-wasip1/release/autocode_js_engine.wasm
# Not --all-features: wasmtime refuses what that turns on.
"$opt" -Oz --enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int --enable-mutable-globals \
  --enable-multivalue --enable-reference-types --strip-debug --strip-producers "$built" -o "$assets/js-engine.wasm.new"
mv "$assets/js-engine.wasm.new" "$assets/js-engine.wasm"
digest >"$assets/js-engine.wasm.src-sha256"
ls -l "$assets/js-engine.wasm"
