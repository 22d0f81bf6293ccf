"""Filter of system calls (seccomp): threads are allowed; processes, programs, sockets and signals are not.

RLIMIT_NPROC alone does not stop a fork bomb: it does not hold for user 0, who is who runs in many a container. This
file stands alone: it runs inside the sandbox.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct

# Number on x86_64 and on aarch64; 0 where the architecture lacks the call.
_REFUSED = """
fork 57 0 | vfork 58 0 | execve 59 221 | execveat 322 281                         starting processes and programs
socket 41 198 | socketpair 53 199                                                 the network, and sockets in files
kill 62 129 | tkill 200 130 | tgkill 234 131 | rt_sigqueueinfo 129 138            signals to others
rt_tgsigqueueinfo 297 240 | pidfd_send_signal 424 424 | pidfd_open 434 434
ptrace 101 117 | process_vm_readv 310 270 | process_vm_writev 311 271             other processes' memory and files
pidfd_getfd 438 438 | kcmp 312 272 | process_madvise 440 440 | process_mrelease 448 448
migrate_pages 256 238 | move_pages 279 239
setpriority 141 140 | sched_setscheduler 144 119 | sched_setaffinity 203 122      their share of the machine
shmget 29 194 | semget 64 190 | msgget 68 186 | mq_open 240 180                   memory that no limit counts
memfd_create 319 279 | memfd_secret 447 447
unshare 272 97 | setns 308 268 | pivot_root 155 41 | chroot 161 51                namespaces and mounts
mount 165 40 | umount2 166 39 | open_tree 428 428 | move_mount 429 429
fsopen 430 430 | fsconfig 431 431 | fsmount 432 432 | mount_setattr 442 442
add_key 248 217 | request_key 249 218 | keyctl 250 219                            keys
init_module 175 105 | delete_module 176 106 | finit_module 313 273                the kernel itself
kexec_load 246 104 | kexec_file_load 320 294 | bpf 321 280 | perf_event_open 298 241
name_to_handle_at 303 264 | open_by_handle_at 304 265 | userfaultfd 323 282
io_uring_setup 425 425 | io_uring_enter 426 426 | io_uring_register 427 427
reboot 169 142 | sethostname 170 161 | setdomainname 171 162 | syslog 103 116
clock_settime 227 112 | clock_adjtime 305 266 | quotactl 179 60 | quotactl_fd 443 443
inotify_init 253 0 | inotify_init1 294 26 | inotify_add_watch 254 27 | fanotify_init 300 262    what others open
"""

# Requests that are refused of a call that is otherwise allowed: which argument holds them, and their numbers.
_REFUSED_REQUESTS = """
fcntl 72 25 1                                                                     signals by the owner of a file
F_SETOWN 8 | F_SETSIG 10 | F_SETOWN_EX 15 | F_SETLEASE 1024 | F_NOTIFY 1026
ioctl 16 29 1
FIOSETOWN 0x8901 | SIOCSPGRP 0x8902 | TIOCSTI 0x5412
prctl 157 167 0                                                                   outliving the grader
PR_SET_PDEATHSIG 1
"""

_OWNERS_AND_MODES = """
chmod 90 0 | fchmod 91 52 | fchmodat 268 53 | fchmodat2 452 452                   what Landlock does not guard
chown 92 0 | fchown 93 55 | lchown 94 0 | fchownat 260 54
setxattr 188 5 | lsetxattr 189 6 | fsetxattr 190 7
removexattr 197 14 | lremovexattr 198 15 | fremovexattr 199 16
utime 132 0 | utimes 235 0 | utimensat 280 88 | futimesat 261 0 | truncate 76 45
"""

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE, _CLONE3, _PRLIMIT = {"x86_64": 56, "aarch64": 220}, 435, {"x86_64": 302, "aarch64": 261}
_CLONE_THREAD, _X32 = 0x10000, 0x40000000
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, _EPERM, _ENOSYS = 22, 2, 1, 38


def refuse_system_calls(owners_and_modes: bool = False) -> bool:
    """Refuse them from now on, in this process and its threads; False on a machine whose numbers are not known here.

    Parameters
    ----------
    owners_and_modes
        Also those that change whose a file is, its mode and its times.

    Raises
    ------
    OSError
        If the kernel refuses the filter.
    """
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        return False
    program = _filter(machine, _numbers(_REFUSED + (_OWNERS_AND_MODES if owners_and_modes else ""), machine))
    array = ctypes.create_string_buffer(program, len(program))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    whole = Program(len(program) // 8, ctypes.addressof(array))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(whole), 0, 0):
        raise OSError(ctypes.get_errno(), f"seccomp: {os.strerror(ctypes.get_errno())}")
    return True


def _numbers(table: str, machine: str) -> list[int]:
    """The column of a table for one architecture."""
    column = 1 if machine == "x86_64" else 2
    calls = (part.split() for line in table.splitlines() for part in line.split("|") if part.strip())
    return [number for call in calls if (number := int(call[column]))]


def _requests(machine: str) -> list[tuple[int, int, list[int]]]:
    """The calls of which some requests are refused: the number, the argument that holds the request, the requests."""
    lines = _REFUSED_REQUESTS.strip().splitlines()
    made = []
    for call, requests in zip(lines[::2], lines[1::2], strict=True):
        _, amd, arm, argument, *_ = call.split()
        wanted = [int(part.split()[1], 0) for part in requests.split("|")]
        made.append((int(amd if machine == "x86_64" else arm), int(argument), wanted))
    return made


def _filter(machine: str, refused: list[int]) -> bytes:
    """A program for the kernel's packet filter, over (number, architecture, instruction pointer, six arguments)."""
    load, equal, at_least, any_of, give = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, refuse, missing = 0x7FFF0000, 0x00050000 | _EPERM, 0x00050000 | _ENOSYS
    steps = [
        (load, 0, 0, 4),
        (equal, 1, 0, _ARCHITECTURES[machine]),
        (give, 0, 0, refuse),  # another architecture's calls, such as 32-bit ones
        (load, 0, 0, 0),
        (at_least, 0, 1, _X32),
        (give, 0, 0, refuse),
        (equal, 0, 1, _CLONE3),
        (give, 0, 0, missing),  # its flags are out of sight; the C library then falls back to clone
        (equal, 0, 4, _CLONE[machine]),
        (load, 0, 0, 16),  # its flags
        (any_of, 0, 1, _CLONE_THREAD),
        (give, 0, 0, allow),
        (give, 0, 0, refuse),
        (equal, 0, 4, _PRLIMIT[machine]),
        (load, 0, 0, 16),  # whose limits; 0 is this process
        (equal, 0, 1, 0),
        (give, 0, 0, allow),
        (give, 0, 0, refuse),
    ]
    for number, argument, requests in _requests(machine):
        steps += [(equal, 0, 2 * len(requests) + 2, number), (load, 0, 0, 16 + 8 * argument)]
        for request in requests:
            steps += [(equal, 0, 1, request), (give, 0, 0, refuse)]
        steps.append((give, 0, 0, allow))
    for number in refused:
        steps += [(equal, 0, 1, number), (give, 0, 0, refuse)]
    steps.append((give, 0, 0, allow))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
