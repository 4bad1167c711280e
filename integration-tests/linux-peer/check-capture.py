#!/usr/bin/env python3
"""check-capture.py: check RoCEv2 captures packet by packet: by itself (no library), and by tshark.

Usage: check-capture.py [--no-tshark] FILE.pcap...

By itself: ICRC over the headers as they were on the wire, UDP length, pad count and pad bytes, BTH version.
By tshark: no packet malformed, every packet decoded as InfiniBand. Prints a line of opcodes a file.
Exit status 1 when a file has anything wrong in it, or no RoCE packet at all.
"""
import collections
import os
import struct
import subprocess
import sys
import zlib

SERVICES = {0: 'RC', 1: 'UC', 3: 'UD'}
OPCODES = ['SEND First', 'SEND Middle', 'SEND Last', 'SEND Last Imm', 'SEND Only', 'SEND Only Imm',
           'WRITE First', 'WRITE Middle', 'WRITE Last', 'WRITE Last Imm', 'WRITE Only', 'WRITE Only Imm',
           'READ Request', 'READ Resp First', 'READ Resp Middle', 'READ Resp Last', 'READ Resp Only',
           'ACK', 'ATOMIC ACK', 'CmpSwap', 'FetchAdd', None, 'SEND Last Inv', 'SEND Only Inv']
NAK = {0: 'PSN sequence error', 1: 'invalid request', 2: 'remote access error', 3: 'remote operational error'}
ACK = 0x11
UD_SEND, GSI_QP, CM_CLASS = 0x64, 1, 7
CM_MESSAGES = ['REQ', 'MRA', 'REJ', 'REP', 'RTU', 'DREQ', 'DREP', 'SIDR_REQ', 'SIDR_REP', 'LAP', 'APR']
FIRST_CM = 0x10
# tshark guesses at the payload; these two run past the end of a short one and call the packet malformed
GUESSERS = ('--disable-protocol', 'rpcordma', '--disable-protocol', 'infiniband.eoib')


def frames(path):
    """(frame number, Ethernet frame, captured whole?)"""
    with open(path, 'rb') as f:
        head = f.read(24)
        if head[:4] != b'\xd4\xc3\xb2\xa1':
            sys.exit(f'{path}: not a little-endian pcap file')
        number = 0
        while len(record := f.read(16)) == 16:
            captured, length = struct.unpack('<8xII', record)
            number += 1
            yield number, f.read(captured), captured == length


def roce(frame):
    """(IP header, its bytes as the ICRC sees them, UDP header, BTH to ICRC) or None when it is no RoCE packet"""
    kind, ip = struct.unpack('>H', frame[12:14])[0], frame[14:]
    if kind == 0x0800 and ip[9] == 17:
        ip = ip[:struct.unpack('>H', ip[2:4])[0]]
        size, masked = 20, ip[:1] + b'\xff' + ip[2:8] + b'\xff' + ip[9:10] + b'\xff\xff' + ip[12:20]
    elif kind == 0x86dd and ip[6] == 17:
        ip = ip[:40 + struct.unpack('>H', ip[4:6])[0]]
        size, masked = 40, bytes([ip[0] | 15]) + b'\xff\xff\xff' + ip[4:7] + b'\xff' + ip[8:40]
    else:
        return None
    if ip[size + 2:size + 4] != b'\x12\xb7':
        return None
    return masked, ip[size:size + 8], ip[size + 8:]


def name(ib):
    op = ib[0]
    mad = ib[20:-4]     # behind BTH and DETH, when it is one
    if op == UD_SEND and int.from_bytes(ib[5:8], 'big') == GSI_QP and len(mad) == 256:
        number = struct.unpack('>H', mad[16:18])[0] - FIRST_CM
        if mad[1] == CM_CLASS and 0 <= number < len(CM_MESSAGES):
            return f'MAD CM {CM_MESSAGES[number]}'
        return f'MAD class {mad[1]:#x}'
    service, what = SERVICES.get(op >> 5), OPCODES[op & 31] if op & 31 < len(OPCODES) else None
    if op == ACK and ib[12] >> 5:
        kind, value = ib[12] >> 5, ib[12] & 31
        what = f'RNR NAK {value}' if kind == 1 else f'NAK {NAK.get(value, value)}' if kind == 3 else hex(ib[12])
    return f'{service} {what}' if service and what else hex(op)


def faults(masked, udp, ib):
    if len(ib) < 16:
        return ['shorter than BTH and ICRC']
    out = []
    icrc = zlib.crc32(b'\xff' * 8 + masked + udp[:6] + b'\xff\xff' + ib[:4] + b'\xff' + ib[5:-4])
    if struct.pack('<I', icrc) != ib[-4:]:
        out.append('wrong ICRC')
    if struct.unpack('>H', udp[4:6])[0] != len(ib) + 8:
        out.append('wrong UDP length')
    pad = ib[1] >> 4 & 3
    if len(ib) % 4:
        out.append('not a multiple of 4 bytes')
    if any(ib[len(ib) - 4 - pad:-4]):
        out.append('pad is not zero')
    if ib[1] & 15:
        out.append('BTH version is not 0')
    return out


def tshark(path):
    """what tshark has against the packets"""
    out = subprocess.run(['tshark', '-n', '-r', path, *GUESSERS,
                          '-Y', '_ws.malformed || udp.dstport == 4791 && !infiniband',
                          '-T', 'fields', '-e', 'frame.number', '-e', 'frame.protocols', '-e', '_ws.malformed'],
                         capture_output=True, text=True)
    if out.returncode:
        sys.exit(f'{path}: tshark: {out.stderr.strip()}')
    for line in out.stdout.splitlines():
        number, protocols, malformed = line.split('\t')
        if 'infiniband' not in protocols:
            yield f'frame {number}: not decoded by tshark'
        elif 'Packet: IB]' in malformed or 'infiniband:' not in protocols:
            yield f'frame {number}: malformed to tshark'
        # else it takes a payload like 08 00 00 00 for an Ethernet type, and calls what should follow malformed


def check(path, with_tshark):
    opcodes, wrong = collections.Counter(), []
    for number, frame, whole in frames(path):
        packet = roce(frame)
        if packet is None:
            continue
        if not whole:
            wrong.append(f'frame {number}: captured in part only')
            continue
        wrong += [f'frame {number}: {text}' for text in faults(*packet)]
        if len(packet[2]) >= 16:
            opcodes[name(packet[2])] += 1
    if not opcodes:
        wrong.append('no RoCE packet')
    if with_tshark:
        wrong += tshark(path)
    print(f'{os.path.basename(path)}: {sum(opcodes.values())} packets, {len(wrong)} faults: '
          + '; '.join(f'{n} {what}' for what, n in sorted(opcodes.items())))
    for text in wrong[:20]:
        print('   ', text)
    return not wrong


def main():
    args = sys.argv[1:]
    with_tshark = '--no-tshark' not in args
    paths = [a for a in args if a != '--no-tshark']
    if not paths or paths[0] in ('-h', '--help'):
        print(__doc__)
        return 2
    return 0 if all([check(path, with_tshark) for path in paths]) else 1


if __name__ == '__main__':
    sys.exit(main())
