"""The studio: a local page on which a layout can be rearranged while its score is watched. All numbers come from here."""
