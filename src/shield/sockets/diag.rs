//! Diag: what the kernel's diagnosis tells of the sockets of this network namespace: not only the name that each was bound to,
//! but the file that it is. A name may be relative, and the file renamed since.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// A socket that others can reach by a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bound {
    /// The name that it was bound to.
    pub(super) name: PathBuf,
    /// The number of its file, as far as the kernel tells it.
    pub(super) inode: u32,
    /// The file system on which that lies: major and minor number.
    pub(super) device: (u32, u32),
}

/// `SOCK_DIAG_BY_FAMILY`: a question, and a message that answers it.
const BY_FAMILY: u16 = 20;
/// `NLMSG_ERROR` and `NLMSG_DONE`.
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// `NLM_F_REQUEST` and `NLM_F_DUMP`.
const ALL: u16 = 0x301;
/// `UDIAG_SHOW_NAME` and `UDIAG_SHOW_VFS`, and what they show.
const SHOW: u32 = 3;
const NAME: u16 = 0;
const FILE: u16 = 1;
/// How long the heads are: of any message, of one about a socket, of one of its attributes.
const HEAD: usize = 16;
const OF_SOCKET: usize = 16;
const OF_ATTRIBUTE: usize = 4;

/// `ENOENT`, `EPROTONOSUPPORT` and `EAFNOSUPPORT`: what a kernel without it says.
const WITHOUT: &[i32] = &[2, 93, 97];

/// `AF_UNIX`, `SOCK_DGRAM` and `TCP_ESTABLISHED`.
const UNIX: u8 = 1;
const DATAGRAM: u8 = 2;
const CONNECTED: u8 = 1;

