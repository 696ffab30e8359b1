//! `docs/validation-rules.md` lists the validator's rules; `BLESS=1` writes it.
//!
//! PRM: per rule.

use std::fmt::Write as _;
use std::path::Path;

use isa::validate::rules;

fn page() -> String {
    let mut page = String::from(
        "# Rules of the validator\n\n\
         Generated from `isa::validate::rules()` by the test `validate_docs` (`BLESS=1` writes it). \
         Generations are\nversions: 4.0 is 965, 4.5 G45, 5.0 Ironlake, 6.0 Sandybridge, 7.0 \
         Ivybridge and Baytrail, 7.5 Haswell,\n8.0 Broadwell, 9.0 Skylake and Broxton. Rules of \
         low-power parts are asked by `validate_on` only.\n",
    );
    for (title, kernel) in [("One instruction", false), ("Whole kernels", true)] {
        let listed = rules().iter().filter(|rule| rule.is_kernel() == kernel);
        write!(page, "\n## {title}\n\n").unwrap();
        page += "| rule | asks that | generations | source |\n| --- | --- | --- | --- |\n";
        for rule in listed {
            writeln!(
                page,
                "| `{}` | {} | {} | {} |",
                rule.name, rule.summary, rule.generations, rule.cite
            )
            .unwrap();
        }
    }
    page
}

#[test]
fn page_of_rules_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/validation-rules.md");
    let page = page();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page, "docs/validation-rules.md: run with BLESS=1");
}
