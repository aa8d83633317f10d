//! The shipped module, made to trap when a request asks for it. Nothing else of it changes: its own code runs, trap apart.

use std::fs;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::Path;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use walrus::ir::{BinaryOp, Value};
use walrus::{ExportItem, FunctionBuilder, FunctionId, Module, ModuleConfig, ValType};

use crate::ReliabilityError;

const CALLBACK: &str = "proxy_on_request_headers";
/// A request with so many headers traps. Clients of the testbed send fewer than ten, and Envoy allows 100.
const HEADERS: i32 = 60;

/// Writes the module of `shipped` to `planted`, with its request callback behind a wrapper that traps.
pub fn plant(shipped: &Path, planted: &Path) -> Result<(), ReliabilityError> {
    let bytes =
        fs::read(shipped).map_err(|source| ReliabilityError::file("read", shipped, source))?;
    let bytes = with_trap(&bytes)?;
    fs::write(planted, bytes).map_err(|source| ReliabilityError::file("write", planted, source))
}

fn with_trap(bytes: &[u8]) -> Result<Vec<u8>, ReliabilityError> {
    let mut config = ModuleConfig::new();
    config.generate_producers_section(false);
    let module = config.parse(bytes);
    let mut module =
        module.map_err(|error| ReliabilityError::Module { reason: error.to_string() })?;
    let callback = module.exports.iter().find(|export| export.name == CALLBACK);
    let callback = callback.and_then(|export| match export.item {
        ExportItem::Function(function) => Some((export.id(), function)),
        _ => None,
    });
    let (export, original) = callback
        .ok_or_else(|| ReliabilityError::Module { reason: format!("no function {CALLBACK}") })?;
    let wrapper = wrap(&mut module, original);
    module.exports.get_mut(export).item = ExportItem::Function(wrapper);
    Ok(module.emit_wasm())
}

/// Context, number of headers, end of stream; the action comes back.
fn wrap(module: &mut Module, original: FunctionId) -> FunctionId {
    let parameters = [ValType::I32; 3];
    let [context, headers, end] = parameters.map(|kind| module.locals.add(kind));
    let mut wrapper = FunctionBuilder::new(&mut module.types, &parameters, &[ValType::I32]);
    wrapper
        .func_body()
        .local_get(headers)
        .const_(Value::I32(HEADERS))
        .binop(BinaryOp::I32GeS)
        .if_else(
            None,
            |then| {
                then.unreachable();
            },
            |_| {},
        )
        .local_get(context)
        .local_get(headers)
        .local_get(end)
        .call(original);
    wrapper.finish(vec![context, headers, end], &mut module.funcs)
}

/// Makes the VM of whichever worker takes the connection trap, and returns the status of the answer.
pub async fn pull(gateway: SocketAddr) -> io::Result<u16> {
    let mut request = b"GET /trap HTTP/1.1\r\nhost: trap\r\nconnection: close\r\n".to_vec();
    for number in 0..HEADERS {
        write!(request, "x-trap-{number}: 1\r\n")?;
    }
    request.extend_from_slice(b"\r\n");
    let mut stream = TcpStream::connect(gateway).await?;
    stream.write_all(&request).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    let text = String::from_utf8_lossy(&answer);
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no status line"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_without_the_callback_is_refused() {
        let empty = wat::parse_str("(module)").unwrap();
        let refusal = with_trap(&empty).unwrap_err().to_string();
        assert!(refusal.contains(CALLBACK), "{refusal}");
        assert!(with_trap(b"no module").is_err());
    }

    #[test]
    fn the_exported_callback_is_another_function_with_the_same_shape() {
        let text = format!(
            "(module (func $own (export {CALLBACK:?}) (param i32 i32 i32) (result i32) i32.const 0))"
        );
        let planted = with_trap(&wat::parse_str(text).unwrap()).unwrap();
        let module = Module::from_buffer(&planted).unwrap();
        assert_eq!(module.funcs.iter().count(), 2);
        let wrapper = module.exports.get_func(CALLBACK).unwrap();
        let shape = module.types.get(module.funcs.get(wrapper).ty());
        assert_eq!((shape.params().len(), shape.results().len()), (3, 1));
    }
}
