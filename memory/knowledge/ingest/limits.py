"""The limits of one ingest."""

from typing import Final

from msgspec import Struct

from memory.git.errors import LimitExceeded
from memory.git.object_reader import ObjectReader
from memory.knowledge.ingest.branch import IngestPlan
from memory.knowledge.reading.rules import MAX_FILES, MAX_MB, MAX_MINUTES, MAX_PATHS, Rules

AT_ONCE: Final = 5_000
"""Files whose sizes are asked for together."""
MB: Final = 1024 * 1024


class IngestLimits(Struct, frozen=True):
    """The limits of one ingest: `files` of a branch that are indexed, `paths` of one commit that
    are looked at, `megabytes` of the files of one commit, and `minutes` of the whole ingest."""

    files: int = MAX_FILES
    paths: int = MAX_PATHS
    megabytes: int = MAX_MB
    minutes: float = MAX_MINUTES

    async def require_size(self, sizes: ObjectReader, plan: IngestPlan, rules: Rules) -> None:
        """Raise `LimitExceeded` if the files of a plan that are not too large have more bytes
        together; files with the same content count once."""
        most = self.megabytes * MB
        if len(plan.files) * rules.max_file_bytes <= most:
            return
        blobs = list(dict.fromkeys(plan.files.values()))
        total = 0
        for start in range(0, len(blobs), AT_ONCE):
            infos = await sizes.infos(blobs[start : start + AT_ONCE])
            total += sum(one.size for one in infos.values() if one.size <= rules.max_file_bytes)
            if total > most:
                raise LimitExceeded(
                    f"its files have more than {self.megabytes:,} MB together"
                    " (knowledge.max_total_mb), so nothing of this commit was read, and the index"
                    " stays as it was. Exclude folders in .agent/config.yaml, or raise the setting"
                )

    def too_many_paths(self, commit: str) -> LimitExceeded:
        """Return the error for a commit with more paths."""
        return LimitExceeded(
            f"the commit {commit[:12]} lists more than {self.paths:,} paths"
            " (knowledge.max_paths), so nothing of it was read, and the index stays as it was."
            " A few folders that contain each other can list any number of paths: look at"
            " `git ls-tree -r`, and raise the setting only if these are real files"
        )

    def too_long(self, name: str) -> LimitExceeded:
        """Return the error for an ingest of the repository `name` that is not done in time."""
        return LimitExceeded(
            f"the ingest took longer than {self.minutes:g} minutes (knowledge.max_minutes), and"
            " was stopped. What was read is kept, and the earlier content of all other files;"
            f" `parley knowledge ingest {name}` continues. If it does not come to an end, raise"
            " the setting, or exclude folders in .agent/config.yaml"
        )
