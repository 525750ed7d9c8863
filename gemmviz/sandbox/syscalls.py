"""The system calls in the filters, with their numbers on Linux for x86-64 and for 64-bit ARM."""

import platform
from collections.abc import Mapping
from functools import cache

# Name, number on x86-64 (arch/x86/entry/syscalls/syscall_64.tbl), number on 64-bit ARM (the generic table).
_TABLE = """
accept 43 202; accept4 288 242; access 21 -; acct 163 89; add_key 248 217; adjtimex 159 171; alarm 37 -; arch_prctl
158 -; bind 49 200; bpf 321 280; brk 12 214; capset 126 91; chmod 90 -; chown 92 -; chroot 161 51; clock_adjtime 305
266; clock_getres 229 114; clock_gettime 228 113; clock_nanosleep 230 115; clock_settime 227 112; clone 56 220;
clone3 435 435; close 3 57; close_range 436 436; connect 42 203; copy_file_range 326 285; creat 85 -; delete_module
176 106; dup 32 23; dup2 33 -; dup3 292 24; epoll_create1 291 20; epoll_ctl 233 21; epoll_pwait 281 22; epoll_wait
232 -; eventfd2 290 19; execve 59 221; execveat 322 281; exit 60 93; exit_group 231 94; faccessat 269 48; faccessat2
439 439; fallocate 285 47; fanotify_init 300 262; fanotify_mark 301 263; fchmod 91 52; fchmodat 268 53; fchmodat2
452 452; fchown 93 55; fchownat 260 54; fcntl 72 25; finit_module 313 273; fork 57 -; fremovexattr 199 16; fsconfig
431 431; fsetxattr 190 7; fsmount 432 432; fsopen 430 430; fspick 433 433; fstat 5 80; ftruncate 77 46; futex 202
98; futex_waitv 449 449; futimesat 261 -; get_robust_list 274 100; getcpu 309 168; getcwd 79 17; getdents64 217 61;
getegid 108 177; geteuid 107 175; getgid 104 176; getgroups 115 158; getitimer 36 102; getpgid 121 155; getpgrp 111
-; getpid 39 172; getppid 110 173; getpriority 140 141; getrandom 318 278; getresgid 120 150; getresuid 118 148;
getrlimit 97 163; getrusage 98 165; getsid 124 156; gettid 186 178; gettimeofday 96 169; getuid 102 174; init_module
175 105; inotify_add_watch 254 27; inotify_init 253 -; inotify_init1 294 26; io_uring_enter 426 426;
io_uring_register 427 427; io_uring_setup 425 425; ioctl 16 29; ioperm 173 -; iopl 172 -; kcmp 312 272;
kexec_file_load 320 294; kexec_load 246 104; keyctl 250 219; kill 62 129; lchown 94 -; link 86 -; linkat 265 37;
listen 50 201; lremovexattr 198 15; lseek 8 62; lsetxattr 189 6; lstat 6 -; madvise 28 233; mbind 237 235;
membarrier 324 283; memfd_create 319 279; memfd_secret 447 447; mincore 27 232; mkdir 83 -; mkdirat 258 34; mknod
133 -; mknodat 259 33; mlock 149 228; mlock2 325 284; mmap 9 222; mount 165 40; mount_setattr 442 442; move_mount
429 429; mprotect 10 226; mq_open 240 180; mq_unlink 241 181; mremap 25 216; msgctl 71 187; msgget 68 186; msgrcv 70
188; msgsnd 69 189; msync 26 227; munlock 150 229; munmap 11 215; name_to_handle_at 303 264; nanosleep 35 101;
newfstatat 262 79; open 2 -; open_by_handle_at 304 265; open_tree 428 428; openat 257 56; pause 34 -;
perf_event_open 298 241; personality 135 92; pidfd_getfd 438 438; pidfd_open 434 434; pidfd_send_signal 424 424;
pipe 22 -; pipe2 293 59; pivot_root 155 41; poll 7 -; ppoll 271 73; prctl 157 167; pread64 17 67; preadv 295 69;
prlimit64 302 261; process_madvise 440 440; process_mrelease 448 448; process_vm_readv 310 270; process_vm_writev
311 271; pselect6 270 72; ptrace 101 117; pwrite64 18 68; pwritev 296 70; quotactl 179 60; quotactl_fd 443 443; read
0 63; readlink 89 -; readlinkat 267 78; readv 19 65; reboot 169 142; recvfrom 45 207; recvmsg 47 212; removexattr
197 14; rename 82 -; renameat 264 38; renameat2 316 276; request_key 249 218; restart_syscall 219 128; rmdir 84 -;
rseq 334 293; rt_sigaction 13 134; rt_sigpending 127 136; rt_sigprocmask 14 135; rt_sigqueueinfo 129 138;
rt_sigreturn 15 139; rt_sigsuspend 130 133; rt_sigtimedwait 128 137; rt_tgsigqueueinfo 297 240;
sched_get_priority_max 146 125; sched_get_priority_min 147 126; sched_getaffinity 204 123; sched_getattr 315 275;
sched_getparam 143 121; sched_getscheduler 145 120; sched_setaffinity 203 122; sched_yield 24 124; select 23 -;
semctl 66 191; semget 64 190; semop 65 193; sendfile 40 71; sendmmsg 307 269; sendmsg 46 211; sendto 44 206;
set_robust_list 273 99; set_tid_address 218 96; setdomainname 171 162; sethostname 170 161; setitimer 38 103; setns
308 268; setpgid 109 154; setsid 112 157; settimeofday 164 170; setxattr 188 5; shmat 30 196; shmctl 31 195; shmdt
67 197; shmget 29 194; shutdown 48 210; sigaltstack 131 132; socket 41 198; socketpair 53 199; splice 275 76; stat 4
-; statx 332 291; swapoff 168 225; swapon 167 224; symlink 88 -; symlinkat 266 36; sysinfo 99 179; syslog 103 116;
tee 276 77; tgkill 234 131; time 201 -; timer_create 222 107; timer_delete 226 111; timer_getoverrun 225 109;
timer_gettime 224 108; timer_settime 223 110; times 100 153; tkill 200 130; truncate 76 45; umount2 166 39; uname 63
160; unlink 87 -; unlinkat 263 35; unshare 272 97; userfaultfd 323 282; utime 132 -; utimensat 280 88; utimes 235 -;
vfork 58 -; vhangup 153 58; vmsplice 278 75; wait4 61 260; waitid 247 95; write 1 64; writev 20 66
"""
_COLUMN = {"x86_64": 1, "aarch64": 2}


