"""Makes key_hash.txt: the hash of keys as another implementation computes it.

    python3 -m venv venv
    venv/bin/pip install xxhash==4.1.0
    venv/bin/python make_key_hash.py > key_hash.txt

A row is a key in hexadecimal ("-" if empty) and the 16 hexadecimal digits of its XXH64 with seed 0.
A key written AB*N is the byte AB, N times.
"""

import hashlib

import xxhash

SPOKEN = [
    "user-1",
    "user-2",
    "/kv/u7",
    "shop.example:8080",
    "d3b07384-d9a0-4c9b-8f2e-1c7a5f0e9b61",
    "{u7}.cart",
    "Müller",
    "žluťoučký kůň",
    "ключ",
    "键",
    "🔑",
    "a b+c%2Fd",
]
BINARY = [b"\x00", b"\xff", b"\x00" * 8, b"\xff\xfe\xfd", b"\x80\x81key\x00tail", bytes(range(256))]
REPEATED = [(0x61, 255), (0x61, 256), (0x6B, 1024), (0x00, 4095), (0x6B, 4096)]


def row(written: str, key: bytes) -> str:
    return f"{written or '-'} {xxhash.xxh64(key, seed=0).hexdigest()}"


def main() -> None:
    print(row("", b""))
    # Every length up to two stripes and a bit: each takes another way through the hash.
    stream = hashlib.shake_128(b"rudolph").digest(64)
    keys = [stream[:length] for length in range(1, 65)]
    keys += [text.encode() for text in SPOKEN]
    keys += BINARY
    for key in keys:
        print(row(key.hex(), key))
    for byte, times in REPEATED:
        print(row(f"{byte:02x}*{times}", bytes([byte]) * times))


if __name__ == "__main__":
    main()
