#!/usr/bin/env python3
"""pv.py: RDMA scenarios against the kernel's rxe, one verb at a time, through python3-pyverbs.

  passive side:  pv.py server SCENARIO [options]
  active side:   pv.py client SCENARIO [options] --host 192.0.2.2
  many in turn:  pv.py server|client --batch FILE      FILE (- is stdin) has a line "SCENARIO [options]" each

Both sides get the same scenario and options; the other side may be another pv.py or rdma4j's `pv` command.
They exchange QP numbers, PSNs, GIDs and the memory key over TCP, a JSON object a line, then the client posts
its work requests. Every completion is printed, every payload byte checked. Start PSNs are fixed (server
0x000100, client 0xfffffe: the client's PSN wraps). Byte i of message m (from 1) is (i * 7 + m) & 0xff.
Exit status 0 when the scenario could be played; what a completion must be is for the caller to judge.

Scenarios (the client does the work):
  send write write-imm read send-imm          RC, one request per entry of --sizes
  uc-send uc-write uc-write-imm uc-send-imm   the same with UC
  ud-send ud-send-imm                         the same with UD
  send-both     RC: either side SENDs to the other at the same time, and ends when both have all of it
  atomics       RC: fetch-add 5 on 40, compare-swap 45 to 1000 (matches), 45 to 2000 (does not)
  send-inv      RC: WRITE through a key of the server's, SEND with invalidate of it, WRITE again: remote access error
  window-1      RC: WRITE and READ through a window of type 1 of the server's, which then binds it elsewhere, with a new
                key: WRITE by that, WRITE by the old one: remote access error
  window-2      the same with type 2, which the server invalidates before it binds again
  window-range  RC: WRITE past the end of a window, inside its region; window-access: READ from one for writing only
  rnr           RC: the server posts its receives only when the client has waited: RNR NAK, then success
  rnr-exceeded  RC: the server never posts one, rnr_retry is 2
  bad-rkey      RC: RDMA WRITE with a wrong rkey; bad-rkey-read: RDMA READ
  bad-range     RC: RDMA WRITE one byte past the end of the region
  no-access     RC: RDMA WRITE to a region registered without remote write
  long-send     RC: SEND longer than the receive buffer
  bad-atomic    RC: fetch-add to an address that is not a multiple of 8
  gone          RC: the server destroys its QP before the client sends: retries, no answer
  until-error   RC: the client writes again and again until that fails, because the server or the link has gone;
                needs a --retry below 7, which rxe takes for "for ever"
  mcast         UD to the multicast group --host, with the connection manager's Q_Key, and without an exchange; the
                server is not here: mckey -m GROUP -b ADDRESS -C COUNT -S SIZE, or rdma4j's pv server mcast
  ud-bad-qkey   UD with a wrong Q_Key; ud-bad-qpn: to a QP that is not there: both dropped silently
"""
import argparse
import json
import shlex
import socket
import sys
import time

import pyverbs.enums as e
from pyverbs.addr import AH, GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR, MW, MWBind, MWBindInfo
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsError
from pyverbs.qp import QPAttr, QPCap, QPEx, QPInitAttrEx
from pyverbs.wr import SGE, RecvWR

QKEY, BUFFER, GRH_BYTES = 0x11111111, 1 << 20, 40
CM_QKEY, MULTICAST_QPN = 0x01234567, 0xffffff
KERNEL_WC_WITH_INVALIDATE = 4
ACCESS = (e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ
          | e.IBV_ACCESS_REMOTE_ATOMIC | e.IBV_ACCESS_MW_BIND)
QP_TYPES = {'rc': e.IBV_QPT_RC, 'uc': e.IBV_QPT_UC, 'ud': e.IBV_QPT_UD}
UD_OPS = e.IBV_QP_EX_WITH_SEND | e.IBV_QP_EX_WITH_SEND_WITH_IMM
UC_OPS = UD_OPS | e.IBV_QP_EX_WITH_RDMA_WRITE | e.IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM
RC_OPS = (UC_OPS | e.IBV_QP_EX_WITH_SEND_WITH_INV | e.IBV_QP_EX_WITH_RDMA_READ
          | e.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | e.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD
          | e.IBV_QP_EX_WITH_BIND_MW | e.IBV_QP_EX_WITH_LOCAL_INV)
