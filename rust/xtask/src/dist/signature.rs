//! Checks the ad-hoc signature of a file for macOS: hashes of its pages. On arm64 macOS runs only
//! signed files.

use sha2::{Digest, Sha256};

const LC_CODE_SIGNATURE: u32 = 0x1D;
const CODE_DIRECTORY: u32 = 0xFADE_0C02;

/// Returns the number of pages whose hash differs from the signature, or `None` without a
/// signature.
pub(super) fn wrong_pages(file: &[u8]) -> Option<usize> {
    let signature = signature(file)?;
    let blobs = big(signature, 8)?;
    let directory = (0..blobs).find_map(|index| {
        let at = big(signature, 16 + 8 * index)?;
        let blob = signature.get(at..)?;
        (big(blob, 0)? == CODE_DIRECTORY as usize).then_some(blob)
    })?;
    // A CodeDirectory, version 0x20400: the fields after its magic and length.
    let (hashes, pages, limit) = (big(directory, 16)?, big(directory, 28)?, big(directory, 32)?);
    let (hash_size, page_shift) = (*directory.get(36)?, *directory.get(39)?);
    let page_size = 1_usize.checked_shl(page_shift.into())?;
    let wrong = file.get(..limit)?.chunks(page_size).enumerate().filter(|(index, page)| {
        let at = hashes + index * usize::from(hash_size);
        directory.get(at..at + usize::from(hash_size)) != Some(&Sha256::digest(page)[..])
    });
    let wrong = wrong.count();
    (limit.div_ceil(page_size) == pages).then_some(wrong)
}

/// Returns the superblob that the load commands point to.
fn signature(file: &[u8]) -> Option<&[u8]> {
    let mut at = 32;
    for _ in 0..little(file, 16)? {
        if little(file, at)? == LC_CODE_SIGNATURE as usize {
            return file.get(little(file, at + 8)?..);
        }
        at += little(file, at + 4)?;
    }
    None
}

fn little(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(bytes)).ok()
}

fn big(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
    usize::try_from(u32::from_be_bytes(bytes)).ok()
}

#[cfg(test)]
mod tests {
    use super::{CODE_DIRECTORY, LC_CODE_SIGNATURE, wrong_pages};
    use sha2::{Digest, Sha256};

    const PAGE_SHIFT: u8 = 8;
    const PAGES: usize = 3;

    /// Returns a file of three pages with a signature, which has only the fields that this module
    /// reads.
    fn signed() -> Vec<u8> {
        let limit = PAGES << PAGE_SHIFT;
        let mut file = vec![7; limit];
        let command = [LC_CODE_SIGNATURE, 16, u32::try_from(limit).expect("it is small")];
        file[16..20].copy_from_slice(&1_u32.to_le_bytes());
        file[32..44].copy_from_slice(&command.map(u32::to_le_bytes).concat());
        let mut directory = [CODE_DIRECTORY, 0, 0x20400, 2, 44, 0, 0, 3, 768, 0, 0];
        directory[9] = u32::from_be_bytes([32, 2, 0, PAGE_SHIFT]);
        let hashes: Vec<u8> = file.chunks(1 << PAGE_SHIFT).flat_map(Sha256::digest).collect();
        file.extend([0, 0, 1, 0, 20].map(u32::to_be_bytes).concat());
        file.extend(directory.map(u32::to_be_bytes).concat());
        file.extend(hashes);
        file
    }

    #[test]
    fn a_page_that_was_changed_after_signing_is_noticed() {
        let mut file = signed();
        assert_eq!(wrong_pages(&file), Some(0));
        file[600] ^= 1;
        assert_eq!(wrong_pages(&file), Some(1));
        file[300] ^= 1;
        assert_eq!(wrong_pages(&file), Some(2));
    }

    #[test]
    fn a_file_without_a_signature_has_none() {
        let mut file = signed();
        file[16] = 0;
        assert_eq!(wrong_pages(&file), None);
        assert_eq!(wrong_pages(&signed()[..700]), None, "it is cut off");
    }
}
