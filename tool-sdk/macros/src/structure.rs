//! `#[tool]` on a struct of arguments: its method `run(self)` is the tool.

use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::ItemStruct;

use crate::{Options, Shape, derives, description, exports, implement};

pub(crate) fn expand(options: &Options, structure: ItemStruct) -> syn::Result<Tokens> {
    let ident = &structure.ident;
    if !structure.generics.params.is_empty() {
        return Err(syn::Error::new_spanned(
            &structure.generics,
            "a tool's arguments have concrete types",
        ));
    }
    let name = options.name(ident)?;
    let description = description(&structure.attrs, ident)?;
    let derives = derives(&structure.attrs, Shape::Struct);
    let implementation = implement(ident, ident, &name, &description, &quote!(arguments.run()));
    let exports = exports(ident);
    Ok(quote! {
        #derives
        #structure
        #implementation
        #exports
    })
}