SEND_OPS = {'rc': RC_OPS, 'uc': UC_OPS, 'ud': UD_OPS}
PATH_MTU = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}
# what an error makes of the server's queue pair: a receive is posted to see it flushed
WINDOWS = ('send-inv', 'window-1', 'window-2', 'window-range', 'window-access')
BREAKS_SERVER = WINDOWS + ('bad-rkey', 'bad-rkey-read', 'bad-range', 'no-access', 'bad-atomic', 'long-send')
WINDOW = 4096


class Failed(Exception):
    """the scenario could not be played"""


def arguments():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('role', choices=['server', 'client'])
    ap.add_argument('scenario', nargs='?')
    ap.add_argument('--batch', metavar='FILE')
    ap.add_argument('--device', default='rxe0')
    ap.add_argument('--host', default='192.0.2.2')
    ap.add_argument('--port', type=int, default=18600, help='TCP port of the exchange')
    ap.add_argument('--wait', type=float, default=20, help='seconds to wait for the other side, or a completion')
    ap.add_argument('--gid', type=int, default=1, help='GID index (default 1: the IPv4 address)')
    ap.add_argument('--mtu', type=int, default=1024, choices=PATH_MTU)
    ap.add_argument('--sizes', default='1024')
    ap.add_argument('--burst', action='store_true', help='post all requests at once')
    ap.add_argument('--sge', type=int, default=1, help='gather or scatter the local side over so many entries')
    ap.add_argument('--timeout', type=int, default=14, help='local ACK timeout exponent')
    ap.add_argument('--retry', type=int, default=7)
    ap.add_argument('--rnr-timer', type=int, default=12, help='min_rnr_timer code of the responder')
    return ap


def pattern(message, size):
    return bytes((i * 7 + message) & 0xff for i in range(size))


class Exchange:
    """The TCP connection: one JSON object a line."""

    def __init__(self, opts):
        if opts.role == 'server':
            with socket.create_server(('', opts.port)) as listener:
                listener.settimeout(opts.wait)
                try:
                    self.conn, _ = listener.accept()
                except socket.timeout:
                    raise Failed(f'nobody connected within {opts.wait:g} s') from None
        else:
            end = time.monotonic() + opts.wait
            while True:
                try:
                    self.conn = socket.create_connection((opts.host, opts.port))
                    break
                except OSError as err:
                    if time.monotonic() > end:
                        raise Failed(f'no server: {err}') from None
                    time.sleep(0.05)
        self.conn.settimeout(2 * opts.wait)
        self.lines = self.conn.makefile('rw')

    def tell(self, **fields):
        self.lines.write(json.dumps(fields) + '\n')
        self.lines.flush()

    def hear(self):
        try:
            line = self.lines.readline()
        except OSError as err:
            raise Failed(f'the other side is silent: {err}') from None
        if not line:
            raise Failed('the other side has gone')
        return json.loads(line)

    def await_end(self):
        """until the other side, or the way to it, has gone"""
        try:
            self.lines.readline()
        except OSError:
            pass

    def close(self):
        self.lines.close()
        self.conn.close()


