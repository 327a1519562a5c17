//! `$VAR` and `${VAR}` in values that hold secrets, so that files need not hold them. `$$` is a dollar sign.

use crate::env::Env;

/// Why a value cannot be expanded. Reads as the end of a sentence that begins with the setting.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ExpandError {
    #[error(
        "refers to ${0}, which is not set in the environment; export it, or put another value here"
    )]
    Unset(String),
    #[error("has a \"${{\" without its \"}}\"; write $$ for a dollar sign")]
    Open,
}

/// `text` with each reference replaced by the variable's value, once: values are not expanded again.
pub(super) fn expand(text: &str, env: &Env) -> Result<String, ExpandError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
            continue;
        }
        let (name, after) = reference(rest)?;
        if name.is_empty() {
            out.push('$');
            continue;
        }
        out.push_str(env.get(name).ok_or_else(|| ExpandError::Unset(name.to_owned()))?);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// Whether `text` is a reference and nothing else, so that showing it gives nothing away.
pub(super) fn is_reference(text: &str) -> bool {
    text.strip_prefix('$')
        .is_some_and(|rest| matches!(reference(rest), Ok((name, "")) if !name.is_empty()))
}

/// The name after a `$` and what follows it; an empty name when the `$` stands for itself.
fn reference(rest: &str) -> Result<(&str, &str), ExpandError> {
    if let Some(braced) = rest.strip_prefix('{') {
        let end = braced.find('}').ok_or(ExpandError::Open)?;
        let name = &braced[..end];
        return Ok(if name_length(name) == name.len() {
            (name, &braced[end + 1..])
        } else {
            ("", rest)
        });
    }
    Ok(rest.split_at(name_length(rest)))
}

fn name_length(text: &str) -> usize {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return 0;
    }
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn references_are_replaced_and_everything_else_stays() {
        let env = Env::at("/").with("A", "1").with("B_2", "two$A");
        let cases = [
            ("plain", "plain"),
            ("$A", "1"),
            ("${A}b", "1b"),
            ("Bearer $B_2.", "Bearer two$A."),
            ("$$A costs $5 $", "$A costs $5 $"),
            ("${not a name}", "${not a name}"),
            ("ä$A", "ä1"),
        ];
        for (text, expected) in cases {
            assert_eq!(expand(text, &env).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn an_unset_variable_and_an_open_brace_are_errors() {
        let env = Env::at("/").with("EMPTY", "");
        assert_eq!(expand("x $NO_KEY y", &env), Err(ExpandError::Unset("NO_KEY".to_owned())));
        assert_eq!(expand("$EMPTY", &env), Err(ExpandError::Unset("EMPTY".to_owned())));
        assert_eq!(expand("${A", &env), Err(ExpandError::Open));
    }

    #[test]
    fn a_reference_with_anything_around_it_may_hold_a_secret() {
        assert!(is_reference("$KEY"));
        assert!(is_reference("${KEY}"));
        for text in ["sk-1", "$KEY-x", "${KEY}x", "$", "$$KEY", "Bearer $KEY", ""] {
            assert!(!is_reference(text), "{text}");
        }
    }
}
