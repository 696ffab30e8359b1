//! Calls on descriptors of objects.
//!
//! Numbers of linux/dma-buf.h; errors of dma-buf.c.
use kernel::error::code::{EFAULT, EINTR, EINVAL, ENOTTY};

use super::*;
use crate::dma_buf;
use crate::uapi::dma_buf::{SYNC, Sync};

#[test]
fn an_access_waits_for_the_device() {
    // _IOW('b', 0, struct dma_buf_sync)
    assert_eq!(SYNC.0, 0x4008_6200);
    let bench = Bench::stuck();
    let handle = bench.batch();
    let object = bench.file.object(handle).unwrap();
    let call = |flags| {
        let at = bench.process.memory.place(&Sync { flags });
        dma_buf::ioctl(&bench.device, &object, SYNC.0, at, &bench.process)
    };
    for flags in [1, 2, 3, 5, 6, 7] {
        assert_eq!(call(flags), Ok(0));
    }
    for flags in [0, 4, 8, 9, 1 << 32 | 1] {
        assert_eq!(call(flags), Err(EINVAL));
    }
    let at = |request, at| dma_buf::ioctl(&bench.device, &object, request, at, &bench.process);
    assert_eq!(at(SYNC.0, 0), Err(EFAULT));
    assert_eq!(at(SYNC.0 + 1, 0), Err(ENOTTY));
    // The device reads its batch for ever: readers need not wait, writers do.
    let mut list = objects(&[handle]);
    bench.exec_with(&mut list, |_| ()).unwrap();
    assert_eq!((call(1), call(6)), (Ok(0), Ok(0)));
    bench.process.signal.store(true, Ordering::Relaxed);
    assert_eq!(call(2), Err(EINTR));
}
