"""Shopping lists."""


def merge(first, second):
    """Both lists as one, each name once."""
    return sorted(set(first) | set(second))
