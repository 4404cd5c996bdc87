"""Studies and choices as a command line shows them."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from windfall.study.choice import Choice
    from windfall.study.study import Study

__all__ = ["described", "facts", "values"]


def facts(study: "Study") -> dict[str, Any]:
    """How far a study is."""
    rewards = study.rewards
    return {
        "study": study.name,
        "rewards": len(rewards),
        "failed": len(study.failed),
        "pending": len(study.pending),
        "best": described(study.best) if rewards else None,
    }


def described(choice: "Choice") -> dict[str, Any]:
    """A choice, as JSON can hold it."""
    parameters = {
        name: value.item() if hasattr(value, "item") else value
        for name, value in choice.parameters.items()
    }
    known = {} if choice.context is None else {"context": choice.context}
    told = {"id": choice.id, "arm": choice.arm, "parameters": parameters, "why": choice.why}
    return told | known


def values(choice: dict[str, Any]) -> str:
    """A choice that was described, in one line."""
    arm = [] if choice["arm"] is None else [f"arm {choice['arm']}"]
    values = (
        f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in choice["parameters"].items()
    )
    return ", ".join([*arm, *values])
