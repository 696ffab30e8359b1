//! drm_mode.h: what there is to be shown on.
//!
//! Not modelled: everything that needs an output.
use super::{Request, structures};

structures! {
    /// `drm_mode_card_res`.
    CardResources {
        /// Where identifiers of frame buffers go.
        fbs: u64,
        /// Where identifiers of display controllers go.
        crtcs: u64,
        /// Where identifiers of connectors go.
        connectors: u64,
        /// Where identifiers of encoders go.
        encoders: u64,
        /// Room for frame buffers, then their number.
        count_fbs: u32,
        /// Room for display controllers, then their number.
        count_crtcs: u32,
        /// Room for connectors, then their number.
        count_connectors: u32,
        /// Room for encoders, then their number.
        count_encoders: u32,
        /// Limits of a frame buffer in pixels.
        min_width: u32,
        /// Largest width.
        max_width: u32,
        /// Smallest height.
        min_height: u32,
        /// Largest height.
        max_height: u32,
    }
    /// `drm_mode_get_plane_res`.
    PlaneResources {
        /// Where identifiers go.
        planes: u64,
        /// Room for planes, then their number.
        count: u32,
        /// Hole.
        pad: u32,
    }
}

/// `DRM_IOCTL_MODE_GETRESOURCES`.
pub const GET_RESOURCES: Request = Request::iowr::<CardResources>(0xa0);
/// `DRM_IOCTL_MODE_GETPLANERESOURCES`.
pub const GET_PLANE_RESOURCES: Request = Request::iowr::<PlaneResources>(0xb5);
