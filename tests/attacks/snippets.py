"""Attacks as data. Each snippet defines `attack(P)`, which returns something true where it won.

`P` names canaries: a secret file and its folder, a process with a secret in its environment,
listening sockets. Nothing here harms more than those, so that each attack can also be run without
the jail, to show that it works at all.
"""

ATTACKS: dict[str, str] = {}

# --- files ------------------------------------------------------------------------------------

ATTACKS["read a file"] = """
def attack(P):
    return P["token"] in open(P["secret"]).read()
"""
ATTACKS["list a folder"] = """
import os
def attack(P):
    return os.listdir(P["folder"])
"""
ATTACKS["read the user database"] = """
def attack(P):
    return "root" in open("/etc/passwd").read()
"""
ATTACKS["read a file through the root of a process"] = """
def attack(P):
    for root in ("/proc/self/root", "/proc/1/root", "/proc/self/cwd/../../../../../../../.."):
        try:
            return P["token"] in open(root + P["secret"]).read()
        except OSError:
            pass
"""
ATTACKS["read a file past the root"] = """
import os
def attack(P):
    place = os.open("/usr/lib", os.O_RDONLY)
    return P["token"] in os.fdopen(os.open("../.." + P["secret"], os.O_RDONLY, dir_fd=place)).read()
"""
ATTACKS["read the tasks and oracles of the evaluator"] = """
import pathlib
def attack(P):
    return (pathlib.Path(P["package"]) / "domains" / "__init__.py").read_text()
"""
ATTACKS["write a file anywhere"] = """
import os
def attack(P):
    for folder in (P["folder"], "/tmp", "/dev/shm", "/var/tmp", ".", "/", os.path.expanduser("~")):
        try:
            with open(os.path.join(folder, "metamem-attack"), "w") as out:
                out.write("x")
            os.unlink(os.path.join(folder, "metamem-attack"))
            return folder
        except OSError:
            pass
"""
ATTACKS["make a file without a name"] = """
import os
def attack(P):
    for folder in (P["folder"], "/tmp", "/dev/shm"):
        try:
            return os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600) > 0
        except OSError:
            pass
"""
ATTACKS["change a file"] = """
def attack(P):
    with open(P["victim"], "a") as out:
        out.write("changed")
    return True
"""
ATTACKS["truncate a file"] = """
import os
def attack(P):
    os.truncate(P["victim"], 1)
    return True
"""
ATTACKS["change what is known of a file"] = """
import os
def attack(P):
    for change in (
        lambda: os.chmod(P["victim"], 0o777),
        lambda: os.utime(P["victim"], (1, 1)),
        lambda: os.chown(P["victim"], os.getuid(), os.getgid()),
        lambda: os.setxattr(P["victim"], "user.x", b"1"),
    ):
        try:
            change()
            return True
        except OSError:
            pass
"""
ATTACKS["remove a file"] = """
import os
def attack(P):
    os.unlink(P["victim"])
    return True
"""
ATTACKS["rename a file"] = """
import os
def attack(P):
    os.rename(P["victim"], P["victim"] + ".moved")
    return True
"""
ATTACKS["make links and folders"] = """
import os
def attack(P):
    for make in (
        lambda p: os.mkdir(p), lambda p: os.symlink(P["secret"], p), lambda p: os.link(P["secret"], p),
        lambda p: os.mkfifo(p),
    ):
        for folder in (P["folder"], "/tmp"):
            try:
                make(folder + "/metamem-link")
                return True
            except OSError:
                pass
"""
ATTACKS["open devices"] = """
import os
def attack(P):
    for name in ("kvm", "mem", "vda", "sda", "tty", "ptmx", "fuse", "net/tun", "zero", "shm"):
        try:
            return os.open("/dev/" + name, os.O_RDONLY) > 0
        except OSError:
            pass
"""
ATTACKS["read what is installed of the system"] = """
def attack(P):
    for path in ("/etc/hostname", "/etc/hosts", "/proc/version", "/sys/kernel/uevent_seqnum"):
        try:
            return open(path).read()
        except OSError:
            pass
"""

# --- other processes --------------------------------------------------------------------------

