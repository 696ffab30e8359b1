//! The user API of all devices: numbers and structures of drm.h and its like.
//!
//! Facts from the headers of libdrm 2.4.114; names without their `drm_` prefix. Not modelled: 32-bit user space.
pub mod dma_buf;
pub mod drm;
pub mod mode;
pub mod sync_file;
pub mod syncobj;

/// Structures as user space lays them out: no padding, any bit pattern is a value.
macro_rules! structures {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(
            Clone, Copy, PartialEq, Eq, Debug, Default, zerocopy::FromBytes, zerocopy::IntoBytes,
            zerocopy::Immutable, zerocopy::KnownLayout,
        )]
        #[repr(C)]
        pub struct $name { $($(#[$field_doc])* pub $field: $type,)* }
    )*};
}
pub(crate) use structures;

/// An ioctl number: direction, size, type, number (`asm-generic/ioctl.h`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request(pub u32);

impl Request {
    /// User space writes, the kernel reads (`_IOC_WRITE`, `IOC_IN`).
    pub const IN: u32 = 1 << 30;
    /// User space reads, the kernel writes (`_IOC_READ`, `IOC_OUT`).
    pub const OUT: u32 = 2 << 30;
    /// The type of DRM (`DRM_IOCTL_BASE`).
    pub const DRM: u32 = 'd' as u32;

    const fn new(direction: u32, number: u32, size: usize) -> Self {
        Request(direction | (size as u32 & 0x3fff) << 16 | Self::DRM << 8 | number & 0xff)
    }

    /// `DRM_IO`.
    #[must_use]
    pub const fn io(number: u32) -> Self {
        Self::new(0, number, 0)
    }

    /// `DRM_IOW`.
    #[must_use]
    pub const fn iow<T>(number: u32) -> Self {
        Self::new(Self::IN, number, size_of::<T>())
    }

    /// `DRM_IOR`.
    #[must_use]
    pub const fn ior<T>(number: u32) -> Self {
        Self::new(Self::OUT, number, size_of::<T>())
    }

    /// `DRM_IOWR`.
    #[must_use]
    pub const fn iowr<T>(number: u32) -> Self {
        Self::new(Self::IN | Self::OUT, number, size_of::<T>())
    }

    /// The same of another type.
    #[must_use]
    pub const fn of_kind(self, kind: u32) -> Self {
        Request(self.0 & !0xff00 | (kind & 0xff) << 8)
    }

    /// Number within the type.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0 & 0xff
    }

    /// Type.
    #[must_use]
    pub const fn kind(self) -> u32 {
        self.0 >> 8 & 0xff
    }

    /// Bytes of the argument.
    #[must_use]
    pub const fn size(self) -> usize {
        (self.0 >> 16 & 0x3fff) as usize
    }

    /// Whether both numbers have this direction.
    #[must_use]
    pub const fn both(self, other: Self, direction: u32) -> bool {
        self.0 & other.0 & direction != 0
    }
}
