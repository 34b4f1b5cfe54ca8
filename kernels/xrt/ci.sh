#!/usr/bin/env bash
# The unmodified XRT in CI, on a machine without an NPU.
#
#   T1  the shim compiles against XRT's own headers, without a warning
#   T2  XRT runs on the double of the kernel driver: `tests/real_xrt.rs`, and the gates of a model
#
# XRT is in Debian sid. Its packages come from the machine's own apt mirror, through separate lists,
# and are unpacked into a folder: nothing is installed. Sid moves, so no version is pinned, and a
# failed download is not a failure: the last line then says `SKIPPED`, as does the file `skipped` in
# the folder. Any other failure fails the script.
#
#   ci.sh                        both tiers, in target/npugate/xrt
#   ci.sh --prepare [FOLDER]     only the folder: FOLDER/runner.sh PROGRAM runs a program on the double
#   ci.sh --tools [FOLDER]       aiebu-asm and xclbinutil in FOLDER/tools, for fixtures/make.py
#
# NPUGATE_XRT_MIRROR names another mirror.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$repository/target}
mode=test
case ${1:-} in
    --prepare | --tools) mode=${1#--} && shift ;;
esac
folder=${1:-$target/npugate/xrt}
mkdir -p "$folder"/{lists/partial,packages,root,include}
folder=$(cd "$folder" && pwd)
rm -f "$folder/skipped"

say() { printf '[xrt] %-44s %3ss\n' "$1" "$SECONDS"; }

skip() {
    printf 'SKIPPED T1 and T2 (the real XRT): %s\n' "$1" | tee "$folder/skipped"
    exit 0
}

# --- The packages -------------------------------------------------------------------------------

packages=(libxrt2 libxrt-npu2 libxrt-dev libc6 libstdc++6 libgcc-s1 libuuid1)

download() {
    local mirror=${NPUGATE_XRT_MIRROR:-}
    [[ -n $mirror ]] || mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sort -u |
        grep -v security | head -n 1)
    if [[ -z $mirror ]]; then
        echo "apt has no mirror" >&2
        return 1
    fi
    echo "deb $mirror sid main" >"$folder/sid.list"
    local options=(
        -o "Dir::Etc::sourcelist=$folder/sid.list" -o "Dir::Etc::sourceparts=-"
        -o "Dir::State::Lists=$folder/lists" -o "Dir::Cache::archives=$folder/packages"
        -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache="
        -o "Acquire::Languages=none" -o "Acquire::Retries=2" -o "APT::Sandbox::User="
        # A mirror that lags behind sid has expired lists.
        -o "Acquire::Check-Valid-Until=false"
    )
    # Without `--error-on=any`, an unreachable mirror is only a warning.
    apt-get "${options[@]}" update -qq --error-on=any &&
        (cd "$folder/packages" && apt-get "${options[@]}" download -qq "$@")
}

