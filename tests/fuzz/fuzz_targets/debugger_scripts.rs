//! libFuzzer's program for `crestline_tests::guided::debugger_scripts`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| crestline_tests::guided::debugger_scripts::run(data));