@cache
def numbers(machine: str | None = None) -> Mapping[str, int]:
    """Return the numbers of a processor's calls on Linux; empty for a processor that is not in the table.

    Parameters
    ----------
    machine
        As `platform.machine` names it; by default this one.
    """
    column = _COLUMN.get(machine or platform.machine())
    if column is None:
        return {}
    rows = (row.split() for row in _TABLE.replace("\n", " ").split(";"))
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Calls of a process that runs a kernel: memory, threads, clocks, signals, and files that are open or may be read.
RUNNING = _names("""
read write readv writev pread64 pwrite64 preadv pwritev close close_range fstat newfstatat stat lstat statx access
faccessat faccessat2 readlink readlinkat getcwd openat open lseek getdents64 fcntl dup dup2 dup3 pipe pipe2 poll
ppoll select pselect6 epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd2 ioctl mmap munmap mprotect mremap
madvise brk msync mincore mlock munlock mlock2 membarrier mbind futex futex_waitv set_robust_list get_robust_list
rseq set_tid_address clone fork vfork wait4 waitid exit exit_group kill tkill tgkill getpid getppid gettid getuid
geteuid getgid getegid getpgid getpgrp getsid getgroups getresuid getresgid setsid setpgid rt_sigaction
rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack restart_syscall pause alarm
setitimer getitimer timer_create timer_settime timer_delete timer_gettime timer_getoverrun nanosleep clock_nanosleep
clock_gettime clock_getres gettimeofday time times sched_yield sched_getaffinity sched_setaffinity sched_getparam
sched_getscheduler sched_get_priority_max sched_get_priority_min sched_getattr getcpu getpriority getrusage
getrlimit prlimit64 sysinfo uname prctl arch_prctl getrandom recvmsg sendmsg sendto recvfrom shutdown
""")

# System calls refused to every process with a stranger's text, the compiler included.
REFUSED = _names("""
socket connect bind listen accept accept4 ptrace process_vm_writev process_madvise process_mrelease
kcmp pidfd_open pidfd_getfd pidfd_send_signal mount umount2 mount_setattr move_mount open_tree fsopen fsconfig
fsmount fspick pivot_root chroot setns keyctl add_key request_key bpf perf_event_open userfaultfd io_uring_setup
io_uring_enter io_uring_register init_module finit_module delete_module kexec_load kexec_file_load reboot swapon
swapoff acct quotactl quotactl_fd settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname iopl
ioperm name_to_handle_at open_by_handle_at syslog vhangup fanotify_init fanotify_mark chown lchown fchown fchownat
setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr
""")

# Further calls refused to a process that runs a kernel: programs, shared memory, and changes to files.
REFUSED_WHILE_RUNNING = REFUSED | _names("""
socketpair unshare execve execveat memfd_create memfd_secret shmget shmat shmctl shmdt msgget msgsnd msgrcv msgctl
semget semop semctl mq_open mq_unlink chmod fchmod fchmodat fchmodat2 utime utimes utimensat futimesat truncate
ftruncate fallocate creat unlink unlinkat rename renameat renameat2 mkdir mkdirat rmdir link linkat symlink
symlinkat mknod mknodat splice tee vmsplice sendfile copy_file_range personality capset inotify_init inotify_init1
inotify_add_watch process_vm_readv rt_sigqueueinfo rt_tgsigqueueinfo sendmmsg
""")