/// Asks the kernel; none where it has no such diagnosis: the module `unix_diag` is not there.
///
/// # Errors
/// It cannot be asked.
pub(super) fn bound() -> io::Result<Option<Vec<Bound>>> {
    match asked() {
        Ok(found) => Ok(Some(found)),
        Err(error)
            if error
                .raw_os_error()
                .is_some_and(|code| WITHOUT.contains(&code)) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(target_os = "linux")]
fn asked() -> io::Result<Vec<Bound>> {
    use std::time::Duration;

    use rustix::net::sockopt::{Timeout, set_socket_timeout};
    use rustix::net::{
        AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send,
        socket_with,
    };
    let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
    let socket = socket_with(family, kind, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))?;
    set_socket_timeout(&socket, Timeout::Recv, Some(Duration::from_secs(5)))?;
    send(&socket, &question(), SendFlags::empty())?;
    let mut found = Vec::new();
    let mut bytes = vec![0; 64 << 10];
    loop {
        let (_, length) = recv(&socket, bytes.as_mut_slice(), RecvFlags::empty())?;
        if !read(bytes.get(..length).unwrap_or_default(), &mut found)? {
            found.sort();
            found.dedup();
            return Ok(found);
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn asked() -> io::Result<Vec<Bound>> {
    Ok(Vec::new())
}

/// Makes the question for all of them, in all states.
fn question() -> Vec<u8> {
    let mut request = vec![UNIX, 0, 0, 0];
    for number in [u32::MAX, 0, SHOW, u32::MAX, u32::MAX] {
        request.extend(number.to_ne_bytes());
    }
    let length = u32::try_from(HEAD + request.len()).unwrap_or(u32::MAX);
    let mut message = length.to_ne_bytes().to_vec();
    message.extend(BY_FAMILY.to_ne_bytes());
    message.extend(ALL.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(request);
    message
}

/// Reads the messages that came at once; whether there are more.
fn read(mut bytes: &[u8], found: &mut Vec<Bound>) -> io::Result<bool> {
    while let Some(length) = u32_at(bytes, 0) {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let message = bytes.get(..length).filter(|_| length >= HEAD);
        let message = message.ok_or(io::ErrorKind::UnexpectedEof)?;
        match u16_at(message, 4) {
            Some(DONE) => return Ok(false),
            Some(ERROR) => {
                let code = u32_at(message, HEAD).unwrap_or(0).cast_signed();
                return Err(io::Error::from_raw_os_error(code.saturating_neg()));
            }
            _ => found.extend(socket(message.get(HEAD..).unwrap_or_default())),
        }
        bytes = bytes.get(padded(length)..).unwrap_or_default();
    }
    Ok(true)
}

/// Reads what is told of one socket; none where nobody reaches it by a file.
fn socket(told: &[u8]) -> Option<Bound> {
    let (kind, state) = (*told.get(1)?, *told.get(2)?);
    // What takes datagrams listens without saying so, and what is only bound may listen later.
    if state == CONNECTED && kind != DATAGRAM {
        return None;
    }
    let mut attributes = told.get(OF_SOCKET..)?;
    let (mut name, mut file) = (None, None);
    while let (Some(length), Some(kind)) = (u16_at(attributes, 0), u16_at(attributes, 2)) {
        let length = usize::from(length);
        let value = attributes.get(OF_ATTRIBUTE..length)?;
        match kind {
            NAME => name = Some(value),
            FILE => file = u32_at(value, 0).zip(u32_at(value, 4)),
            _ => {}
        }
        attributes = attributes.get(padded(length)..).unwrap_or_default();
    }
    let (inode, device) = file?;
    let name = name.unwrap_or_default();
    let end = memchr::memchr(0, name).unwrap_or(name.len());
    Some(Bound {
        name: PathBuf::from(OsStr::from_bytes(name.get(..end).unwrap_or_default())),
        inode,
        // As the kernel keeps it, not as programs are told of it.
        device: (device >> 20, device & 0xf_ffff),
    })
}

const fn padded(length: usize) -> usize {
    length.next_multiple_of(4)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_ne_bytes(*bytes))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_ne_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(HEAD + body.len()).unwrap();
        let mut bytes = length.to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([0; 10]);
        bytes.extend(body);
        bytes.resize(padded(bytes.len()), 0);
        bytes
    }

    fn told(kind: u8, state: u8, name: &[u8], file: Option<(u32, u32)>) -> Vec<u8> {
        let mut body = vec![UNIX, kind, state, 0];
        body.extend([0; 12]);
        let mut add = |kind: u16, value: &[u8]| {
            let length = u16::try_from(OF_ATTRIBUTE + value.len()).unwrap();
            body.extend(length.to_ne_bytes());
            body.extend(kind.to_ne_bytes());
            body.extend(value);
            body.resize(padded(body.len()), 0);
        };
        add(NAME, name);
        if let Some((inode, device)) = file {
            add(FILE, &[inode.to_ne_bytes(), device.to_ne_bytes()].concat());
        }
        message(BY_FAMILY, &body)
    }

    #[test]
    fn what_listens_or_may_is_told_with_its_file_and_the_rest_is_left_out() {
        // `TCP_LISTEN` and `TCP_CLOSE`.
        const LISTEN: u8 = 10;
        const BOUND: u8 = 7;
        let bytes = [
            told(1, LISTEN, b"rel.sock\0", Some((7, 0x0080_0001))),
            told(1, CONNECTED, b"/connected\0", Some((8, 1))),
            told(1, BOUND, b"/later", Some((6, 5))),
            told(DATAGRAM, 7, b"/dev/log", Some((9, 5))),
            told(1, LISTEN, b"\0abstract", None),
        ]
        .concat();
        let mut found = Vec::new();
        assert!(read(&bytes, &mut found).unwrap());
        let bound = |name: &str, inode, device| Bound {
            name: name.into(),
            inode,
            device,
        };
        let expected = [
            bound("rel.sock", 7, (8, 1)),
            bound("/later", 6, (0, 5)),
            bound("/dev/log", 9, (0, 5)),
        ];
        assert_eq!(found, expected);
        assert!(!read(&message(DONE, &[0; 4]), &mut found).unwrap());
        let refused = read(&message(ERROR, &(-2_i32).to_ne_bytes()), &mut found);
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    proptest::proptest! {
        #[test]
        fn whatever_comes_is_read_or_an_error(bytes: Vec<u8>) {
            read(&bytes, &mut Vec::new()).ok();
            read(&message(BY_FAMILY, &bytes), &mut Vec::new()).ok();
        }
    }
}
