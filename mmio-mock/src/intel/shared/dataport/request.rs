//! What messages ask of the data port, wherever a generation's descriptor has it.
//!
//! PRM: volume 4, 5.10.1. `None` stands for a reserved code: the data port refuses the message when it comes to it.

/// The cache that a read goes through (PRM 5.10.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    /// Data cache.
    Data,
    /// Render cache.
    Render,
    /// Sampler cache.
    Sampler,
    /// No cache has this code.
    Reserved,
}

/// Size of an OWord block message (PRM 5.10.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwordBlock {
    /// OWords: 1, 2, 4 or 8.
    pub count: u8,
    /// A single OWord lies in the high half of its register.
    pub high: bool,
}

/// What a media block message says of lines against the surface's state (PRM 5.10.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineOverride {
    /// Every second line counts.
    pub stride: bool,
    /// The first of them is the second line.
    pub offset: bool,
}

/// A message to the read port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadRequest {
    /// Binding table index.
    pub surface: u8,
    /// Target cache.
    pub cache: Cache,
    /// Offsets of blocks and channels count elements: OWords or DWords, and not bytes.
    pub elements: bool,
    /// What to read.
    pub kind: ReadKind,
}

/// What to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadKind {
    /// OWord block.
    Block(Option<OwordBlock>),
    /// OWord dual block: OWords of each block, 1 or 4.
    DualBlock(Option<u8>),
    /// Media block.
    Media(Option<LineOverride>),
    /// DWord scattered: registers of offsets, 1 or 2.
    Scattered(Option<u8>),
    /// No message has this code.
    Reserved,
}

/// A message to the write port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteRequest {
    /// Binding table index.
    pub surface: u8,
    /// The sender wants an answer when the write is done.
    pub commit: bool,
    /// Offsets of blocks and channels count elements: OWords or DWords, and not bytes.
    pub elements: bool,
    /// What to write.
    pub kind: WriteKind,
}

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteKind {
    /// OWord block.
    Block(Option<OwordBlock>),
    /// OWord dual block: OWords of each block, 1 or 4.
    DualBlock(Option<u8>),
    /// Media block.
    Media(Option<LineOverride>),
    /// DWord scattered: registers of offsets, 1 or 2.
    Scattered(Option<u8>),
    /// Pixels.
    RenderTarget {
        /// Form of the message.
        form: Option<Form>,
        /// The last target of these pixels: depth is written, the scoreboard cleared.
        last: bool,
    },
    /// Pixels that the windower keeps as long as the thread lives: it knows what a header does not say.
    Pixels(PixelWrite),
    /// An element of a streamed vertex buffer.
    Stream,
    /// Flush of the render cache.
    Flush,
    /// No message has this code.
    Reserved,
}

/// A render target write that may come without a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelWrite {
    /// Form of the message.
    pub form: Option<Form>,
    /// The last target of these pixels: depth is written.
    pub last: bool,
    /// Two header registers come first.
    pub header: bool,
    /// The pixels are those of channels 16 to 31.
    pub upper: bool,
}

/// Form of a render target write (PRM 5.10.6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// SIMD16, one colour a pixel.
    Single16,
    /// SIMD16, one colour for all.
    Replicated,
    /// SIMD8, two colours a pixel.
    Dual8 {
        /// For subspans 2 and 3 rather than 0 and 1.
        upper: bool,
    },
    /// SIMD8, one colour a pixel.
    Single8,
}
