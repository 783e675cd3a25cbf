"""Speech that is recognised on this machine: words wrong, seconds and memory."""
