use walrus::{ExportId, ExportItem, Module, ModuleConfig};

use crate::{KeepList, TrimError};

/// Returns `wasm` with the exports of `keep` and no other, without what no export, start function or
/// active segment can reach, and without custom sections (names, producers, debug info).
///
/// Equal input gives equal bytes. A symbol of `keep` that the module does not export is an error: a
/// hook lost in silence would only show in production.
pub fn trim(wasm: &[u8], keep: &KeepList) -> Result<Vec<u8>, TrimError> {
    let mut module = parse(wasm)?;
    let kept = kept_exports(&module, keep)?;
    replace_exports(&mut module, kept);
    drop_custom_sections(&mut module);
    walrus::passes::gc::run(&mut module);
    Ok(module.emit_wasm())
}

fn parse(wasm: &[u8]) -> Result<Module, TrimError> {
    let mut config = ModuleConfig::new();
    config.generate_name_section(false).generate_producers_section(false).generate_dwarf(false);
    config
        .parse(wasm)
        .map_err(|error| TrimError::NotWasm { reason: one_line(&format!("{error:#}")) })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn kept_exports(module: &Module, keep: &KeepList) -> Result<Vec<(String, ExportItem)>, TrimError> {
    let mut kept = Vec::new();
    let mut missing = Vec::new();
    for (name, symbol) in keep.iter() {
        match module.exports.iter().find(|export| export.name == symbol) {
            Some(export) => kept.push((name.to_owned(), export.item)),
            None => missing.push(symbol.to_owned()),
        }
    }
    if missing.is_empty() {
        return Ok(kept);
    }
    let present = module.exports.iter().map(|export| export.name.clone());
    Err(TrimError::MissingExports { missing, present: present.collect() })
}

fn replace_exports(module: &mut Module, kept: Vec<(String, ExportItem)>) {
    let all: Vec<ExportId> = module.exports.iter().map(walrus::Export::id).collect();
    for export in all {
        module.exports.delete(export);
    }
    for (name, item) in kept {
        module.exports.add(&name, item);
    }
}

fn drop_custom_sections(module: &mut Module) {
    let sections: Vec<_> = module.customs.iter().map(|(id, _)| id).collect();
    for section in sections {
        module.customs.delete(section);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use walrus::{FunctionBuilder, FunctionId, RawCustomSection};

    fn list(names: &str) -> KeepList {
        KeepList::from_commas(names).unwrap()
    }

    fn function_calling(module: &mut Module, callee: Option<FunctionId>) -> FunctionId {
        let mut builder = FunctionBuilder::new(&mut module.types, &[], &[]);
        if let Some(callee) = callee {
            builder.func_body().call(callee);
        }
        builder.finish(vec![], &mut module.funcs)
    }

    /// `kept` calls the import `used`; `dropped` calls the import `unused` through a helper.
    fn sample() -> Vec<u8> {
        let mut module = Module::with_config(ModuleConfig::new());
        let void = module.types.add(&[], &[]);
        let (used, _) = module.add_import_func("env", "used", void);
        let (unused, _) = module.add_import_func("env", "unused", void);
        let kept = function_calling(&mut module, Some(used));
        let helper = function_calling(&mut module, Some(unused));
        let dropped = function_calling(&mut module, Some(helper));
        let memory = module.memories.add_local(false, false, 1, None, None);
        module.exports.add("kept", kept);
        module.exports.add("dropped", dropped);
        module.exports.add("memory", memory);
        module.name = Some("sample".to_owned());
        module.customs.add(RawCustomSection { name: "note".to_owned(), data: vec![1, 2, 3] });
        module.producers.add_language("Rust", "1");
        module.emit_wasm()
    }

    fn exports(module: &Module) -> Vec<&str> {
        module.exports.iter().map(|export| export.name.as_str()).collect()
    }

    fn imports(module: &Module) -> Vec<&str> {
        module.imports.iter().map(|import| import.name.as_str()).collect()
    }

    #[test]
    fn keeps_listed_exports_and_what_they_reach() {
        let trimmed = trim(&sample(), &list("kept,memory")).unwrap();
        let module = Module::from_buffer(&trimmed).unwrap();
        assert_eq!(exports(&module), ["kept", "memory"]);
        assert_eq!(imports(&module), ["used"]);
        assert_eq!(module.funcs.iter().count(), 2);
    }

    #[test]
    fn an_export_takes_the_place_of_another() {
        let trimmed = trim(&sample(), &list("dropped = kept")).unwrap();
        let module = Module::from_buffer(&trimmed).unwrap();
        assert_eq!(exports(&module), ["dropped"]);
        assert_eq!(imports(&module), ["used"], "the former bearer of the name is gone");
    }

    #[test]
    fn leaves_no_custom_section() {
        let trimmed = trim(&sample(), &list("kept")).unwrap();
        for word in [&b"note"[..], b"name", b"producers", b"sample", b"walrus"] {
            let found = trimmed.windows(word.len()).any(|window| window == word);
            assert!(!found, "{:?} is still in the module", String::from_utf8_lossy(word));
        }
    }

    #[test]
    fn equal_input_gives_equal_bytes_and_trimming_twice_changes_nothing() {
        let once = trim(&sample(), &list("kept,memory")).unwrap();
        assert_eq!(once, trim(&sample(), &list("memory,kept")).unwrap());
        assert_eq!(once, trim(&once, &list("kept,memory")).unwrap());
    }

    #[test]
    fn a_start_function_survives_without_an_export() {
        let mut module = Module::from_buffer(&sample()).unwrap();
        module.start = Some(module.exports.get_func("dropped").unwrap());
        let trimmed = trim(&module.emit_wasm(), &list("kept")).unwrap();
        assert_eq!(imports(&Module::from_buffer(&trimmed).unwrap()), ["used", "unused"]);
    }

    #[test]
    fn a_missing_export_is_named_in_one_line() {
        let message = trim(&sample(), &list("kept,gone")).unwrap_err().to_string();
        assert_eq!(message, "the module does not export gone; it exports kept, dropped, memory");
    }

    #[test]
    fn bytes_that_are_no_module_are_refused_in_one_line() {
        for bytes in [&b""[..], b"\0asm", b"not wasm at all", &sample()[..40]] {
            let message = trim(bytes, &list("kept")).unwrap_err().to_string();
            assert!(message.starts_with("the input is no valid Wasm module"), "{message}");
            assert!(!message.contains('\n'), "{message}");
        }
    }
}
