"""Bytes of text files as whole lines of UTF-8, whatever encoding they came in.

Blocks are read as they come and handed on in place: only the line that two blocks share is put together.
"""

import codecs
from collections.abc import Iterator
from typing import IO, Final

import numpy as np
import pyarrow as pa

from neardup.errors import InputError

BLOCK_BYTES: Final = 8 << 20
_BOM: Final = codecs.BOM_UTF8
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_GUESSES: Final = ("gb18030", "big5", "shift_jis", "euc-kr", "cp1252")
_NEWLINE: Final = 10


def utf8_lines(
    stream: IO[bytes], encoding: str, path: str, *, is_checked: bool = False
) -> Iterator[bytes | memoryview]:
    """Yield a stream as UTF-8 without a byte order mark, in pieces of whole lines, the last perhaps without its end.

    is_checked says that it was read before and found to be UTF-8 where it claims to be.

    Raises:
        InputError: it is not in that encoding; names line and byte.
    """
    try:
        "".encode(encoding)
        is_utf8 = codecs.lookup(encoding).name == "utf-8"
    except LookupError as error:  # also where it is none of text, as base64
        raise InputError(f"--encoding: there is no encoding {encoding!r} of text.") from error
    line = 1
    offset = 0
    for piece in _whole_lines(_blocks(stream) if is_utf8 else _decoded(stream, encoding, path)):
        if is_utf8 and not is_checked:
            if fault := _utf8_fault(piece):
                raise InputError(_not_encoded(path, line, offset, fault, "utf-8"))
            line += int(np.count_nonzero(np.frombuffer(piece, np.uint8) == _NEWLINE))
        is_marked = offset == 0 and piece[:3] == _BOM
        offset += len(piece)
        if not is_marked or len(piece) > len(_BOM):
            yield piece[len(_BOM) :] if is_marked else piece


def _blocks(stream: IO[bytes]) -> Iterator[bytes]:
    while block := bytes(stream.read(BLOCK_BYTES)):
        yield block


def _decoded(stream: IO[bytes], encoding: str, path: str) -> Iterator[bytes]:
    """Yield a stream of another encoding as UTF-8, cut anywhere."""
    decode = codecs.getincrementaldecoder(encoding)("strict").decode
    line = 1
    offset = 0
    while True:
        block = bytes(stream.read(BLOCK_BYTES))
        try:
            text = decode(block, not block).encode("utf-8", "surrogatepass")
        except UnicodeDecodeError as fault:
            n_held = max(0, len(fault.object) - len(block))  # bytes of the block before, which the decoder kept
            raise InputError(_not_encoded(path, line, offset - n_held, fault, encoding)) from fault
        except UnicodeError as fault:
            raise InputError(
                f"{path}:{line}: not {encoding.upper()}: {fault}. Name its encoding with --encoding."
            ) from fault
        yield text
        offset += len(block)
        line += text.count(b"\n")
        if not block:
            return


def _whole_lines(blocks: Iterator[bytes]) -> Iterator[bytes | memoryview]:
    held: list[bytes] = []
    for block in blocks:
        first = block.find(b"\n") + 1
        if first == 0:
            held.append(block)
            continue
        start = 0
        if held:
            yield b"".join((*held, block[:first]))
            start = first
        last = block.rfind(b"\n") + 1
        if last > start:
            yield memoryview(block)[start:last]
        held = [block[last:]]
    if any(held):
        yield b"".join(held)


def _utf8_fault(piece: bytes | memoryview) -> UnicodeDecodeError | None:
    """Return what is wrong with bytes as UTF-8. Arrow's check makes no string and is ten times as fast as decoding."""
    ends = pa.py_buffer(np.array([0, len(piece)], np.int64))
    try:
        pa.Array.from_buffers(pa.large_string(), 1, [None, ends, pa.py_buffer(piece)]).validate(full=True)
    except pa.ArrowInvalid:
        try:
            str(piece, "utf-8")
        except UnicodeDecodeError as fault:
            return fault
    return None


def _not_encoded(path: str, line: int, offset: int, fault: UnicodeDecodeError, encoding: str) -> str:
    data = fault.object
    line += data[: fault.start].count(b"\n")
    sample = data[max(0, fault.start - 2000) : fault.start + 2000]
    likely = [name for name in _GUESSES if name != encoding and _decodes(sample, name)]
    if offset == 0 and data.startswith(_UTF16):
        likely = ["utf-16"]
    hint = (
        f" It may be {' or '.join(likely)}: name it with --encoding."
        if likely
        else " Name its encoding with --encoding."
    )
    where = f"byte 0x{data[fault.start]:02x} at offset {offset + fault.start:,}"
    return f"{path}:{line}: not {encoding.upper()}: {where}.{hint}"


def _decodes(sample: bytes, encoding: str) -> bool:
    """Say whether a sample, cut anywhere, reads in this encoding."""
    for cut in range(16):
        try:
            sample[cut // 4 : len(sample) - cut % 4].decode(encoding)
        except UnicodeDecodeError:
            continue
        return True
    return False
