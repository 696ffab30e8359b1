//! State of a frame that crocus drew on Bay Trail.
//!
//! A quadrilateral patch of four vertices. The words are those that the driver wrote; what they mean is said by Mesa's decoder (`INTEL_DEBUG=bat`).

use super::*;

fn context(scratch: (u32, u32)) -> ThreadContext {
    assert_eq!(scratch, (0, 0));
    ThreadContext::default()
}

// covers: V-0347, V-0349, V-0351, V-0353, V-0354, V-0366, V-0367, V-0368, V-0389, V-0390, V-0391
#[test]
fn a_quadrilateral_of_a_real_frame() {
    let words = [
        0x781b_0005,
        0x0000_0023,
        0xa000_0001,
        0x0000_0c40,
        0,
        0x0128_0000,
        0,
    ];
    let hs = hs(&words, &[0x7831_0000, 0x0c02_0020], context, None).unwrap();
    assert_eq!((hs.instances, hs.vertex_handles), (2, true));
    assert_eq!((hs.unit.kernel.ip, hs.unit.kernel.urb_start), (0xc40, 5));
    assert_eq!((hs.unit.read_offset, hs.unit.read_rows), (0, 0));
    assert!(hs.unit.statistics && !hs.unit.kernel.alt_float);
    assert_eq!((hs.unit.urb_entries, hs.unit.urb_entry_rows), (32, 6));
    let te = te(&[0x781c_0002, 0x0000_2201, 0x427c_0000, 0x4280_0000]).unwrap();
    let setting = Setting {
        domain: Domain::Quad,
        partitioning: Partitioning::EvenFractional,
        output: Output::Clockwise,
        limits: Limits {
            odd: 63.0,
            not_odd: 64.0,
        },
    };
    assert_eq!((te.setting, te.software), (setting, false));
    let words = [0x781d_0004, 0x0000_0580, 0, 0, 0x0020_3000, 0x4600_0401];
    let ds = ds(&words, &[0x7832_0000, 0x0e00_0120], context, None).unwrap();
    assert_eq!((ds.unit.kernel.ip, ds.unit.kernel.urb_start), (0x580, 2));
    assert_eq!((ds.unit.read_offset, ds.unit.read_rows), (0, 6));
    assert_eq!(
        (ds.third, ds.cache_disable, ds.single),
        (false, false, false)
    );
    assert_eq!((ds.unit.urb_entries, ds.unit.urb_entry_rows), (288, 2));
}

#[test]
fn what_is_off_has_no_state() {
    assert!(hs(&[], &[], context, None).is_none());
    assert!(te(&[]).is_none());
    assert!(ds(&[], &[], context, None).is_none());
}

/// Mesa brw_nir.c, `remap_tess_levels`: outer levels of quadrilaterals and triangles in DW7 down, inner ones in DW3 and DW2 or
/// in DW4; those of isolines in DW6 and DW7.
#[test]
fn factors_lie_where_the_compiler_puts_them() {
    let of = |domain| {
        let places = places(domain);
        (places.outside, places.inside)
    };
    assert_eq!(of(Domain::Quad), ([7, 6, 5, 4], [3, 2]));
    assert_eq!(of(Domain::Triangle).0[..3], [7, 6, 5]);
    assert_eq!(of(Domain::Triangle).1[0], 4);
    assert_eq!(of(Domain::Isoline).0[..2], [6, 7]);
}
