//! Identifiers made from the manuals' names.
//! Does not check uniqueness: `validate` does.

/// Words of a name: runs of letters and digits; everything else separates.
fn words(name: &str) -> Vec<&str> {
    name.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|w| !w.is_empty())
        .collect()
}

/// `Maximum Number of Threads` -> `maximum_number_of_threads`; a leading digit gets an `n`.
pub fn snake(name: &str) -> String {
    let joined = words(name).join("_").to_ascii_lowercase();
    let safe = if joined.starts_with(|c: char| c.is_ascii_digit()) {
        format!("n{joined}")
    } else {
        joined
    };
    match safe.as_str() {
        "type" | "mod" | "move" | "loop" | "match" | "ref" | "in" | "if" | "else" | "static"
        | "self" | "use" | "where" | "while" | "for" | "fn" | "box" | "final" | "override"
        | "priv" | "abstract" | "do" | "macro" | "try" | "yield" | "as" | "break" | "const"
        | "continue" | "enum" | "extern" | "impl" | "let" | "mut" | "pub" | "return" | "struct"
        | "trait" | "unsafe" | "dwords" | "new" => format!("{safe}_"),
        _ => safe,
    }
}

/// `SURFACE_STATE` -> `SurfaceState`, `3DSTATE_FOO` -> `State3dFoo`, `3DPRIMITIVE` -> `Primitive3d`.
pub fn camel(name: &str) -> String {
    let mut out = String::new();
    for (i, word) in words(name).into_iter().enumerate() {
        if i == 0 && word.len() > 2 && word[..2].eq_ignore_ascii_case("3D") {
            out.push_str(&capital(&word[2..]));
            out.push_str("3d");
        } else {
            out.push_str(&capital(word));
        }
    }
    if out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, 'N');
    }
    out
}

/// `SURFTYPE_2D` stays; `S1.14` -> `S1_14`; `3DPRIM_X` -> `PRIM_X`; a leading digit gets an `N`.
pub fn constant(name: &str) -> String {
    let joined = words(name).join("_").to_ascii_uppercase();
    let joined = match joined.strip_prefix("3D") {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_alphabetic()) => rest.to_owned(),
        _ => joined,
    };
    if joined.starts_with(|c: char| c.is_ascii_digit()) {
        format!("N{joined}")
    } else {
        joined
    }
}

/// Module of an enumeration: `3D_Compare_Function` -> `compare_function`.
pub fn module(name: &str) -> String {
    let name = name.strip_prefix("3D_").unwrap_or(name);
    let name = name.strip_prefix("3D").unwrap_or(name);
    snake(name)
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    let Some(first) = chars.next() else {
        return String::new();
    };
    let upper = !word.chars().any(|c| c.is_ascii_lowercase());
    let rest: String = chars.collect();
    let rest = if upper {
        rest.to_ascii_lowercase()
    } else {
        rest
    };
    format!("{}{rest}", first.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_follow_the_manual() {
        assert_eq!(
            snake("Cube Face Enable - Positive Z"),
            "cube_face_enable_positive_z"
        );
        assert_eq!(snake("8 Pixel Dispatch Enable"), "n8_pixel_dispatch_enable");
        assert_eq!(camel("SURFACE_STATE"), "SurfaceState");
        assert_eq!(camel("3DSTATE_INDEX_BUFFER"), "State3dIndexBuffer");
        assert_eq!(camel("3DPRIMITIVE"), "Primitive3d");
        assert_eq!(constant("DATA_RETURN_S1.14"), "DATA_RETURN_S1_14");
        assert_eq!(constant("3DPRIM_TRILIST"), "PRIM_TRILIST");
        assert_eq!(module("3D_Compare_Function"), "compare_function");
    }
}
