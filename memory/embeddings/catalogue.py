"""The models of recall and of voice messages on this machine: their files and their publisher.

A model is a folder with its files. This module does no I/O over the network; `parley models pull`
downloads models.
"""

from pathlib import Path
from typing import Final

from msgspec import Struct

TOKENIZER: Final = (
    "tokenizer.json",
    "tokenizer_config.json",
    "config.json",
    "special_tokens_map.json",
)


class LocalModel(Struct, frozen=True):
    """A model in the ONNX format. `repository` is its place on huggingface.co, `fastembed` its name
    in the library, `megabytes` its approximate size on the disk."""

    name: str
    purpose: str
    repository: str
    fastembed: str
    files: tuple[str, ...]
    megabytes: int

    def folder(self, models: Path) -> Path:
        """Return the folder of the model."""
        return models / self.name

    def missing(self, models: Path) -> list[str]:
        """Return the names of missing or empty files."""
        folder = self.folder(models)
        return [name for name in self.files if not _filled(folder / name)]


EMBEDDING: Final = LocalModel(
    "all-MiniLM-L6-v2",
    "recall by meaning",
    "Qdrant/all-MiniLM-L6-v2-onnx",
    "sentence-transformers/all-MiniLM-L6-v2",
    ("model.onnx", *TOKENIZER),
    91,
)
RERANKING: Final = LocalModel(
    "ms-marco-MiniLM-L-6-v2",
    "a second ranking of the found memories",
    "Xenova/ms-marco-MiniLM-L-6-v2",
    "Xenova/ms-marco-MiniLM-L-6-v2",
    ("onnx/model.onnx", *TOKENIZER),
    92,
)
HEARING: Final = LocalModel(
    "faster-whisper-base",
    "voice messages, in many languages",
    "Systran/faster-whisper-base",
    "",
    ("model.bin", "config.json", "tokenizer.json", "vocabulary.txt"),
    148,
)
MODELS: Final = (EMBEDDING, RERANKING, HEARING)


def _filled(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False
