use super::*;

fn taken(bytes: &[u8]) -> Result<Option<Value>, ProtocolError> {
    take(&mut BytesMut::from(bytes))
}

#[test]
fn commands_come_back_however_they_are_cut() {
    let parts: [&[u8]; 4] = [b"STORE", b"a\r\nkey\0\xff", b"", b"value"];
    let mut sent = BytesMut::new();
    write_array(&parts, &mut sent);
    write_array(&[b"PING"], &mut sent);
    let mut buffer = BytesMut::new();
    let mut found = Vec::new();
    for byte in sent {
        buffer.extend_from_slice(&[byte]);
        found.extend(take(&mut buffer).unwrap());
    }
    let bulk = |part: &[u8]| Value::Bulk(Bytes::copy_from_slice(part));
    assert_eq!(found[0], Value::Array(parts.map(bulk).to_vec()));
    assert_eq!(found[1..], [Value::Array(vec![bulk(b"PING")])]);
    assert!(buffer.is_empty());
}

#[test]
fn every_kind_of_answer_is_read() {
    let bulk = Value::Bulk(Bytes::from_static(b"ab"));
    let cases: [(&[u8], Value); 8] = [
        (b"+OK\r\n", Value::Simple("OK".into())),
        (b"-ERR no\r\n", Value::Error("ERR no".into())),
        (b":-7\r\n", Value::Integer(-7)),
        (b"$-1\r\n", Value::Nil),
        (b"$2\r\nab\r\n", bulk.clone()),
        (b"*0\r\n", Value::Array(vec![])),
        (b"*2\r\n$2\r\nab\r\n:1\r\n", Value::Array(vec![bulk.clone(), Value::Integer(1)])),
        (b"*1\r\n*1\r\n$2\r\nab\r\n", Value::Array(vec![Value::Array(vec![bulk])])),
    ];
    for (bytes, value) in cases {
        assert_eq!(taken(bytes), Ok(Some(value)));
        assert_eq!(taken(&bytes[..bytes.len() - 1]), Ok(None), "cut short");
    }
}

#[test]
fn what_is_no_resp_is_told() {
    let long = [b"+".to_vec(), vec![b'x'; 2_000]].concat();
    let cases: [(&[u8], ProtocolError); 9] = [
        (b"GET / HTTP/1.1\r\n", ProtocolError::Kind(b'G')),
        (b"\0", ProtocolError::Kind(0)),
        (&long, ProtocolError::LongLine),
        (b"$x\r\n", ProtocolError::Number),
        (b"$-2\r\n", ProtocolError::Number),
        (b"$99999999999\r\n", ProtocolError::LongBulk),
        (b"*-1\r\n", ProtocolError::ManyParts),
        (b"*1\r\n*1\r\n*1\r\n", ProtocolError::Nested),
        (b"$2\r\nabcd", ProtocolError::Unended),
    ];
    for (bytes, error) in cases {
        assert_eq!(taken(bytes), Err(error), "{}", bytes.escape_ascii());
    }
}

#[test]
fn an_error_is_one_line() {
    let mut out = BytesMut::new();
    write_error("FULL no\r\nspace", &mut out);
    assert_eq!(&out[..], b"-FULL no  space\r\n");
}
