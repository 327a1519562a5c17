//! The attribute macros of `autocode-tool`, documented there.
//!
//! They only write what a tool's author would otherwise write by hand: a struct of arguments with its derives, an
//! `autocode_tool::Tool` for it, and, on wasm, the exports.

mod function;
mod structure;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::parse::Parser;
use syn::{Attribute, Ident, LitStr};

/// Makes a function, or a struct of arguments that has a method `run(self)`, the tool of this crate.
///
/// See the documentation of `autocode-tool`.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    finish(expand_tool(options.into(), item.into()))
}

/// Lets a struct or an enum be an argument of a tool, or part of one.
///
/// See the documentation of `autocode-tool`.
#[proc_macro_attribute]
pub fn args(options: TokenStream, item: TokenStream) -> TokenStream {
    finish(expand_args(options.into(), item.into()))
}

fn finish(result: syn::Result<Tokens>) -> TokenStream {
    result.unwrap_or_else(|error| error.into_compile_error()).into()
}

fn expand_tool(options: Tokens, item: Tokens) -> syn::Result<Tokens> {
    let options = Options::parse(options)?;
    match syn::parse2(item)? {
        syn::Item::Fn(function) => function::expand(&options, function),
        syn::Item::Struct(structure) => structure::expand(&options, structure),
        other => Err(syn::Error::new_spanned(
            other,
            "#[tool] goes on a function or on a struct of arguments",
        )),
    }
}

