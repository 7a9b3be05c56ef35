//! The ad-hoc signature of a file for macOS: hashes of its pages, without which nothing runs on arm64.

use sha2::{Digest, Sha256};

const LC_CODE_SIGNATURE: u32 = 0x1D;
const CODE_DIRECTORY: u32 = 0xFADE_0C02;

/// How many pages have another hash than the signature says; nothing, if there is no signature.
pub(super) fn wrong_pages(file: &[u8]) -> Option<usize> {
    let signature = signature(file)?;
    let blobs = big(signature, 8)?;
    let directory = (0..blobs).find_map(|index| {
        let at = big(signature, 16 + 8 * index)?;
        let blob = signature.get(at..)?;
        (big(blob, 0)? == CODE_DIRECTORY as usize).then_some(blob)
    })?;
    // A CodeDirectory, version 0x20400: what follows its magic and length.
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

/// The superblob that the load commands point to.
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
