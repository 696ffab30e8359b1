//! What requests do to bring their contexts.
#![allow(clippy::unwrap_used, reason = "tests")]

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::{Held, Image, Plan, Switch};
use crate::core::range::Search;
use crate::{Device, Driver, Tiling};

fn held(dev: &Device) -> Arc<Held> {
    let object = dev.create_object(4096, Tiling::None, 0).unwrap();
    object.bind(0, Search::High).unwrap();
    Arc::new(Held::new(&Arc::new(Image::new(object, None))).unwrap())
}

/// Steps as (image, inhibit), and the images that are saved.
type Seen = (Vec<(u32, bool)>, Vec<u32>);

fn seen(plan: &Plan) -> Seen {
    let steps = plan.steps.iter().map(|step| (step.address, step.inhibit));
    let saves = plan.saves.iter().map(|held| held.address());
    (steps.collect(), saves.collect())
}

fn run(switch: &Switch, wanted: Option<&Arc<Held>>) -> Seen {
    let plan = switch.plan(wanted);
    switch.carried_out(&plan);
    seen(&plan)
}

struct Scene {
    _dev: Device,
    switch: Switch,
    own: u32,
    x: Arc<Held>,
    y: Arc<Held>,
}

fn scene() -> Scene {
    let dev = Driver::probe(crate::intel::tests::fake()).unwrap();
    let switch = Switch::default();
    let own = held(&dev);
    let (x, y) = (held(&dev), held(&dev));
    assert_eq!(
        run(&switch, Some(&x)),
        (vec![], vec![]),
        "nobody has contexts"
    );
    let address = own.address();
    switch.set_own(Arc::into_inner(own).unwrap());
    Scene {
        _dev: dev,
        switch,
        own: address,
        x,
        y,
    }
}

#[test]
fn contexts_begin_with_the_drivers_state_and_come_back_to_their_own() {
    let Scene {
        _dev,
        switch,
        own,
        x,
        y,
    } = scene();
    let (at_x, at_y) = (x.address(), y.address());
    assert_eq!(run(&switch, None), (vec![], vec![]));
    assert_eq!(
        run(&switch, Some(&x)),
        (vec![(own, true), (at_x, true)], vec![own])
    );
    assert_eq!(run(&switch, Some(&x)), (vec![], vec![]));
    assert_eq!(
        run(&switch, Some(&y)),
        (vec![(own, false), (at_y, true)], vec![at_x, own])
    );
    assert_eq!(run(&switch, Some(&x)), (vec![(at_x, false)], vec![at_y]));
    assert_eq!(run(&switch, None), (vec![(own, false)], vec![at_x]));
    assert_eq!(run(&switch, None), (vec![], vec![]));
}

#[test]
fn a_plan_that_is_not_carried_out_changes_nothing() {
    let Scene {
        _dev, switch, x, ..
    } = scene();
    let first = seen(&switch.plan(Some(&x)));
    assert_eq!(seen(&switch.plan(Some(&x))), first);
}

#[test]
fn after_a_reset_only_what_the_device_has_saved_comes_back() {
    let Scene {
        _dev,
        switch,
        own,
        x,
        y,
    } = scene();
    run(&switch, Some(&x));
    run(&switch, Some(&y));
    switch.reset();
    // The first request never ran: nothing has been saved.
    assert_eq!(
        run(&switch, Some(&x)),
        (vec![(own, true), (x.address(), true)], vec![own])
    );
    let plan = switch.plan(Some(&y));
    switch.carried_out(&plan);
    for saved in &plan.saves {
        saved.mark_saved();
    }
    switch.reset();
    // The driver's own begins with the state of the reset, whatever a batch has made of its image.
    assert_eq!(
        run(&switch, Some(&x)),
        (vec![(own, true), (x.address(), false)], vec![own])
    );
    assert_eq!(
        run(&switch, Some(&y)),
        (
            vec![(own, false), (y.address(), true)],
            vec![x.address(), own]
        )
    );
}
