//! Counted work: twice as many objects cost little more than twice as much.
//!
//! What is counted are objects, entries and nodes that are looked at, see `crate::core::work`.
use super::*;
use crate::core::mmap::Kind;
use crate::core::work;

const MANY: usize = 2000;

/// Twice as many objects cost at most 2.5 times as much, as n log n does; what is done now and then may fall into the second
/// half.
fn grows_slowly(what: &str, work_for: impl Fn(usize) -> u64) {
    let (once, twice) = (work_for(MANY), work_for(2 * MANY));
    assert!(
        twice <= once * 5 / 2 + MANY as u64,
        "{what}: {once} for {MANY} objects, {twice} for twice as many"
    );
}

fn create(bench: &Bench, count: usize) -> Vec<u32> {
    (0..count).map(|_| bench.create(4096)).collect()
}

#[test]
fn objects_are_closed() {
    grows_slowly("closing in order", |count| {
        let bench = Bench::new();
        let all = create(&bench, count);
        let close = || {
            all.iter()
                .all(|handle| bench.file.close_object(*handle).is_ok())
        };
        let (work, closed) = work::of(close);
        assert!(closed);
        work
    });
    grows_slowly("closing the file", |count| {
        let mut bench = Bench::new();
        create(&bench, count);
        let other = File::open(&bench.device, Node::Render);
        let file = core::mem::replace(&mut bench.file, other);
        work::of(|| drop(file)).0
    });
}

#[test]
fn offsets_are_given_out_and_taken_back() {
    grows_slowly("offsets", |count| {
        let bench = Bench::new();
        let all = create(&bench, count);
        let work = work::of(|| {
            for handle in &all {
                let object = bench.file.object(*handle).unwrap();
                for kind in [Kind::Gtt, Kind::Wb, Kind::Gtt] {
                    let number = bench.file.number();
                    bench
                        .device
                        .mappings()
                        .assign(&object, kind, number)
                        .unwrap();
                }
            }
            for handle in &all {
                bench.file.close_object(*handle).unwrap();
            }
        });
        work.0
    });
}

#[test]
fn objects_are_executed_together_and_one_by_one() {
    grows_slowly("one list", |count| {
        let bench = Bench::new();
        let mut all = create(&bench, count);
        all.push(bench.batch());
        let work = work::of(|| (0..3).for_each(|_| drop(bench.exec(&all).unwrap())));
        work.0
    });
    grows_slowly("a submission an object", |count| {
        let bench = Bench::new();
        let (all, batch) = (create(&bench, count), bench.batch());
        let exec = |handle: &u32| drop(bench.exec(&[*handle, batch]).unwrap());
        work::of(|| all.iter().for_each(exec)).0
    });
    grows_slowly("chosen places", |count| {
        let bench = Bench::new();
        let mut list = objects(&create(&bench, count));
        for (object, page) in list.iter_mut().zip(1024u64..) {
            (object.flags, object.offset) = (1 << 4, page * 8192);
        }
        list.extend(objects(&[bench.batch()]));
        work::of(|| bench.exec_with(&mut list, |_| ()).unwrap()).0
    });
}

#[test]
fn objects_make_room_for_one_another() {
    // Most of the address space is one object's: half of the others fit beside it, and then each evicts one.
    let full = |bench: &Bench, count: usize| {
        let (big, batch) = (bench.create(4096), bench.batch());
        let mut list = objects(&[big, batch]);
        let left = (count as u64 / 2) << 12;
        (list[0].flags, list[0].pad_to_size) = (1 << 5, (127 << 20) - left);
        bench.exec_with(&mut list, |_| ()).unwrap();
        (list[0], batch)
    };
    grows_slowly("eviction", |count| {
        let bench = Bench::new();
        let (big, batch) = full(&bench, count);
        let all = create(&bench, count);
        let work = work::of(|| {
            for handle in &all {
                let mut list = objects(&[*handle, batch]);
                list.insert(0, big);
                bench.exec_with(&mut list, |_| ()).unwrap();
            }
        });
        work.0
    });
}

#[test]
fn contents_are_given_up() {
    grows_slowly("advice", |count| {
        let bench = Bench::new();
        let objects: Vec<_> = create(&bench, count)
            .iter()
            .map(|handle| bench.file.object(*handle).unwrap())
            .collect();
        let lru = &bench.device.user().lru;
        work::of(|| objects.iter().for_each(|object| lru.dont_need(object))).0
    });
    grows_slowly("objects that are gone", |count| {
        let bench = Bench::new();
        let (all, batch) = (create(&bench, count), bench.batch());
        for handle in all {
            bench.exec(&[handle, batch]).unwrap();
            bench.file.close_object(handle).unwrap();
        }
        work::of(|| drop(bench.device.user().lru.evictable())).0
    });
}
