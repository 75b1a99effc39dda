"""The studio: a local page on which layouts are rearranged while their scores are watched."""
