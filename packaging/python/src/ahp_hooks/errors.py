"""What can go wrong between a program and `ahp`."""


class AhpError(Exception):
    """`ahp` gave no answer, or refused the question."""


class AhpUnavailable(AhpError):
    """There is no `ahp`, it ended, or it speaks another protocol."""


class BadEvent(AhpError):
    """The event or a parameter is not what `ahp` expects; the message says what is."""


class Timeout(AhpError):
    """No answer came in time; the child was ended and a new one is started for the next question."""