unpack() { # FOLDER
    local package
    for package in "$folder"/packages/*.deb; do dpkg-deb --extract "$package" "$1"; done
}

[[ $(uname -s)-$(uname -m) == Linux-x86_64 ]] || skip "Debian has XRT only for x86-64"
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || skip "this machine has no apt"
if [[ ! -e $folder/root/complete ]]; then
    download "${packages[@]}" || skip "Debian sid's packages could not be downloaded"
    unpack "$folder/root"
    touch "$folder/root/complete"
    say "downloaded and unpacked XRT"
fi

libraries=$folder/root/usr/lib/x86_64-linux-gnu
loader=$folder/root/usr/lib64/ld-linux-x86-64.so.2

if [[ $mode == tools ]]; then
    mkdir -p "$folder/tools"
    rm -f "$folder"/packages/*.deb
    # The tools, and their dependencies by the names that these have in sid today.
    download libxrt-utils libxrt-utils-npu zlib1g libzstd1 libssl3t64 \
        $(apt-cache -o "Dir::State::Lists=$folder/lists" -o "Dir::Etc::sourcelist=$folder/sid.list" \
            -o "Dir::Etc::sourceparts=-" depends libxrt-utils | grep -o 'libboost[^ ]*') ||
        skip "the tools' packages could not be downloaded"
    unpack "$folder/tools/root"
    for tool in aiebu-asm xclbinutil; do
        cat >"$folder/tools/$tool" <<EOF
#!/bin/sh
exec "$loader" --library-path "$libraries:$folder/tools/root/usr/lib/x86_64-linux-gnu" \\
    "$folder/tools/root/usr/bin/$tool" "\$@"
EOF
        chmod +x "$folder/tools/$tool"
    done
    say "unpacked the tools"
    exit 0
fi

# --- T1: the shim -------------------------------------------------------------------------------

if ! command -v g++ >/dev/null; then
    apt-get update -qq && apt-get install --yes --no-install-recommends g++
fi
ln -sfn ../root/usr/include/xrt "$folder/include/xrt"
# `libxrt-dev` does not depend on libuuid's header, so the shim has one. XRT needs a newer C library
# than this machine has, so undefined symbols in XRT itself are allowed.
g++ -std=c++17 -O1 -fPIC -shared -Wall -Wextra -Werror \
    -isystem "$folder/include" -isystem "$here/shim/fallback" "$here/shim/shim.cpp" \
    -o "$folder/libnpugate_xrt.so.1" -L"$libraries" -lxrt_coreutil -Wl,--allow-shlib-undefined
say "T1: compiled the shim against XRT"

# --- T2: XRT on the double of the driver --------------------------------------------------------

cd "$repository"
# The whole workspace, here and below: a single package has other features, and is another build.
cargo build --quiet --workspace
cat >"$folder/runner.sh" <<EOF
#!/bin/sh
# Runs a program with Debian sid's C library and XRT, on the double of the NPU's driver.
export NPUGATE_XRT_SHIM="\${NPUGATE_XRT_SHIM-$folder/libnpugate_xrt.so.1}"
exec "$loader" --library-path "$libraries" \\
    --preload "$target/debug/libfake_amdxdna.so" "\$@"
EOF
chmod +x "$folder/runner.sh"
say "built the double of the driver"
[[ $mode == test ]] || exit 0

NPUGATE_TEST_XRT_ROOT=$folder cargo test --workspace --test real_xrt --test doctor
say "T2: ran XRT on it"

rm -rf "$folder/programs" "$folder/tiny-llama"
cargo build --quiet --workspace --example programs --example deploy
"$target/debug/examples/programs" "$folder/programs"
"$target/debug/examples/deploy" "$folder/tiny-llama" "$folder"/programs/*.json
npugate() {
    "$target/debug/cargo-npugate" npugate -p tiny-llama --cargo-profile dev "$@"
}
on_the_double() {
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=$folder/runner.sh \
        NPUGATE_DEPLOYMENT=$folder/tiny-llama FAKE_XDNA_PROGRAMS=$folder/tiny-llama \
        npugate --device xrt --lock "$folder/npu.lock" "$@"
}

on_the_double
say "T2: passed every gate of a model on it"

# The logits of prefill and decode have the same bytes as on the emulated NPU.
rm -rf "$folder"/evidence-*
NPUGATE_EVIDENCE=$folder/evidence-xrt on_the_double tokens::
NPUGATE_EVIDENCE=$folder/evidence-emu NPUGATE_UPDATE=no npugate tokens::
[[ -n $(ls "$folder/evidence-emu") ]]
diff --recursive "$folder/evidence-emu" "$folder/evidence-xrt"
say "T2: the same bytes as the emulated NPU"

# A run that hangs ends at its deadline, the other tests run in another process, the report is
# complete, and the lock is free afterwards.
code=0
FAKE_XDNA_HANG=1 FAKE_XDNA_AFTER=12 NPUGATE_RUN_DEADLINE=1s \
    on_the_double kernel --junit "$folder/hang.xml" >"$folder/hang.log" 2>&1 || code=$?
cat "$folder/hang.log"
[[ $code == 100 ]]
grep --quiet "is not done at its deadline" "$folder/hang.log"
grep --quiet "Restarting tiny-llama" "$folder/hang.log"
grep --quiet '<testsuites .*tests="18" skipped="0" failures="2" errors="0"' "$folder/hang.xml"
flock --nonblock "$folder/npu.lock" true
say "T2: ended hanging runs at their deadline"
