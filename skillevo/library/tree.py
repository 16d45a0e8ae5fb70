"""Files ⇄ library: what one agent's folder holds, and what it holds after an edit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from skillevo.errors import LibraryError
from skillevo.library.characters import estimate_tokens
from skillevo.library.document import parse_skill
from skillevo.library.names import normalise_name, valid_name
from skillevo.library.standard import FORMAT, Standard
from skillevo.types import Edit, Library, Resource, Skill

__all__ = [
    "apply_edit",
    "estimate_tokens",
    "library_from_files",
    "normalise_name",
    "skill_path",
    "valid_name",
]

_SYMLINK = "120000"
_SKILL_FILE = "SKILL.md"
_File = tuple[str, str, bytes | None]


def skill_path(agent: str, skill: str) -> str:
    """The path of a skill's SKILL.md from the top of the repository."""
    return f"skills/{agent}/{skill}/{_SKILL_FILE}"


def library_from_files(
    agent: str, files: Mapping[str, _File], *, standard: Standard = FORMAT
) -> Library:
    """The library that the files of ``skills/<agent>/`` make.

    ``files`` maps a path below that folder to (git mode, blob id, bytes), the bytes for SKILL.md
    only. Files directly in the folder are no part of it. Raises LibraryError, with path and line,
    for a folder without SKILL.md and for a skill below the standard.
    """
    folders: defaultdict[str, dict[str, _File]] = defaultdict(dict)
    for path, file in files.items():
        folder, slash, rest = path.partition("/")
        if slash and not folder.startswith("."):
            folders[folder][rest] = file
    skills = [_skill(agent, name, own, standard) for name, own in sorted(folders.items())]
    return Library(agent, tuple(skills))


def apply_edit(library: Library, edit: Edit, *, standard: Standard = FORMAT) -> Library:
    """The library after the edit: its removals, then its new text.

    A skill that stays keeps its other files. Raises LibraryError for a skill to remove that is not
    there, and for a text below the standard, which includes that its name is the edit's skill.
    """
    if edit.agent != library.agent:
        raise LibraryError(
            f"skills/{library.agent}: the edit is for the agent {edit.agent!r}",
            why="An edit changes one agent's library.",
            fix="Apply it to that agent's library.",
        )
    skills = {skill.name: skill for skill in library.skills}
    for name in edit.removes:
        if skills.pop(name, None) is None:
            raise LibraryError(
                f"{skill_path(library.agent, name)}: there is no such skill to remove",
                why=f"The library has {', '.join(library.names) or 'no skill'}.",
                fix="Remove a skill that the library has.",
            )
    if edit.text is not None:
        old = skills.get(edit.skill)
        skills[edit.skill] = _checked(
            skill_path(library.agent, edit.skill),
            edit.skill,
            edit.text.encode("utf-8", "surrogatepass"),
            standard,
            old.resources if old else (),
        )
    return replace(library, skills=tuple(skills[name] for name in sorted(skills)))


def _skill(agent: str, name: str, files: Mapping[str, _File], standard: Standard) -> Skill:
    path = skill_path(agent, name)
    if _SKILL_FILE not in files:
        raise LibraryError(
            f"{path}: the file does not exist",
            why="Every folder of a library is a skill and has a SKILL.md.",
            fix="Write the file, or move the folder out of the library.",
        )
    mode, _, data = files[_SKILL_FILE]
    if mode == _SYMLINK or data is None:
        raise LibraryError(
            f"{path}: not a regular file",
            why="git stores only the target's path of a symbolic link.",
            fix="Replace it with the file itself.",
        )
    resources = tuple(
        Resource(rest, file[0], file[1])
        for rest, file in sorted(files.items())
        if rest != _SKILL_FILE
    )
    return _checked(path, name, data, standard, resources)


def _checked(
    path: str, name: str, data: bytes, standard: Standard, resources: tuple[Resource, ...]
) -> Skill:
    """The skill in ``data``, which holds the standard; else LibraryError at ``path``."""
    errors = standard.errors(path, data, name)
    if errors:
        first, more = errors[0], len(errors) - 1
        raise LibraryError(
            f"{path}:{first.line}: {first.message} ({first.rule})"
            + (f", and {more} more" if more else ""),
            why="The file breaks the rules of the skill format.",
            fix=first.fix,
        )
    return parse_skill(data.decode("utf-8"), resources)
