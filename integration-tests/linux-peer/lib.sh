# Settings and helpers of build, up, down, exec, netns, netem and capture, which source this file.
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CACHE=${LINUX_PEER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rdma4j-linux-peer}
NS=${LINUX_PEER_NETNS:-rdma-peer}
KEY=$CACHE/ssh_key

die() { echo "${0##*/}: $*" >&2; exit 1; }
# usage [STATUS]: the comment at the head of the calling script
usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit "${1:-0}"; }
unknown() { echo "${0##*/}: unknown option $1" >&2; usage 2 >&2; }
need_root() { [ "$(id -u)" = 0 ] || die "run me as root"; }
# run_dir: pid files, console logs and sockets of the namespace that is meant
run_dir() { echo "${LINUX_PEER_RUN:-/run/rdma4j-linux-peer}/$NS"; }
now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'; }
netns_exists() { ip netns list 2>/dev/null | awk '{ print $1 }' | grep -qxF -- "$NS"; }

# quote WORD...: in single quotes, as any shell reads them (bash's @Q may write $'..', dash can't)
quote() {
    local word out=
    for word in "$@"; do out+=" '${word//\'/\'\\\'\'}'"; done
    echo "${out# }"
}

# pid_is PID WORD: that process is alive and WORD is one of the words of its command line
pid_is() { [ -n "${1:-}" ] && tr '\0' '\n' 2>/dev/null <"/proc/$1/cmdline" | grep -qxF -- "$2"; }

# end_pid PID WORD: TERM, then KILL after 2 s, only while it is still ours
end_pid() {
    pid_is "${1:-}" "$2" || return 0
    kill "$1" 2>/dev/null || true
    for _ in $(seq 20); do pid_is "$1" "$2" || return 0; sleep 0.1; done
    kill -9 "$1" 2>/dev/null || true
}

# guest_pid N: the QEMU process of guest N, nothing when it does not run
guest_pid() {
    local pid
    pid=$(cat "$(run_dir)/qemu-$1.pid" 2>/dev/null) && pid_is "$pid" "$NS-$1" && echo "$pid"
}

# ssh_to N: sets SSH to the command line for guest N (QEMU forwards 127.0.0.1:220N inside the namespace)
ssh_to() {
    SSH=(ip netns exec "$NS" ssh -q -F none -i "$KEY" -p $((2200 + $1))
         -o UserKnownHostsFile="$CACHE/known_hosts" -o HostKeyAlias=linux-peer
         -o StrictHostKeyChecking=yes -o BatchMode=yes -o ConnectTimeout=10
         -o ControlPath="$(run_dir)/ctl-$1" root@127.0.0.1)
}
