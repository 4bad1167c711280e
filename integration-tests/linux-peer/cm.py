#!/usr/bin/env python3
"""cm.py: one end of a connection through librdmacm, which prints every event that it gets. Runs in the guest.

Usage: cm.py serve ADDRESS PORT [OPTION...]     cm.py connect ADDRESS PORT [OPTION...]

  --answer accept|reject|nothing  what a server says to a request (accept)
  --data HEX          private data of the request, of its acceptance or of its rejection
  --resources N --depth N         responder resources and initiator depth (1, 1)
  --backlog N         of a server (0: the most there is)
  --count N           how many connections (1)
  --until FILE        a server looks at its events when the file is there, a client then disconnects
Ends when every connection has ended, in whichever way. Its other side is another cm.py or rdma4j's CmPeer.
"""
import argparse
import ctypes as c
import os
import socket
import sys
import time

EVENTS = ['ADDR_RESOLVED', 'ADDR_ERROR', 'ROUTE_RESOLVED', 'ROUTE_ERROR', 'CONNECT_REQUEST', 'CONNECT_RESPONSE',
          'CONNECT_ERROR', 'UNREACHABLE', 'REJECTED', 'ESTABLISHED', 'DISCONNECTED', 'DEVICE_REMOVAL',
          'MULTICAST_JOIN', 'MULTICAST_ERROR', 'ADDR_CHANGE', 'TIMEWAIT_EXIT']
TCP, RC = 0x0106, 2
RETRIES = 7
RESOLVE_MILLIS = 5000
cm = c.CDLL('librdmacm.so.1', use_errno=True)


class Conn(c.Structure):        # struct rdma_conn_param
    _fields_ = [('data', c.c_void_p), ('length', c.c_uint8), ('resources', c.c_uint8), ('depth', c.c_uint8),
                ('flow_control', c.c_uint8), ('retries', c.c_uint8), ('rnr_retries', c.c_uint8), ('srq', c.c_uint8),
                ('qpn', c.c_uint32)]


class Event(c.Structure):       # struct rdma_cm_event
    _fields_ = [('id', c.c_void_p), ('listener', c.c_void_p), ('event', c.c_int), ('status', c.c_int), ('conn', Conn)]


class Init(c.Structure):        # struct ibv_qp_init_attr
    _fields_ = [('context', c.c_void_p), ('send_cq', c.c_void_p), ('recv_cq', c.c_void_p), ('srq', c.c_void_p),
                ('send_wr', c.c_uint32), ('recv_wr', c.c_uint32), ('send_sge', c.c_uint32), ('recv_sge', c.c_uint32),
                ('inline', c.c_uint32), ('type', c.c_int), ('signal_all', c.c_int)]


def call(name, *args):
    function = getattr(cm, name)
    if function(*args):
        sys.exit(f'{name}: {os.strerror(c.get_errno())}')


def sockaddr(address, port):
    family = socket.AF_INET6 if ':' in address else socket.AF_INET
    head = family.to_bytes(2, sys.byteorder) + port.to_bytes(2, 'big')
    raw = socket.inet_pton(family, address)
    return c.create_string_buffer(head + (raw + bytes(8) if family == socket.AF_INET else bytes(4) + raw + bytes(4)))


def say(*words):
    print(*words, flush=True)


