"""The process that reads one document: limits itself, reads it, and writes the answer."""

import sys

from msgspec import json, msgpack

from gateway.documents.archive import Reader, reader_of
from gateway.documents.confinement import Forbidden, confine, forbid
from gateway.documents.delimited import read_csv, read_tsv
from gateway.documents.model import CannotRead, Read, ReadDocument, ReadRequest, Refused
from gateway.documents.web_page import read_html


def main() -> None:
    """Read the request and the document from standard input; write one answer."""
    stream = sys.stdin.buffer
    request = json.decode(stream.readline(), type=ReadRequest)
    confine(request.limits)
    answer = _answer(request, stream.read())
    sys.stdout.buffer.write(msgpack.encode(answer))
    sys.stdout.buffer.flush()


def _answer(request: ReadRequest, data: bytes) -> Read | Refused:
    try:
        return Read(_read(request, data))
    except CannotRead as why:
        return Refused(why.reason)
    except ImportError:
        return Refused("library_missing")
    except MemoryError:
        return Refused("too_much_memory")
    except (RecursionError, Forbidden):
        return Refused("unsafe")
    except Exception:  # noqa: BLE001 - libraries raise anything about a damaged document
        return Refused("damaged")


def _read(request: ReadRequest, data: bytes) -> ReadDocument:
    """Import the reader of the format, forbid what it does not need, and read."""
    read = _reader(request, data)
    forbid()
    return read(data, request.limits)


def _reader(request: ReadRequest, data: bytes) -> Reader:
    match request.family:
        case "pdf":
            from gateway.documents.pdf import read_pdf  # noqa: PLC0415 - its library

            return read_pdf
        case "zip":
            return reader_of(data, request.limits)
        case "html":
            return read_html
        case "csv":
            return read_csv
        case "tsv":
            return read_tsv
