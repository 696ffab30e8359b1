//! The DRM driver core: probe, GTT, GEM, rings, requests, fences.
#![no_std]
#![forbid(unsafe_code)]
