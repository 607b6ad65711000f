//! Frame: a head of JSON and a body of bytes, with the length of each before them.

use std::io;
use std::io::{Read, Write};

use ahp::host::MOST_BYTES;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The most bytes of a head: it holds the environment of its sender.
const MOST_HEAD: usize = 4 << 20;

/// Writes a frame, as a whole where the receiver takes it so.
pub(crate) fn write(to: &mut impl Write, head: &impl Serialize, body: &[u8]) -> io::Result<()> {
    let head = serde_json::to_vec(head)?;
    let length = |bytes: &[u8]| {
        u32::try_from(bytes.len())
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "the frame is too long"))
    };
    let mut start = Vec::with_capacity(8 + head.len() + body.len().min(64 << 10));
    start.extend(length(&head)?.to_le_bytes());
    start.extend(length(body)?.to_le_bytes());
    start.extend(&head);
    if body.len() <= 64 << 10 {
        start.extend(body);
        return to.write_all(&start);
    }
    to.write_all(&start)?;
    to.write_all(body)
}

/// Reads the lengths with which a frame begins; none where the sender has ended between two frames.
///
/// # Errors
/// It ended within them, or announces more than a frame may have.
pub(crate) fn lengths(from: &mut impl Read) -> io::Result<Option<(usize, usize)>> {
    let mut bytes = [0; 8];
    let mut have = 0;
    while let Some(rest) = bytes.get_mut(have..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) if have == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => have += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let (head, body) = bytes.split_at(4);
    let number = |bytes: &[u8]| {
        bytes
            .iter()
            .rev()
            .fold(0_usize, |high, byte| high << 8 | usize::from(*byte))
    };
    let (head, body) = (number(head), number(body));
    if head > MOST_HEAD || body > MOST_BYTES {
        let error = "the frame is longer than an event may be";
        return Err(io::Error::new(io::ErrorKind::InvalidData, error));
    }
    Ok(Some((head, body)))
}

/// Reads what the lengths have announced.
///
/// # Errors
/// The sender ended before, or the head is not what was expected.
pub(crate) fn rest<H: DeserializeOwned>(
    from: &mut impl Read,
    (head, body): (usize, usize),
) -> io::Result<(H, Vec<u8>)> {
    // Room is made as bytes come: a sender that only announces much takes none.
    let mut read = |length: usize| {
        let mut bytes = Vec::with_capacity(length.min(64 << 10));
        let count = from.by_ref().take(length as u64).read_to_end(&mut bytes)?;
        if count == length {
            Ok(bytes)
        } else {
            Err(io::Error::from(io::ErrorKind::UnexpectedEof))
        }
    };
    let head = serde_json::from_slice(&read(head)?)?;
    Ok((head, read(body)?))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(mut bytes: &[u8]) -> io::Result<Option<(Value, Vec<u8>)>> {
        match lengths(&mut bytes)? {
            Some(announced) => rest(&mut bytes, announced).map(Some),
            None => Ok(None),
        }
    }

    #[test]
    fn a_frame_is_read_as_written_and_cut_anywhere_it_is_none() {
        let mut bytes = Vec::new();
        let head = json!({"v": 1});
        write(&mut bytes, &head, b"the body").unwrap();
        assert_eq!(read(&bytes).unwrap(), Some((head, b"the body".to_vec())));
        assert_eq!(read(&[]).unwrap(), None);
        for length in 1..bytes.len() {
            assert!(read(&bytes[..length]).is_err(), "{length}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_comes_is_a_frame_or_an_error(bytes: Vec<u8>, head in 0_u32..64, body in 0_u32..64) {
            read(&bytes).ok();
            let mut announced = [head.to_le_bytes(), body.to_le_bytes()].concat();
            announced.extend(bytes);
            if let Ok(Some((_, read))) = read(&announced) {
                proptest::prop_assert_eq!(read.len(), usize::try_from(body).unwrap());
            }
        }
    }

    #[test]
    fn no_room_is_made_for_what_is_only_announced() {
        let mut bytes = 0xffff_ffff_u32.to_le_bytes().to_vec();
        bytes.extend(1_u32.to_le_bytes());
        assert!(read(&bytes).is_err());
        let mut bytes = 2_u32.to_le_bytes().to_vec();
        bytes.extend((33_u32 << 20).to_le_bytes());
        bytes.extend(b"{}");
        assert!(read(&bytes).is_err());
        let mut bytes = 3_u32.to_le_bytes().to_vec();
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend(b"{x}");
        assert!(read(&bytes).is_err());
    }
}