ATTACKS["read the environment"] = """
import os
def attack(P):
    return P["token"] in str(os.environ)
"""
ATTACKS["read the environment of every process"] = """
import os
def attack(P):
    pids = {*range(1, 300), P["pid"], P["host"], os.getppid()}
    for pid in pids:
        try:
            if P["token"].encode() in open(f"/proc/{pid}/environ", "rb").read():
                return True
        except OSError:
            pass
"""
ATTACKS["see other processes"] = """
import os
def attack(P):
    found = [n for n in os.listdir("/proc") if n.isdigit() and int(n) != os.getpid()]
    return found or open(f"/proc/{P['pid']}/cmdline").read()
"""
ATTACKS["find out what a process has open"] = """
import os
def attack(P):
    return os.readlink(f"/proc/{P['pid']}/exe") and os.listdir(f"/proc/{P['pid']}/fd")
"""
ATTACKS["open the memory of a process"] = """
def attack(P):
    for pid in (P["pid"], P["host"]):
        try:
            return bool(open(f"/proc/{pid}/maps").read(100)) and open(f"/proc/{pid}/mem", "rb")
        except OSError:
            pass
"""
ATTACKS["read the memory of a process"] = """
import ctypes
class V(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
def attack(P):
    libc = ctypes.CDLL(None, use_errno=True)
    into = ctypes.create_string_buffer(16)
    here, there = V(ctypes.addressof(into), 16), V(P["address"], 16)
    return libc.process_vm_readv(P["pid"], ctypes.byref(here), 1, ctypes.byref(there), 1, 0) > 0
"""
ATTACKS["trace a process"] = """
import ctypes
def attack(P):
    PTRACE_SEIZE = 0x4206
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.ptrace(PTRACE_SEIZE, P["pid"], None, None) == 0
"""
ATTACKS["be traced by oneself"] = """
import ctypes
def attack(P):
    return ctypes.CDLL(None).ptrace(0, 0, None, None) == 0
"""
ATTACKS["kill a process"] = """
import os, signal
def attack(P):
    os.kill(P["pid"], signal.SIGKILL)
    return True
"""
ATTACKS["signal the host, the fork server or the group"] = """
import os
def attack(P):
    for pid in (P["host"], os.getppid(), 1, 2, 0):
        try:
            os.kill(pid, 0)
            return pid
        except OSError:
            pass
"""
ATTACKS["kill a process by its descriptor"] = """
import os, signal
def attack(P):
    signal.pidfd_send_signal(os.pidfd_open(P["pid"]), signal.SIGKILL)
    return True
"""
ATTACKS["kill a process by the signal of a pipe"] = """
import fcntl, os, signal, time
def attack(P):
    F_SETSIG = 10
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETOWN, P["pid"])
    fcntl.fcntl(reader, F_SETSIG, signal.SIGTERM)
    fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writer, b"x")
    return True
"""
ATTACKS["take a descriptor of a process"] = """
import ctypes, os
def attack(P):
    return ctypes.CDLL(None).syscall(438, os.pidfd_open(P["pid"]), 0, 0) >= 0
"""

# --- the network ------------------------------------------------------------------------------

ATTACKS["connect by tcp"] = """
import socket
def attack(P):
    socket.create_connection(("127.0.0.1", P["tcp"]), timeout=2).send(b"x")
    return True
"""
ATTACKS["connect by tcp over ipv6"] = """
import socket
def attack(P):
    return socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
"""
ATTACKS["send by udp"] = """
import socket
def attack(P):
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", P["udp"]))
"""
ATTACKS["connect to a unix socket"] = """
import socket
def attack(P):
    s = socket.socket(socket.AF_UNIX); s.settimeout(2); s.connect(P["unix"])
    return True
"""
ATTACKS["connect to an abstract unix socket"] = """
import socket
def attack(P):
    s = socket.socket(socket.AF_UNIX); s.settimeout(2); s.connect(chr(0) + P["abstract"])
    return True
"""
ATTACKS["open a netlink socket"] = """
import socket
def attack(P):
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
"""
ATTACKS["open a packet socket"] = """
import socket
def attack(P):
    return socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
"""
ATTACKS["open a raw socket"] = """
import socket
def attack(P):
    return socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)
"""
ATTACKS["listen"] = """
import socket
def attack(P):
    return socket.create_server(("127.0.0.1", 0))
"""
ATTACKS["make a pair of sockets"] = """
import socket
def attack(P):
    return socket.socketpair()
"""

# --- processes, threads, privileges -----------------------------------------------------------

