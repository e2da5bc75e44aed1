"""Expiry reminders."""


def due(expiry_hour, now_hour):
    """Whether a reminder is due."""
    return now_hour >= expiry_hour
