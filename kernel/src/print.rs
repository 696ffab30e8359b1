//! `pr_*!` and `dev_*!`: kernel-style messages over the `log` crate.
//!
//! Levels map one to one: err, warn, info, debug. Not modelled: rate limits, continuation lines.

/// Something with a name to print in front of its messages.
pub trait DevName {
    /// The name.
    fn dev_name(&self) -> &str;
}

/// Prints an error.
#[macro_export]
macro_rules! pr_err { ($($arg:tt)*) => { $crate::log::error!($($arg)*) }; }

/// Prints a warning.
#[macro_export]
macro_rules! pr_warn { ($($arg:tt)*) => { $crate::log::warn!($($arg)*) }; }

/// Prints information.
#[macro_export]
macro_rules! pr_info { ($($arg:tt)*) => { $crate::log::info!($($arg)*) }; }

/// Prints a debugging message.
#[macro_export]
macro_rules! pr_debug { ($($arg:tt)*) => { $crate::log::debug!($($arg)*) }; }

/// Prints an error of a device (anything that is [`DevName`](crate::print::DevName)).
#[macro_export]
macro_rules! dev_err {
    ($dev:expr, $($arg:tt)*) => {
        $crate::log::error!("{}: {}", $crate::print::DevName::dev_name($dev), format_args!($($arg)*))
    };
}

/// Prints a warning of a device.
#[macro_export]
macro_rules! dev_warn {
    ($dev:expr, $($arg:tt)*) => {
        $crate::log::warn!("{}: {}", $crate::print::DevName::dev_name($dev), format_args!($($arg)*))
    };
}

/// Prints information of a device.
#[macro_export]
macro_rules! dev_info {
    ($dev:expr, $($arg:tt)*) => {
        $crate::log::info!("{}: {}", $crate::print::DevName::dev_name($dev), format_args!($($arg)*))
    };
}

/// Prints a debugging message of a device.
#[macro_export]
macro_rules! dev_dbg {
    ($dev:expr, $($arg:tt)*) => {
        $crate::log::debug!("{}: {}", $crate::print::DevName::dev_name($dev), format_args!($($arg)*))
    };
}
