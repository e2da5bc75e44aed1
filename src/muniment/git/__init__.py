"""Everything that is asked of git (G1, G15, G17).

`repo` is the Protocol, `program` and `libgit` answer it, `open` chooses between them.
"""
