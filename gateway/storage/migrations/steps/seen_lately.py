"""Finds who was seen in a project, and who was not seen for long."""

from typing import Final

from gateway.storage.migrations.step import Migration

SQL: Final = """
    CREATE INDEX people_projects_project ON people_projects (tenant, project);
    CREATE INDEX people_projects_at ON people_projects (at);
"""

STEP: Final = Migration(19, "who was seen in a project, and when", SQL, SQL)
