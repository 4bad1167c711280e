#!/bin/sh
# Runs in the guest, as root. Two links of the same kind, each a pair of veth:
#   k0 198.18.1.1 - k1 198.18.1.2   with the kernel's devices rk0 and rk1 on them, in the first network namespace, the
#                                   only one that has rxe; rules of routing lead what they send over the link
#   j0 198.18.2.1 - j1 198.18.2.2   each in a network namespace of its own, for pairs of processes with rdma4j; further
#      198.18.2.3 -    198.18.2.4   addresses for further pairs, up to 31 and 32
#
# Usage: guest-network.sh links        makes them
#        guest-network.sh loss P%      lets each direction of both links lose packets: netem behind an ifb where they
#                                      arrive, and no segmentation behind it, so that packets are lost and not bundles

set -e

links() {
    ip link add k0 type veth peer name k1
    ip netns add j0
    ip netns add j1
    ip link add j0 netns j0 type veth peer name j1 netns j1
    sysctl -qw net.ipv4.conf.all.rp_filter=0
    for i in 0 1; do
        ip link set k$i mtu 4200 up
        ip addr add 198.18.1.$((i + 1))/24 dev k$i
        sysctl -qw net.ipv4.conf.k$i.accept_local=1 net.ipv4.conf.k$i.rp_filter=0
        ip rule add pref 1$i iif k$i lookup local
        ip rule add pref 2$i from 198.18.1.$((i + 1)) to 198.18.1.$((2 - i)) lookup 10$i
        ip route add 198.18.1.$((2 - i)) dev k$i src 198.18.1.$((i + 1)) table 10$i
        ip -n j$i link set lo up
        ip -n j$i link set j$i mtu 4200 up
        for n in $(seq 0 2 30); do ip -n j$i addr add 198.18.2.$((n + i + 1))/24 dev j$i; done
    done
    ip rule add pref 100 lookup local
    ip rule del pref 0
    ping -c 1 -I 198.18.1.1 198.18.1.2 >/dev/null
    ip netns exec j0 ping -c 1 198.18.2.2 >/dev/null
    rdma link add rk0 type rxe netdev k0
    rdma link add rk1 type rxe netdev k1
}

# lose DEVICE P% [NETNS]
lose() {
    in="${3:+ip netns exec $3}"
    if ! $in ip link show "i$1" >/dev/null 2>&1; then
        $in ethtool -K "$1" tso off gso off tx-udp-segmentation off >/dev/null
        $in ip link add "i$1" type ifb
        $in ip link set "i$1" mtu 4200 up
        $in tc qdisc add dev "$1" ingress
        $in tc filter add dev "$1" parent ffff: matchall action mirred egress redirect dev "i$1"
    fi
    $in tc qdisc replace dev "i$1" root netem limit 100000 loss "$2"
}

case $1 in
    links) links ;;
    loss) modprobe ifb numifbs=0
          for i in 0 1; do lose k$i "$2"; lose j$i "$2" j$i; done ;;
    *) sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
