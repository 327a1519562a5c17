//! `#[tool]` on a function: its parameters become a struct of arguments.

use proc_macro2::TokenStream as Tokens;
use quote::{format_ident, quote};
use syn::{Attribute, FnArg, Ident, ItemFn, Pat, Type};

use crate::{Options, Shape, derives, description, exports, implement};

pub(crate) fn expand(options: &Options, mut function: ItemFn) -> syn::Result<Tokens> {
    let ident = function.sig.ident.clone();
    reject_unsupported(&function)?;
    let name = options.name(&ident)?;
    let description = description(&function.attrs, &ident)?;

    let parameters: Vec<Parameter> =
        function.sig.inputs.iter_mut().map(Parameter::take).collect::<syn::Result<_>>()?;
    let fields = parameters.iter().map(|p| {
        let (attrs, name, ty) = (&p.attrs, &p.name, &p.owned);
        quote!(#(#attrs)* #name: #ty)
    });
    let values = parameters.iter().map(|p| {
        let name = &p.name;
        if p.borrowed { quote!(&arguments.#name) } else { quote!(arguments.#name) }
    });

    // A function lives among the values, a braced struct among the types: they may share a name.
    let arguments = format_ident!("__{}_arguments", ident);
    let derives = derives(&[], Shape::Struct);
    let implementation =
        implement(&ident, &arguments, &name, &description, &quote!(#ident(#(#values),*)));
    let exports = exports(&ident);
    Ok(quote! {
        #function

        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        pub struct #ident {}

        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #derives
        pub struct #arguments { #(#fields),* }

        #implementation
        #exports
    })
}

fn reject_unsupported(function: &ItemFn) -> syn::Result<()> {
    let signature = &function.sig;
    if let Some(word) = &signature.asyncness {
        return Err(syn::Error::new_spanned(
            word,
            "a tool is an ordinary function: what it calls waits by itself",
        ));
    }
    if !signature.generics.params.is_empty() {
        return Err(syn::Error::new_spanned(
            &signature.generics,
            "a tool's arguments have concrete types",
        ));
    }
    Ok(())
}

/// One parameter: what stands in the struct, and how the function gets it.
struct Parameter {
    attrs: Vec<Attribute>,
    name: Ident,
    owned: Type,
    borrowed: bool,
}

impl Parameter {
    /// Takes the attributes off the parameter, where the compiler would refuse them.
    fn take(input: &mut FnArg) -> syn::Result<Self> {
        let FnArg::Typed(input) = input else {
            return Err(syn::Error::new_spanned(input, "a tool is a free function, not a method"));
        };
        let Pat::Ident(pattern) = &*input.pat else {
            return Err(syn::Error::new_spanned(
                &input.pat,
                "a parameter needs a plain name: it is the argument's",
            ));
        };
        let name = pattern.ident.clone();
        let (owned, borrowed) = owned(&input.ty);
        Ok(Self { attrs: std::mem::take(&mut input.attrs), name, owned, borrowed })
    }
}

/// The type that the arguments own for a parameter of type `ty`, and whether the function borrows it from there.
fn owned(ty: &Type) -> (Type, bool) {
    let Type::Reference(reference) = ty else {
        return (ty.clone(), false);
    };
    let owned = match &*reference.elem {
        Type::Slice(slice) => {
            let item = &slice.elem;
            syn::parse_quote!(::std::vec::Vec<#item>)
        }
        Type::Path(path) if path.path.is_ident("str") => syn::parse_quote!(::std::string::String),
        Type::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == "Path") => {
            syn::parse_quote!(::std::path::PathBuf)
        }
        other => other.clone(),
    };
    (owned, true)
}
