//! The pin and the message as eventfds show them.

use rustix::event::{EventfdFlags, eventfd};

use super::*;

fn event() -> (OwnedFd, OwnedFd) {
    let event = eventfd(0, EventfdFlags::NONBLOCK).unwrap();
    (event.try_clone().unwrap(), event)
}

/// What has been added to an eventfd since the last look.
fn count(event: &OwnedFd) -> u64 {
    let mut bytes = [0; 8];
    match rustix::io::read(event, &mut bytes) {
        Ok(_) => u64::from_ne_bytes(bytes),
        Err(_) => 0,
    }
}

fn set(index: u32, flags: u32) -> IrqSet {
    IrqSet {
        argsz: 20,
        flags,
        index,
        start: 0,
        count: 1,
    }
}

fn trigger(irqs: &Interrupts, index: u32) -> OwnedFd {
    let (given, kept) = event();
    let flags = irq::DATA_EVENTFD | irq::TRIGGER;
    irqs.set(&set(index, flags), &[], vec![given]).unwrap();
    kept
}

/// Linux vfio.h: `VFIO_IRQ_INFO_AUTOMASKED` masks itself after it was triggered, and is unmasked by the user.
#[test]
fn the_pin_masks_itself_and_signals_again_while_asserted() {
    let irqs = Interrupts::default();
    let pin = trigger(&irqs, irq::INTX);
    irqs.look(true);
    irqs.look(true);
    assert_eq!(count(&pin), 1);
    let unmask = set(irq::INTX, irq::DATA_NONE | irq::UNMASK);
    irqs.set(&unmask, &[], vec![]).unwrap();
    assert_eq!(count(&pin), 1, "still asserted");
    irqs.look(false);
    irqs.set(&unmask, &[], vec![]).unwrap();
    assert_eq!(count(&pin), 0);
    irqs.look(true);
    assert_eq!(count(&pin), 1);
    assert_eq!(
        irqs.signalled(),
        Signalled {
            pins: 3,
            messages: 0
        }
    );
}

#[test]
fn masks_switches_and_descriptors_of_the_pin() {
    let irqs = Interrupts::default();
    irqs.look(true);
    let pin = trigger(&irqs, irq::INTX);
    assert_eq!(count(&pin), 1, "asserted before anybody listened");
    let bytes = |action| set(irq::INTX, irq::DATA_BOOL | action);
    irqs.set(&bytes(irq::UNMASK), &[0], vec![]).unwrap();
    assert_eq!(count(&pin), 0, "not meant");
    irqs.set(&bytes(irq::UNMASK), &[1], vec![]).unwrap();
    assert_eq!(count(&pin), 1);
    irqs.look(false);
    irqs.set(&bytes(irq::UNMASK), &[1], vec![]).unwrap();
    irqs.set(&bytes(irq::MASK), &[1], vec![]).unwrap();
    irqs.look(true);
    assert_eq!(count(&pin), 0);
    let (given, unmask) = event();
    let flags = irq::DATA_EVENTFD | irq::UNMASK;
    irqs.set(&set(irq::INTX, flags), &[], vec![given]).unwrap();
    irqs.take_unmask();
    assert_eq!(count(&pin), 0, "nobody has signalled");
    rustix::io::write(&unmask, &1_u64.to_ne_bytes()).unwrap();
    irqs.switch_pin(true);
    irqs.take_unmask();
    assert_eq!(count(&pin), 0, "switched off");
    irqs.switch_pin(false);
    assert_eq!(count(&pin), 1);
    irqs.set(&bytes(irq::TRIGGER), &[1], vec![]).unwrap();
    assert_eq!(count(&pin), 1, "by the client itself");
    irqs.clear();
    irqs.look(false);
    irqs.look(true);
    assert_eq!(count(&pin), 0);
}

/// PCI 3.0, 6.8.3.4: a message for each event, none for a level that lasts.
#[test]
fn a_message_is_sent_when_the_line_rises() {
    let irqs = Interrupts::default();
    let pin = trigger(&irqs, irq::INTX);
    let message = trigger(&irqs, irq::MSI);
    for line in [true, true, false, true] {
        irqs.look(line);
    }
    assert_eq!((count(&message), count(&pin)), (2, 0));
    let again = trigger(&irqs, irq::MSI);
    assert_eq!(count(&again), 1, "pending when it is switched on");
    let off = IrqSet {
        count: 0,
        ..set(irq::MSI, irq::DATA_NONE | irq::TRIGGER)
    };
    irqs.set(&off, &[], vec![]).unwrap();
    irqs.look(true);
    assert_eq!((count(&again), count(&pin)), (0, 1), "back to the pin");
}

#[test]
fn a_file_that_is_no_eventfd_and_wrong_ranges_are_refused() {
    let irqs = Interrupts::default();
    let null = std::fs::File::open("/dev/null").unwrap();
    let flags = irq::DATA_EVENTFD | irq::TRIGGER;
    let refused = |set: IrqSet, meant: &[u8], files| irqs.set(&set, meant, files).unwrap_err();
    assert_eq!(refused(set(0, flags), &[], vec![null.into()]), Errno::INVAL);
    let files = vec![event().0, event().0];
    assert_eq!(refused(set(0, flags), &[], files), Errno::INVAL);
    for index in [2, 3, 4, 5, u32::MAX] {
        assert_eq!(
            refused(set(index, flags), &[], vec![]),
            Errno::INVAL,
            "{index}"
        );
    }
    for flags in [0, 1, 7, 8, 0x21 | 0x40, 0x3f, 0x31, u32::MAX] {
        assert_eq!(
            refused(set(0, flags), &[], vec![]),
            Errno::INVAL,
            "{flags:#x}"
        );
    }
    let far = IrqSet {
        start: u32::MAX,
        ..set(0, 0x21)
    };
    assert_eq!(refused(far, &[], vec![]), Errno::INVAL);
    assert_eq!(refused(set(0, 0x22), &[1, 1], vec![]), Errno::INVAL);
    assert_eq!(refused(set(1, 0x09), &[], vec![]), Errno::OPNOTSUPP);
}

#[test]
fn an_event_that_is_full_blocks_nobody() {
    let (given, full) = event();
    rustix::io::write(&full, &(u64::MAX - 1).to_ne_bytes()).unwrap();
    let flags = fcntl_getfl(&full).unwrap();
    fcntl_setfl(&full, flags - OFlags::NONBLOCK).unwrap();
    let event = Event::new(given).unwrap();
    event.signal();
    assert!(event.take());
    assert!(!event.take());
}