class Scenario:
    def __init__(self, opts, context):
        self.opts, self.name = opts, opts.scenario
        self.kind = self.name[:2] if self.name[:3] in ('uc-', 'ud-') else 'rc'
        self.op = self.name if self.kind == 'rc' else self.name[3:]
        self.qkey = QKEY
        if self.name == 'mcast':
            self.kind, self.qkey = 'ud', CM_QKEY
        self.sizes = [int(s) for s in opts.sizes.split(',')]
        self.server = opts.role == 'server'
        self.psn = 0x000100 if self.server else 0xfffffe
        self.grh = GRH_BYTES if self.kind == 'ud' else 0
        self.stride = (max(self.sizes) + self.grh + 63) // 64 * 64
        # where both sides send, what arrives has its slots behind what leaves
        self.first_received = len(self.sizes) if self.name == 'send-both' else 0
        if self.stride * (len(self.sizes) + self.first_received) > BUFFER:
            raise Failed(f'--sizes need more than the {BUFFER} bytes of the buffer')
        self.window = None
        self.context = context
        self.pd = PD(context)
        self.cq = CQ(context, 128)
        self.mr = MR(self.pd, BUFFER, e.IBV_ACCESS_LOCAL_WRITE if self.name == 'no-access' else ACCESS)
        cap = QPCap(max_send_wr=32, max_recv_wr=32, max_send_sge=opts.sge, max_recv_sge=opts.sge)
        self.qp = QPEx(context, QPInitAttrEx(
            qp_type=QP_TYPES[self.kind], scq=self.cq, rcq=self.cq, cap=cap, pd=self.pd, sq_sig_all=1,
            comp_mask=e.IBV_QP_INIT_ATTR_PD | e.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
            send_ops_flags=SEND_OPS[self.kind]))

    def say(self, text):
        print(text, flush=True)

    def run(self):
        if self.name == 'mcast':
            self.send_to_group()
        else:
            self.run_with_peer()

    def send_to_group(self):
        if self.server:
            raise Failed('the server is mckey')
        address = socket.inet_aton(self.opts.host).hex()
        self.peer = {'qpn': MULTICAST_QPN, 'gid': f'0000:0000:0000:0000:0000:ffff:{address[:4]}:{address[4:]}'}
        self.connect()
        self.each(lambda i: self.qp.wr_send_imm(0x01020304 + i))

    def run_with_peer(self):
        self.exchange = Exchange(self.opts)
        try:
            gid = self.context.query_gid(1, self.opts.gid).gid
            self.exchange.tell(scenario=self.name, qpn=self.qp.qp_num, psn=self.psn, gid=gid,
                               addr=self.mr.buf, rkey=self.mr.rkey)
            self.peer = self.exchange.hear()
            if self.peer.get('scenario', self.name) != self.name:
                raise Failed(f'the other side plays {self.peer["scenario"]}')
            self.say(f'{self.opts.role} {self.name}: local qpn {self.qp.qp_num} psn {self.psn:#x} gid {gid}; '
                     f'remote qpn {self.peer["qpn"]} psn {self.peer["psn"]:#x} gid {self.peer["gid"]}')
            self.connect()
            self.serve() if self.server else self.work()
        finally:
            self.exchange.close()

    def connect(self):
        attr = QPAttr(port_num=1)
        ah_attr = AHAttr(port_num=1, is_global=1, gr=GlobalRoute(
            dgid=GID(self.peer['gid']), sgid_index=self.opts.gid, hop_limit=64))
        if self.kind == 'ud':
            attr.qkey = self.qkey
            self.qp.to_init(attr)
            self.qp.to_rtr(attr)
            attr.sq_psn = self.psn
            self.qp.to_rts(attr)
            self.ah = AH(self.pd, attr=ah_attr)
            return
        attr.qp_access_flags = ACCESS & ~e.IBV_ACCESS_MW_BIND
        self.qp.to_init(attr)
        attr.path_mtu = PATH_MTU[self.opts.mtu]
        attr.dest_qp_num, attr.rq_psn, attr.ah_attr = self.peer['qpn'], self.peer['psn'], ah_attr
        attr.max_dest_rd_atomic, attr.min_rnr_timer = 4, self.opts.rnr_timer
        self.qp.to_rtr(attr)
        attr.sq_psn, attr.timeout, attr.retry_cnt = self.psn, self.opts.timeout, self.opts.retry
        attr.rnr_retry, attr.max_rd_atomic = (2 if self.name == 'rnr-exceeded' else 7), 4
        self.qp.to_rts(attr)

    # --- buffers

    def slot(self, i):
        return i * self.stride

    def received(self, i):
        return self.slot(self.first_received + i)

    def pieces(self, offset, size):
        """the local range in --sge entries of equal length, in one where the size can't be divided so:
        rxe of rdma-core 44 takes the first entry's length for that of every entry"""
        n = self.opts.sge if size and size % self.opts.sge == 0 else 1
        return [SGE(self.mr.buf + offset + k * (size // n), size // n, self.mr.lkey) for k in range(n)]

    def fill(self, i, size):
        if size:
            self.mr.write(pattern(i + 1, size), size, self.slot(i))

    def first_wrong(self):
        for i, size in enumerate(self.sizes):
            got = self.mr.read(size, self.received(i) + self.grh) if size else b''
            if got != pattern(i + 1, size):
                at = next(k for k in range(size) if got[k] != pattern(i + 1, size)[k])
                return f'message {i + 1}: byte {at} of {size} is wrong'
        return None

    def check(self):
        """every byte of every message; a UC WRITE ends for the client when it is sent, so its bytes may be on their way"""
        end = time.monotonic() + (self.opts.wait if self.name == 'uc-write' else 0)
        while (wrong := self.first_wrong()) and time.monotonic() < end:
            time.sleep(0.01)
        if wrong:
            raise Failed(wrong)
        self.say(f'  payload ok: {len(self.sizes)} messages, {sum(self.sizes)} bytes')

    # --- work

    def post_receives(self, count=None, length=None):
        for i in range(len(self.sizes) if count is None else count):
            size = (max(self.sizes) if length is None else length) + self.grh
            pieces = self.pieces(self.received(i), size)
            self.qp.post_recv(RecvWR(wr_id=100 + i, num_sge=len(pieces), sg=pieces))

    def drain(self, want, limit=None, quiet=False):
        """print completions, with quiet only failures, until there are `want` or the time is up; whether all are well"""
        got, well, end = 0, True, time.monotonic() + (self.opts.wait if limit is None else limit)
        while got < want and time.monotonic() < end:
            for wc in self.cq.poll(min(8, want - got))[1]:
                got, well = got + 1, well and wc.status == 0
                if quiet and wc.status == 0:
                    continue
                # pyverbs takes immediates in host order and gives them in network order; rxe sets the kernel's flag bits
                imm = f' imm {socket.ntohl(wc.imm_data & 0xffffffff):#x}' if wc.wc_flags & e.IBV_WC_WITH_IMM else ''
                inv = f' invalidated {wc.imm_data & 0xffffffff:#x}' if wc.wc_flags & KERNEL_WC_WITH_INVALIDATE else ''
                self.say(f'  completion wr_id {wc.wr_id} status {wc.status} opcode {wc.opcode} byte_len '
                         f'{wc.byte_len} flags {wc.wc_flags:#x} vendor_err {wc.vendor_err:#x}{imm}{inv}')
        if got < want:
            self.say(f'  {want - got} completion(s) missing')
        return well and got >= want

    def post(self, wr_id, fn, size, offset=0):
        self.qp.wr_start()
        self.qp.wr_id, self.qp.wr_flags = wr_id, e.IBV_SEND_SIGNALED
        fn()
        if self.kind == 'ud':
            self.qp.wr_set_ud_addr(self.ah, self.peer['qpn'] + (1000 if self.op == 'bad-qpn' else 0),
                                   self.qkey + (1 if self.op == 'bad-qkey' else 0))
        pieces = self.pieces(offset, size)
        if len(pieces) == 1:
            self.qp.wr_set_sge(pieces[0])
        else:
            self.qp.wr_set_sge_list(len(pieces), pieces)
        self.qp.wr_complete()

    def each(self, fn, fill=True):
        """one request per entry of --sizes; fn(i) builds it"""
        for i, size in enumerate(self.sizes):
            if fill:
                self.fill(i, size)
            self.post(i + 1, lambda: fn(i), size, self.slot(i))
            if not self.opts.burst:
                self.drain(1)
        if self.opts.burst:
            self.drain(len(self.sizes))

    def send_both(self):
        """the same on both sides, which are ready to receive"""
        for i, size in enumerate(self.sizes):
            self.fill(i, size)
            self.post(i + 1, self.qp.wr_send, size, self.slot(i))
        self.drain(2 * len(self.sizes))
        self.check()

    def bind_window(self, wr_id, offset, access):
        """binds one to WINDOW bytes of the buffer; the key it then has"""
        info = MWBindInfo(self.mr, self.mr.buf + offset, WINDOW, access)
        if self.name == 'window-1':
            self.window = self.window or MW(self.pd, e.IBV_MW_TYPE_1)
            self.qp.bind_mw(self.window, MWBind(info, e.IBV_SEND_SIGNALED, wr_id))
            key = self.window.rkey
        else:
            # always a fresh one: libibverbs does not note the key of a posted bind, which the next would need
            self.window = MW(self.pd, e.IBV_MW_TYPE_2)
            key = (self.window.rkey & ~0xff) | ((self.window.rkey + 1) & 0xff)
            self.qp.wr_start()
            self.qp.wr_id, self.qp.wr_flags = wr_id, e.IBV_SEND_SIGNALED
            self.qp.wr_bind_mw(self.window, key, info)
            self.qp.wr_complete()
        self.drain(1)
        return key

    def local_invalidate(self, wr_id, key):
        self.qp.wr_start()
        self.qp.wr_id, self.qp.wr_flags = wr_id, e.IBV_SEND_SIGNALED
        self.qp.wr_local_inv(key)
        self.qp.wr_complete()
        self.drain(1)

    def serve(self):
        n, expect = len(self.sizes), 0
        if self.op in ('send', 'send-imm', 'write-imm', 'send-both'):
            self.post_receives()
            expect = n if self.op != 'send-both' else 0
        elif self.op in ('bad-qkey', 'bad-qpn'):
            self.post_receives()
        elif self.name == 'long-send':
            self.post_receives(1, self.sizes[0] - 1)
        elif self.name == 'send-inv':
            key = self.bind_window(50, 0, e.IBV_ACCESS_REMOTE_WRITE)
            self.post_receives(2, WINDOW)
            self.exchange.tell(mw=key)
            expect = 1
        elif self.name in WINDOWS:
            access = e.IBV_ACCESS_REMOTE_WRITE | (0 if self.name == 'window-access' else e.IBV_ACCESS_REMOTE_READ)
            key = self.bind_window(50, 0, access)
            self.post_receives(1)
            self.exchange.tell(mw=key)
            if self.name in ('window-1', 'window-2'):
                self.exchange.hear()
                if self.name == 'window-2':
                    self.local_invalidate(51, key)
                self.exchange.tell(mw=self.bind_window(52, WINDOW, access))
        elif self.op == 'atomics':
            self.mr.write((40).to_bytes(8, 'little'), 8)
        elif self.op == 'read':
            for i, size in enumerate(self.sizes):
                self.fill(i, size)
        elif self.name in BREAKS_SERVER:
            self.post_receives(1)
        if self.name == 'gone':
            self.qp.close()
        self.exchange.tell(ready=1)
        if self.name == 'rnr':
            self.exchange.hear()
            self.post_receives()
            expect = n
        if self.name == 'send-both':
            self.exchange.hear()
            self.send_both()
            self.exchange.tell(done=1)
        self.drain(expect)
        if self.name == 'until-error':
            self.exchange.await_end()
            return
        self.exchange.hear()
        if self.op in ('bad-qkey', 'bad-qpn'):
            self.drain(1, limit=0.2)
        if self.name in BREAKS_SERVER:
            self.drain(1)
            self.say(f'  qp state {self.qp.query(e.IBV_QP_STATE)[0].qp_state}')
        if self.op == 'atomics':
            self.say(f'  value at the end: {int.from_bytes(self.mr.read(8, 0), "little")}')
        elif self.op in ('send', 'send-imm', 'write', 'write-imm', 'rnr'):
            self.check()
        if self.op in ('send', 'send-imm') and self.kind == 'ud':
            self.say(f'  the 40 bytes before the payload: {self.mr.read(GRH_BYTES, 0).hex()}')

    def work_until_error(self):
        writes = 0
        self.fill(0, self.sizes[0])
        while True:
            self.post(1, lambda: self.qp.wr_rdma_write(self.peer['rkey'], self.peer['addr']), self.sizes[0])
            if not self.drain(1, quiet=True):
                break
            writes += 1
            if writes == 10:
                self.say('  working')
        self.say(f'  {writes} writes were well')

    def request(self, wr_id, fn, size, offset=0):
        self.post(wr_id, fn, size, offset)
        self.drain(1)

    def work_window(self, key):
        """through the first window there, and back to another place of the buffer; the first key and the second"""
        addr = self.peer['addr']
        self.fill(0, self.sizes[0])
        self.request(1, lambda: self.qp.wr_rdma_write(key, addr), self.sizes[0])
        self.request(2, lambda: self.qp.wr_rdma_read(key, addr), self.sizes[0], WINDOW)
        same = self.mr.read(self.sizes[0], WINDOW) == pattern(1, self.sizes[0])
        self.say('  read what was written' if same else '  read something else')
        self.exchange.tell(go=1)
        return key, self.exchange.hear()['mw']

    def work(self):
        window = self.exchange.hear()['mw'] if self.name in WINDOWS else None
        if self.name in ('window-1', 'window-2'):
            window = self.work_window(window)
        if self.name == 'send-both':
            self.post_receives()
        self.exchange.hear()
        if self.name == 'until-error':
            self.work_until_error()
            return
        qp, rkey, addr, op = self.qp, self.peer['rkey'], self.peer['addr'], self.op
        try:
            if op in ('send', 'gone', 'long-send', 'rnr-exceeded', 'bad-qkey', 'bad-qpn'):
                self.each(lambda i: qp.wr_send())
            elif op == 'rnr':
                self.fill(0, self.sizes[0])
                self.post(1, qp.wr_send, self.sizes[0])
                self.drain(1, limit=0.3)        # the RNR NAKs: nothing can complete yet
                self.exchange.tell(go=1)
                self.drain(1)
            elif op == 'send-both':
                self.exchange.tell(go=1)
                self.send_both()
                self.exchange.hear()
            elif op == 'send-imm':
                self.each(lambda i: qp.wr_send_imm(0x01020304 + i))
            elif op == 'write':
                self.each(lambda i: qp.wr_rdma_write(rkey, addr + self.slot(i)))
            elif op == 'write-imm':
                self.each(lambda i: qp.wr_rdma_write_imm(rkey, addr + self.slot(i), 0x01020304 + i))
            elif op == 'read':
                self.each(lambda i: qp.wr_rdma_read(rkey, addr + self.slot(i)), fill=False)
                self.check()
            elif op == 'atomics':
                for i, fn in enumerate((lambda: qp.wr_atomic_fetch_add(rkey, addr, 5),
                                        lambda: qp.wr_atomic_cmp_swp(rkey, addr, 45, 1000),
                                        lambda: qp.wr_atomic_cmp_swp(rkey, addr, 45, 2000))):
                    self.post(i + 1, fn, 8)
                    self.drain(1)
                    self.say(f'  old value: {int.from_bytes(self.mr.read(8, 0), "little")}')
            elif op == 'bad-atomic':
                self.post(1, lambda: qp.wr_atomic_fetch_add(rkey, addr + 4, 5), 8)
                self.drain(1)
            elif op in ('bad-rkey', 'no-access'):
                self.post(1, lambda: qp.wr_rdma_write(rkey ^ (0x55 if op == 'bad-rkey' else 0), addr), self.sizes[0])
                self.drain(1)
            elif op == 'bad-rkey-read':
                self.post(1, lambda: qp.wr_rdma_read(rkey ^ 0x55, addr), self.sizes[0])
                self.drain(1)
            elif op == 'bad-range':
                self.post(1, lambda: qp.wr_rdma_write(rkey, addr + BUFFER - self.sizes[0] + 1), self.sizes[0])
                self.drain(1)
            elif op == 'send-inv':
                for wr_id, fn, size in ((1, lambda: qp.wr_rdma_write(window, addr), 100),
                                        (2, lambda: qp.wr_send_inv(window), 32),
                                        (3, lambda: qp.wr_rdma_write(window, addr), 100)):
                    self.post(wr_id, fn, size)
                    self.drain(1)
            elif op in ('window-1', 'window-2'):
                old, new = window
                self.request(3, lambda: qp.wr_rdma_write(new, addr + WINDOW), self.sizes[0])
                self.request(4, lambda: qp.wr_rdma_write(old, addr), self.sizes[0])
            elif op == 'window-range':
                self.request(1, lambda: qp.wr_rdma_write(window, addr + WINDOW - self.sizes[0] + 1), self.sizes[0])
            elif op == 'window-access':
                self.request(1, lambda: qp.wr_rdma_read(window, addr), self.sizes[0])
            else:
                raise Failed(f'no scenario {self.name}')
        finally:
            self.exchange.tell(done=1)


def play(opts):
    """one scenario from a fresh context to its end"""
    try:
        with Context(name=opts.device) as context:
            Scenario(opts, context).run()
    except (Failed, PyverbsError, OSError) as err:
        print(f'{opts.role} {opts.scenario}: failed: {err}', flush=True)
        return False
    print(f'{opts.role} {opts.scenario}: end', flush=True)
    return True


def main():
    parser = arguments()
    opts = parser.parse_args()
    if not opts.batch:
        if not opts.scenario:
            parser.error('a scenario or --batch is needed')
        return 0 if play(opts) else 1
    with sys.stdin if opts.batch == '-' else open(opts.batch) as f:
        lines = [line for line in map(str.strip, f) if line]
    results = [play(parser.parse_args([opts.role, *shlex.split(line)])) for line in lines]
    return 0 if all(results) else 1


if __name__ == '__main__':
    sys.exit(main())
