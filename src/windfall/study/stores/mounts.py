"""Whether a file is on another machine: SQLite's write-ahead log does not work there."""

import re
from pathlib import Path

__all__ = ["network_type"]

#: Types of file systems whose files others may change without this kernel's knowledge.
_NETWORK = re.compile(
    r"nfs\d?|cifs|smb\w*|9p|afs|ceph|lustre|gpfs|beegfs|ncpfs|ocfs2|gfs2"
    r"|fuse\.(sshfs|glusterfs|ceph|s3fs|rclone|gcsfuse|smbnetfs|davfs.*)|glusterfs|davfs"
)
#: What is mounted where; only Linux says so in a file.
MOUNTS = Path("/proc/self/mounts")


def network_type(path: Path) -> str | None:
    """The type of the network mount that a file is on; None where it is on none that is known.

    Args:
        path: The file, which need not exist.
    """
    try:
        lines = MOUNTS.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return None
    whole = path.resolve()
    mounts = [(Path(_plain(place)), kind) for _, place, kind, *_ in map(str.split, lines)]
    above = [(len(place.parts), kind) for place, kind in mounts if whole.is_relative_to(place)]
    # The longest; of several at one place the last, which hides the others.
    deepest = max((depth for depth, _ in above), default=0)
    kinds = [kind for depth, kind in above if depth == deepest]
    return kinds[-1] if kinds and _NETWORK.fullmatch(kinds[-1]) else None


def _plain(place: str) -> str:
    r"""A place as mounts write it, with its blanks.

    >>> _plain(r"/mnt/my\040lab")
    '/mnt/my lab'
    """
    return re.sub(r"\\(\d{3})", lambda found: chr(int(found[1], 8)), place)