fn expand_args(options: Tokens, item: Tokens) -> syn::Result<Tokens> {
    if !options.is_empty() {
        return Err(syn::Error::new_spanned(options, "#[args] takes no options"));
    }
    match syn::parse2(item)? {
        syn::Item::Struct(item) => {
            let derives = derives(&item.attrs, Shape::Struct);
            Ok(quote!(#derives #item))
        }
        syn::Item::Enum(item) => {
            let derives = derives(&item.attrs, Shape::Enum);
            Ok(quote!(#derives #item))
        }
        other => Err(syn::Error::new_spanned(other, "#[args] goes on a struct or on an enum")),
    }
}

/// What stands in `#[tool(…)]`.
#[derive(Default)]
struct Options {
    name: Option<LitStr>,
}

impl Options {
    fn parse(tokens: Tokens) -> syn::Result<Self> {
        let mut options = Self::default();
        let parser = syn::meta::parser(|meta| {
            if meta.path.is_ident("name") {
                options.name = Some(meta.value()?.parse()?);
                Ok(())
            } else {
                Err(meta.error("expected `name = \"…\"`"))
            }
        });
        parser.parse2(tokens)?;
        Ok(options)
    }

    /// The tool's name: as given, else the item's own.
    fn name(&self, ident: &Ident) -> syn::Result<String> {
        let (name, span) = match &self.name {
            Some(name) => (name.value(), name.span()),
            None => (snake(&ident.to_string()), ident.span()),
        };
        if is_tool_name(&name) { Ok(name) } else { Err(syn::Error::new(span, NAME_RULE)) }
    }
}

const NAME_RULE: &str = "a tool's name begins with a lowercase letter and has at most 64 of a-z, 0-9, `_` and `-`; `bash` is taken";

fn is_tool_name(name: &str) -> bool {
    name != "bash"
        && name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-')
}

/// `WordCount` → `word_count`; `r#type` → `type`.
fn snake(ident: &str) -> String {
    let mut out = String::new();
    for c in ident.trim_start_matches("r#").chars() {
        if c.is_uppercase() && !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// What `derives` are for.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Struct,
    Enum,
}

/// The derives of an argument type, with the paths that make them work in a crate that depends on the SDK alone.
fn derives(attrs: &[Attribute], shape: Shape) -> Tokens {
    let rename = (shape == Shape::Enum && !sets_rename(attrs))
        .then(|| quote!(#[serde(rename_all = "snake_case")]));
    let deny = (shape == Shape::Struct).then(|| quote!(#[serde(deny_unknown_fields)]));
    quote! {
        #[derive(::autocode_tool::serde::Deserialize, ::autocode_tool::schemars::JsonSchema)]
        #[serde(crate = "::autocode_tool::serde")]
        #[schemars(crate = "::autocode_tool::schemars")]
        #deny
        #rename
    }
}

fn sets_rename(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| {
        attr.path().is_ident("serde")
            && attr
                .meta
                .require_list()
                .is_ok_and(|list| list.tokens.to_string().contains("rename_all"))
    })
}

/// The text of doc comments, one paragraph a blank line apart, as the model reads it.
fn docs(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter_map(|attr| match &attr.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    let text: Vec<String> =
        lines.map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned()).collect();
    text.join("\n").trim().to_owned()
}

/// A description is required: it is all the model knows of the tool.
fn description(attrs: &[Attribute], ident: &Ident) -> syn::Result<String> {
    let text = docs(attrs);
    if text.is_empty() {
        return Err(syn::Error::new_spanned(
            ident,
            "a tool needs a doc comment: it is what the model reads to decide when to call it",
        ));
    }
    Ok(text)
}

/// The exports of the module; once per crate, on wasm alone.
fn exports(tool: &Ident) -> Tokens {
    quote! {
        #[cfg(target_family = "wasm")]
        const _: () = {
            struct Exports;
            impl ::autocode_tool::bindings::Guest for Exports {
                fn schema() -> ::std::string::String {
                    ::autocode_tool::schema::<#tool>()
                }
                fn run(args: ::std::string::String) -> ::std::result::Result<::std::string::String, ::std::string::String> {
                    ::autocode_tool::bindings::enter();
                    ::autocode_tool::run::<#tool>(&args)
                }
            }
            ::autocode_tool::bindings::export!(Exports with_types_in ::autocode_tool::bindings);
        };
    }
}

/// The `Tool` of `tool`: `call` is an expression of what its author wrote, with the parsed arguments in `arguments`.
fn implement(
    tool: &Ident,
    arguments: &Ident,
    name: &str,
    description: &str,
    call: &Tokens,
) -> Tokens {
    quote! {
        impl ::autocode_tool::Tool for #tool {
            type Arguments = #arguments;
            const NAME: &'static str = #name;
            const DESCRIPTION: &'static str = #description;
            fn call(arguments: #arguments) -> ::std::result::Result<::std::string::String, ::std::string::String> {
                #[allow(unused_imports)]
                use ::autocode_tool::reply::{Plain as _, Fallible as _};
                (&::autocode_tool::reply::Answer(#call)).reply()
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn refused(options: Tokens, item: Tokens) -> String {
        expand_tool(options, item).unwrap_err().to_string()
    }

    #[test]
    fn a_tool_is_named_after_its_item_in_snake_case() {
        assert_eq!(snake("WordCount"), "word_count");
        assert_eq!(snake("r#type"), "type");
        assert_eq!(snake("already_snake2"), "already_snake2");
    }

    #[test]
    fn what_cannot_be_a_tool_is_refused_with_the_reason() {
        let none = Tokens::new;
        assert!(
            refused(
                none(),
                quote!(
                    fn f() {}
                )
            )
            .contains("doc comment")
        );
        assert!(
            refused(
                none(),
                quote!(
                    enum E {}
                )
            )
            .contains("on a function or on a struct")
        );
        assert!(
            refused(
                none(),
                quote!(
                    #[doc = "F"]
                    async fn f() {}
                )
            )
            .contains("ordinary function")
        );
        assert!(
            refused(
                none(),
                quote!(
                    #[doc = "F"]
                    fn f<T>(t: T) {}
                )
            )
            .contains("concrete types")
        );
        assert!(
            refused(
                none(),
                quote!(
                    #[doc = "F"]
                    fn f(&self) {}
                )
            )
            .contains("not a method")
        );
        assert!(
            refused(
                none(),
                quote!(
                    #[doc = "F"]
                    fn f((a, b): (u8, u8)) {}
                )
            )
            .contains("plain name")
        );
        assert!(
            refused(
                none(),
                quote!(
                    #[doc = "F"]
                    fn bash() {}
                )
            )
            .contains("`bash` is taken")
        );
        assert!(
            refused(
                quote!(name = "No Good"),
                quote!(
                    #[doc = "F"]
                    fn f() {}
                )
            )
            .contains("lowercase letter")
        );
        assert!(
            refused(
                quote!(title = "x"),
                quote!(
                    #[doc = "F"]
                    fn f() {}
                )
            )
            .contains("expected `name")
        );
        assert!(
            expand_args(
                none(),
                quote!(
                    fn f() {}
                )
            )
            .is_err()
        );
    }

    #[test]
    fn documentation_is_joined_as_it_was_written() {
        let item: syn::ItemFn = syn::parse_quote! {
            /// One line.
            ///
            ///   - indented
            fn f() {}
        };
        assert_eq!(docs(&item.attrs), "One line.\n\n  - indented");
    }
}
