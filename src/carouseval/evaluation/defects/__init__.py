"""What is wrong with pages: marked by the kernel, found in the lines, and worded with what to do about it."""
