"""Verdict: what `ahp` says to an event."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Decision = Literal["none", "allow", "ask", "block"]


@dataclass(frozen=True)
class Verdict:
    """What an event came to."""

    #: The strongest decision. `none` and `allow` let the operation go on; no opinion is not a permission.
    decision: Decision
    #: The reasons, the way out of each and how to answer, for an agent to read.
    message: str = ""
    #: The tool's input as it is to be; None where nothing changes it.
    modified_input: Any = None
    #: Each signal as `ahp` writes it.
    signals: tuple[dict[str, Any], ...] = ()
    #: The whole answer.
    raw: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def stops(self) -> bool:
        """Whether the operation must not go on as it is: it is blocked, or a person is to be asked."""
        return self.decision in ("block", "ask")

    @classmethod
    def of(cls, answer: dict[str, Any]) -> Verdict:
        """Reads an answer of `ahp/evaluate`; what cannot be read is a block."""
        decision = answer.get("decision")
        if decision not in ("none", "allow", "ask", "block"):
            return cls("block", f"ahp gave a decision that this client does not know: {decision!r}", raw=answer)
        verdicts = [one["verdict"] for one in answer.get("verdicts", [])]
        signals = tuple(signal for verdict in verdicts for signal in verdict.get("signals", []))
        return cls(decision, answer.get("message") or "", answer.get("modified_input"), signals, answer)
