//! Filter: the system calls that are refused inside, as a program for the kernel's seccomp.

/// One instruction of classic BPF: code, jump if true, jump if false, value (linux/filter.h).
type Instruction = (u16, u8, u8, u32);

const LOAD: u16 = 0x20;
const EQUAL: u16 = 0x15;
const AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

const KILL: u32 = 0x8000_0000;
const ALLOW: u32 = 0x7fff_0000;
/// SECCOMP_RET_ERRNO with EPERM.
const REFUSE: u32 = 0x0005_0001;

/// Offsets in `struct seccomp_data`: the number of the call, the architecture, the low half of the second argument.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const REQUEST: u32 = 24;

/// Numbers from here on are those of the x32 way into a 64-bit kernel, by which every filter could be passed.
const X32: u32 = 0x4000_0000;

/// The architecture of the machine and the one whose programs it runs beside, each with the number of `ioctl`.
#[cfg(target_arch = "aarch64")]
const CALLS: [(u32, u32); 2] = [(0xc000_00b7, 29), (0x4000_0028, 54)];
/// The architecture of the machine and the one whose programs it runs beside, each with the number of `ioctl`.
#[cfg(not(target_arch = "aarch64"))]
const CALLS: [(u32, u32); 2] = [(0xc000_003e, 16), (0x4000_0003, 54)];

/// `ioctl` requests that write into a terminal as if a person had typed: TIOCSTI and TIOCLINUX.
const TYPING: [u32; 2] = [0x5412, 0x541c];

/// Refuses `ioctl` that types into a terminal; what is started on the same terminal outside would read it as a command.
pub const SYSTEM_CALL_FILTER: [Instruction; 14] = [
    (LOAD, 0, 0, ARCHITECTURE),
    (EQUAL, 2, 0, CALLS[0].0),
    (EQUAL, 4, 0, CALLS[1].0),
    (RETURN, 0, 0, KILL),
    (LOAD, 0, 0, NUMBER),
    (AT_LEAST, 7, 0, X32),
    (EQUAL, 2, 5, CALLS[0].1),
    (LOAD, 0, 0, NUMBER),
    (EQUAL, 0, 3, CALLS[1].1),
    (LOAD, 0, 0, REQUEST),
    (EQUAL, 2, 0, TYPING[0]),
    (EQUAL, 1, 0, TYPING[1]),
    (RETURN, 0, 0, ALLOW),
    (RETURN, 0, 0, REFUSE),
];

/// Returns the filter as `bwrap --seccomp` reads it: an array of `struct sock_filter`.
pub fn filter_bytes() -> Vec<u8> {
    SYSTEM_CALL_FILTER
        .iter()
        .flat_map(|(code, yes, no, value)| {
            let code = code.to_ne_bytes().into_iter();
            code.chain([*yes, *no]).chain(value.to_ne_bytes())
        })
        .collect()
}
