"""`flint cache`: the prefix cache's folder on disk."""

import dataclasses
import os
from typing import Annotated

import typer

from engine.cache.disk import DiskCache, prefix_folder
from engine.cli.output import print_json, say
from engine.core.disk import check_readable
from engine.core.errors import ReadOnly
from engine.core.paths import locate
from engine.core.preferences import Preferences
from engine.core.setting import GB
from engine.core.sizes import count_text, size_text

commands = typer.Typer(no_args_is_help=True)


@commands.command("show")
def show(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Say how much there is, where, and how much it may become."""
    disk = _disk()
    use = disk.use()
    if as_json:
        print_json({**dataclasses.asdict(use), "limit_bytes": disk.limit, "folder": str(disk.root)})
        return
    say(f"{count_text(use.files, 'file')}, {size_text(use.size_bytes)} of at most {size_text(disk.limit)}")
    say(str(disk.root))


@commands.command("clear")
def clear(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Remove all of it. Chats stay; a model has to read them again."""
    disk = _disk()
    before = disk.use()
    disk.clear()
    after = disk.use()
    if after.files and not all(os.access(folder, os.W_OK | os.X_OK) for folder in disk.folders()):
        raise ReadOnly(f"Flint may not delete what is in {disk.root}.", "Make the folders in it writable, then try again.")
    removed = before.size_bytes - after.size_bytes
    if as_json:
        print_json({"removed_files": before.files - after.files, "removed_bytes": removed})
        return
    say(f"Removed {size_text(removed)}.")


def _disk() -> DiskCache:
    paths = locate()
    limit = int(float(Preferences(paths.settings).get("prefix_cache_disk") or 0) * GB)
    check_readable(prefix_folder(paths))
    return DiskCache(prefix_folder(paths), limit)
