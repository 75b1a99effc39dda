"""Files of pictures, recognised by their first bytes."""

LONGEST_START = 12
_STARTS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF87a": "gif", b"GIF89a": "gif"}


def picture_type(content: bytes) -> str | None:
    """The media type of PNG, JPEG, GIF or WebP; None for others, and for SVG, which can hold scripts."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((f"image/{kind}" for start, kind in _STARTS.items() if content.startswith(start)), None)