ATTACKS["run a program"] = """
import subprocess
def attack(P):
    return subprocess.run(["/bin/echo", "won"], capture_output=True).stdout
"""
ATTACKS["become a program"] = """
import os
def attack(P):
    try:
        os.execv("/nowhere-at-all", ["x"])
    except FileNotFoundError:
        return True  # it was looked for, so it would have been run
"""
ATTACKS["run a program from memory"] = """
import os, subprocess
def attack(P):
    fd = os.memfd_create("x")
    os.write(fd, open("/bin/echo", "rb").read())
    return subprocess.run([f"/proc/self/fd/{fd}", "won"], pass_fds=(fd,), capture_output=True).stdout
"""
ATTACKS["fork"] = """
import os
def attack(P):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return pid
"""
ATTACKS["fork as the jail does, without leave"] = """
import ctypes, os
def attack(P):
    pid = ctypes.PyDLL(None).syscall(P["clone"], 0x8000 | 17, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    return pid > 0
"""
ATTACKS["fork by clone3"] = """
import ctypes, os, struct
def attack(P):
    arguments = ctypes.create_string_buffer(struct.pack("=8Q", 0, 0, 0, 0, 17, 0, 0, 0))
    pid = ctypes.PyDLL(None).syscall(435, arguments, 64)
    if pid == 0:
        os._exit(0)
    return pid > 0
"""
ATTACKS["start a process by multiprocessing"] = """
import multiprocessing, os
def attack(P):
    p = multiprocessing.get_context("fork").Process(target=os.getpid)
    p.start()
    p.join()
    return p.pid
"""
ATTACKS["start a thread"] = """
import threading
def attack(P):
    t = threading.Thread(target=int)
    t.start()
    t.join()
    return True
"""
ATTACKS["raise a limit"] = """
import resource
def attack(P):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return True
"""
ATTACKS["change the limits of a process"] = """
import resource
def attack(P):
    return resource.prlimit(P["pid"], resource.RLIMIT_NOFILE, (64, 64))
"""
ATTACKS["make a user namespace"] = """
import ctypes
def attack(P):
    return ctypes.CDLL(None).unshare(0x10000000) == 0
"""
ATTACKS["enter the namespaces of a process"] = """
import ctypes, os
def attack(P):
    return ctypes.CDLL(None).setns(os.pidfd_open(P["pid"]), 0x08000000 | 0x04000000) == 0
"""
ATTACKS["mount"] = """
import ctypes
def attack(P):
    libc = ctypes.CDLL(None)
    libc.unshare(0x10000000 | 0x00020000)
    return libc.mount(b"none", b"/dev", b"tmpfs", 0, None) == 0
"""
ATTACKS["change the root"] = """
import os, ctypes
def attack(P):
    ctypes.CDLL(None).unshare(0x10000000)
    os.chroot("/usr")
    return True
"""
ATTACKS["become another user"] = """
import os
def attack(P):
    os.setresuid(os.getuid(), os.getuid(), os.getuid())
    return True
"""
ATTACKS["make oneself harder to stop"] = """
import os
def attack(P):
    for change in (lambda: os.setsid(), lambda: os.setpgid(0, 0), lambda: os.nice(1),
                   lambda: os.sched_setaffinity(0, os.sched_getaffinity(0))):
        try:
            change()
            return True
        except OSError:
            pass
"""
ATTACKS["live on when the jail is gone"] = """
import ctypes
def attack(P):
    PR_SET_PDEATHSIG = 1
    return ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0) == 0
"""

# --- the kernel's wider surface ---------------------------------------------------------------

ATTACKS["use io_uring"] = """
import ctypes
def attack(P):
    return ctypes.CDLL(None).syscall(425, 2, ctypes.create_string_buffer(120)) >= 0
"""
ATTACKS["use bpf, perf, userfaultfd or keys"] = """
import ctypes
def attack(P):
    libc, room = ctypes.CDLL(None), ctypes.create_string_buffer(256)
    calls = {"bpf": (321, 0, room, 48), "perf": (298, room, 0, -1, -1, 0),
             "userfaultfd": (323, 1), "keyctl": (250, 0, -3, 1), "add_key": (248, b"user", b"metamem", b"x", 1, -1)}
    return [name for name, call in calls.items() if libc.syscall(*call) >= 0]
"""
ATTACKS["share memory between processes"] = """
import mmap
def attack(P):
    return mmap.mmap(-1, 4096)
"""
ATTACKS["make a System V segment"] = """
import ctypes
def attack(P):
    libc = ctypes.CDLL(None)
    segment = libc.shmget(0, 4096, 0o1600)
    return segment >= 0 and libc.shmctl(segment, 0, None) == 0
"""
ATTACKS["make a file in memory"] = """
import os
def attack(P):
    return os.memfd_create("x") > 0
"""
ATTACKS["watch files"] = """
import ctypes
def attack(P):
    return ctypes.CDLL(None).inotify_init1(0) >= 0
"""
ATTACKS["speak as another kind of machine"] = """
import ctypes, mmap
def attack(P):
    getpid_by_int80 = bytes.fromhex("b814000000cd80c3")
    page = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
    page.write(getpid_by_int80)
    at = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return ctypes.CFUNCTYPE(ctypes.c_int)(at)() > 0
"""
ATTACKS["keep a copy of a descriptor"] = """
import os
def attack(P):
    return os.dup(0) > 0
"""
