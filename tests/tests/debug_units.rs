//! Debug registers of the fixed functions on frames drawn through the ring.
//!
//! PRM: volume 4, 3.1 to 3.3.9. Offsets, bits and mux values are typed from the manual; what a frame shows is counted
//! on the primitives and pixels drawn. Not covered: VFE and TS, which have tests of their own.

mod bench;
mod clip;
mod gs;
mod pixels;
mod registers;
mod sf;
mod stops;
mod svg;
mod vertices;
mod vf;
mod vs;
mod walk;
mod wiz;
