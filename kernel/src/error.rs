//! Errno-shaped errors.
//!
//! Same shape as `kernel::error` of Rust-for-Linux: one non-zero negative number, constants in [`code`].
//! Numbers are those of the Linux uAPI headers `asm-generic/errno-base.h` and `asm-generic/errno.h`.
use core::fmt;
use core::num::NonZeroI32;

/// A kernel error: a negative errno.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Error(NonZeroI32);

/// Result of kernel calls.
pub type Result<T = ()> = core::result::Result<T, Error>;

macro_rules! errors {
    ($($name:ident $number:literal $text:literal;)*) => {
        /// The error constants, named as in C.
        pub mod code {
            use super::Error;
            $(#[doc = concat!("`", stringify!($name), "` (", stringify!($number), "): ", $text, ".")]
            pub const $name: Error = Error::of(-$number);)*
        }
        const NAMES: &[(i32, &str, &str)] = &[$(($number, stringify!($name), $text)),*];
    };
}

errors! {
    EPERM 1 "operation not permitted";
    ENOENT 2 "no such file or directory";
    ESRCH 3 "no such process";
    EINTR 4 "interrupted system call";
    EIO 5 "input or output error";
    ENXIO 6 "no such device or address";
    E2BIG 7 "argument list too long";
    EBADF 9 "bad file number";
    EAGAIN 11 "try again";
    ENOMEM 12 "out of memory";
    EACCES 13 "permission denied";
    EFAULT 14 "bad address";
    EBUSY 16 "device or resource busy";
    EEXIST 17 "already exists";
    ENODEV 19 "no such device";
    EINVAL 22 "invalid argument";
    EMFILE 24 "too many open files";
    ENOTTY 25 "not a typewriter";
    ENOSPC 28 "no space left on device";
    ERANGE 34 "result out of range";
    ENOSYS 38 "function not implemented";
    ETIME 62 "timer expired";
    EOVERFLOW 75 "value too large for its type";
    EOPNOTSUPP 95 "operation not supported";
    ETIMEDOUT 110 "connection timed out";
    ESTALE 116 "stale file handle";
}

impl Error {
    const fn of(errno: i32) -> Self {
        match NonZeroI32::new(errno) {
            Some(number) => Error(number),
            None => Error(NonZeroI32::MIN),
        }
    }

    /// The error of a negative errno; anything outside -4095..=-1 becomes `EINVAL`, as in the kernel.
    #[must_use]
    pub const fn from_errno(errno: i32) -> Self {
        if errno < -4095 || errno >= 0 {
            return code::EINVAL;
        }
        Self::of(errno)
    }

    /// The negative errno.
    #[must_use]
    pub const fn to_errno(self) -> i32 {
        self.0.get()
    }

    fn row(self) -> Option<&'static (i32, &'static str, &'static str)> {
        NAMES
            .iter()
            .find(|row| row.0 == self.to_errno().wrapping_neg())
    }

    /// The C name, when this is one of [`code`].
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        self.row().map(|row| row.1)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row() {
            Some((_, name, text)) => write!(f, "{name} ({text})"),
            None => write!(f, "errno {}", self.to_errno()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn numbers_and_names_are_the_uapi_ones() {
        assert_eq!(code::ENOMEM.to_errno(), -12);
        assert_eq!(code::ETIME.to_errno(), -62);
        assert_eq!(code::ETIME.to_string(), "ETIME (timer expired)");
        assert_eq!(Error::from_errno(-28), code::ENOSPC);
    }

    #[test]
    fn numbers_outside_the_range_become_einval() {
        assert_eq!(Error::from_errno(0), code::EINVAL);
        assert_eq!(Error::from_errno(5), code::EINVAL);
        assert_eq!(Error::from_errno(-5000), code::EINVAL);
        assert_eq!(Error::from_errno(-4095).to_string(), "errno -4095");
    }
}
