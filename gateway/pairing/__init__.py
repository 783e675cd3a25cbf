"""Permission to write: admissions, pairing codes, and the claim of ownership."""