class End:
    def __init__(self, args):
        self.args = args
        cm.rdma_create_event_channel.restype = c.c_void_p
        self.channel = cm.rdma_create_event_channel()
        self.began = {}
        self.with_qp = set()

    def create(self):
        made = c.c_void_p()
        call('rdma_create_id', c.c_void_p(self.channel), c.byref(made), None, TCP)
        return made.value

    def parameters(self):
        data = bytes.fromhex(self.args.data)
        self.kept = c.create_string_buffer(data, len(data) or 1)
        return Conn(data=c.cast(self.kept, c.c_void_p).value, length=len(data), resources=self.args.resources,
                    depth=self.args.depth, retries=RETRIES, rnr_retries=RETRIES)

    def queue_pair(self, number):
        init = Init(send_wr=1, recv_wr=1, send_sge=1, recv_sge=1, type=RC)
        call('rdma_create_qp', c.c_void_p(number), None, c.byref(init))
        self.with_qp.add(number)

    def destroy(self, number):
        if number in self.with_qp:
            cm.rdma_destroy_qp(c.c_void_p(number))
            self.with_qp.discard(number)
        call('rdma_destroy_id', c.c_void_p(number))

    def event(self):
        """the next event, printed: (name, id)"""
        pointer = c.POINTER(Event)()
        call('rdma_get_cm_event', c.c_void_p(self.channel), c.byref(pointer))
        e, name = pointer.contents, EVENTS[pointer.contents.event]
        number, text = e.id, f'event {name} status {e.status}'
        if number in self.began:
            text += f' after {round((time.monotonic() - self.began[number]) * 1000)} ms'
        if name in ('CONNECT_REQUEST', 'REJECTED') or name == 'ESTABLISHED' and e.conn.data:
            data = c.string_at(e.conn.data, e.conn.length) if e.conn.data else b''
            if name != 'REJECTED':
                text += f' resources {e.conn.resources} depth {e.conn.depth}'
            text += f' data {data.rstrip(bytes(1)).hex()}'
        call('rdma_ack_cm_event', pointer)
        if not name.endswith('_RESOLVED'):
            say(text)
        return name, number

    def begin(self, number):
        self.began[number] = time.monotonic()

    def wait(self):
        while self.args.until and not os.path.exists(self.args.until):
            time.sleep(0.02)


def disconnect(end, number):
    cm.rdma_disconnect(c.c_void_p(number))      # fails where the peer was first and has our answer


def serve(end):
    listener = c.c_void_p(end.create())
    call('rdma_bind_addr', listener, sockaddr(end.args.address, end.args.port))
    call('rdma_listen', listener, end.args.backlog)
    say('listening')
    end.wait()
    left = end.args.count
    while left:
        name, number = end.event()
        if name == 'CONNECT_REQUEST':
            end.begin(number)
            if end.args.answer == 'accept':
                end.queue_pair(number)
                call('rdma_accept', c.c_void_p(number), c.byref(end.parameters()))
            elif end.args.answer == 'reject':
                p = end.parameters()
                call('rdma_reject', c.c_void_p(number), c.c_void_p(p.data), p.length)
                end.destroy(number)
                left -= 1
        elif name in ('DISCONNECTED', 'UNREACHABLE', 'CONNECT_ERROR', 'REJECTED'):
            disconnect(end, number)
            end.destroy(number)
            left -= 1
    call('rdma_destroy_id', listener)


def connect(end):
    left = set()
    for _ in range(end.args.count):
        number = end.create()
        call('rdma_resolve_addr', c.c_void_p(number), None, sockaddr(end.args.address, end.args.port), RESOLVE_MILLIS)
        name, _ = end.event()
        if name == 'ADDR_RESOLVED':
            call('rdma_resolve_route', c.c_void_p(number), RESOLVE_MILLIS)
            name, _ = end.event()
        if name != 'ROUTE_RESOLVED':
            return
        end.queue_pair(number)
        left.add(number)
    for number in left:
        end.begin(number)
        call('rdma_connect', c.c_void_p(number), c.byref(end.parameters()))
    say('connecting')
    waiting = len(left)
    while left:
        name, number = end.event()
        if name == 'ESTABLISHED':
            waiting -= 1
            if not waiting:
                end.wait()
                for each in list(left):
                    end.begin(each)
                    disconnect(end, each)
        elif name in ('DISCONNECTED', 'UNREACHABLE', 'CONNECT_ERROR', 'REJECTED'):
            disconnect(end, number)
            end.destroy(number)
            left.discard(number)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('role', choices=('serve', 'connect'))
    parser.add_argument('address')
    parser.add_argument('port', type=int)
    parser.add_argument('--answer', choices=('accept', 'reject', 'nothing'), default='accept')
    parser.add_argument('--data', default='')
    parser.add_argument('--resources', type=int, default=1)
    parser.add_argument('--depth', type=int, default=1)
    parser.add_argument('--backlog', type=int, default=0)
    parser.add_argument('--count', type=int, default=1)
    parser.add_argument('--until')
    end = End(parser.parse_args())
    (serve if end.args.role == 'serve' else connect)(end)
    say('end')


main()
