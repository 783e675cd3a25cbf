"""What was decided keeps its ids and the reason, not the text that was decided on."""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = """
    UPDATE memory_reviews SET record = json_set(record, '$.content', '', '$.tags', json('[]'),
        '$.evidence.claim', '', '$.evidence.source_id', '')
        WHERE state <> 'pending';
"""

POSTGRES: Final = """
    UPDATE memory_reviews SET record = (record::jsonb || jsonb_build_object(
        'content', '', 'tags', '[]'::jsonb,
        'evidence', record::jsonb -> 'evidence' || '{"claim": "", "source_id": ""}'::jsonb
    ))::text WHERE state <> 'pending';
"""

STEP: Final = Migration(12, "no text in decided reviews", SQLITE, POSTGRES)
