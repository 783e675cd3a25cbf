"""`make check-deploy`: plays the container files, lints them, and renders the Helm chart.

Exit status: 0 everything was as it must be, 1 something was not, 3 this machine cannot play it
(Linux and root are needed for the namespaces).
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import Final

from deploy.check.chart import check_chart
from deploy.check.linters import lint
from deploy.check.play import Deployment, check_models, play
from deploy.check.scale import play_scale
from deploy.check.steps import ROOT, CheckFailed, say

CANNOT: Final = 3
LAYERS: Final = "/dev/shm"  # noqa: S108 - a new folder in it
"""A file system other than that of the machine's own files, as overlayfs requires of its layers."""
TOOLS: Final = ROOT / ".venv" / "deploy-tools"
"""The environment of requirements/deploy.lock, which the Makefile makes."""


def main() -> int:
    """Run everything; returns the exit status."""
    if sys.platform != "linux" or os.geteuid() != 0:
        say("Containers are played in namespaces of Linux: run this as root on Linux.")
        return CANNOT
    try:
        lint(TOOLS)
        check_chart(TOOLS)
        with tempfile.TemporaryDirectory(prefix="parley-deploy-", dir=LAYERS) as folder:
            work = Path(folder)
            work.chmod(0o755)
            deployment = Deployment(work)
            deployment.clone()
            image = deployment.build()
            play(deployment, image)
            play_scale(deployment, image, work)
            if "--models" in sys.argv[1:]:
                check_models(deployment)
    except CheckFailed as failed:
        say(f"FAILED  {failed}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
