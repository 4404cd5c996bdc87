"""What requests and answers look like: the edge of the service, and of its OpenAPI page."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

__all__ = [
    "Appended",
    "Arms",
    "Ask",
    "Asked",
    "Beliefs",
    "Choice",
    "Columns",
    "Create",
    "Created",
    "Draft",
    "Drafts",
    "Health",
    "Held",
    "History",
    "Lock",
    "Meant",
    "Noted",
    "Page",
    "Points",
    "Problem",
    "Rename",
    "Studies",
    "Tell",
]  # fmt: skip

Text = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
Id = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
Whole = Annotated[int, Field(ge=0, le=2**53, strict=True)]
Request = Annotated[
    Id | None, Field(description="An id of this call; repeating it changes nothing.")
]


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Problem(BaseModel):
    """What is wrong, in one line."""

    error: str
    kind: str


class Create(_In):
    """A study to be created."""

    name: Text
    space: dict[str, Any] = Field(description="A spec: what to choose from.")
    policy: str | dict[str, Any] | None = Field(None, description="A name or a spec.")
    goal: str | None = Field(None, description="What counts, in the place of a policy.")
    budget: Annotated[int, Field(ge=1, le=2**53)] | None = None
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] | None = None
    initial: Annotated[int, Field(ge=1, le=2**31)] | None = None
    context: dict[str, Any] | list[str] | None = Field(
        None, description="A spec, or names: what is known before each choice."
    )
    drift: Literal["auto"] | None = Field(None, description="Payoffs may change with time.")


class Rename(_In):
    """Another name."""

    name: Text


#: A context: values by name, or in order.
Known = dict[str, Any] | list[Any]


class Ask(_In):
    """How many choices for whom; with nothing said it only looks."""

    n: Annotated[int, Field(ge=1, le=1000)] | None = None
    worker: Text | None = None
    lease: Annotated[FiniteFloat, Field(gt=0, le=1e12)] | None = Field(
        None, description="Seconds for which the choices are kept."
    )
    request: Request = None
    context: Known | Annotated[list[Known], Field(max_length=1000)] | None = Field(
        None, description="What is known now: values by name or in order; with n, one or n of them."
    )
    among: Annotated[list[bool | int | str], Field(max_length=2_000_000)] | None = Field(
        None, description="The arms that are available: a mask, or numbers or names."
    )


class Meant(_In):
    """What is meant: a choice by its id, an arm by its number, or values by name; one of them."""

    choice: Whole | None = None
    arm: Whole | None = None
    parameters: dict[str, Any] | None = None
    request: Request = None
    context: Known | None = Field(None, description="What was known before, unless by its id.")


class Tell(Meant):
    """A reward, with its known noise or as the mean of replicates."""

    reward: FiniteFloat
    noise: FiniteFloat | None = None
    count: Annotated[int, Field(ge=1, le=2**53)] | None = None
    deviation: FiniteFloat | None = None
    at: FiniteFloat | None = Field(None, description="When it came, where drift is expected.")


class Added(_In):
    """Arms that come to the list of a study."""

    features: Annotated[list[list[FiniteFloat]], Field(min_length=1, max_length=200_000)]
    names: list[Text] | None = None
    request: Request = None


class Numbered(BaseModel):
    """The numbers of arms."""

    arms: list[int]


class Retired(_In):
    """An arm that is no longer chosen: by its number or its name."""

    arm: Whole | Text
    request: Request = None


class Undo(_In):
    """Which entry is taken back: the last one, by its number to be sure."""

    event: Whole | None = None
    request: Request = None


class Noted(_In):
    """A remark."""

    text: Annotated[str, Field(min_length=1, max_length=10_000, pattern=r"\S")]
    request: Request = None


class Points(_In):
    """Where: features in order, or values by name; every arm, or every point told, if left out."""

    points: Annotated[list[list[Any] | dict[str, Any]], Field(max_length=200_000)] | None = None
    context: Known | None = None


class Choice(BaseModel):
    """What to try, why, and what is believed about it in reward units."""

    id: int | None
    arm: int | None
    name: str | None
    features: list[float]
    parameters: dict[str, Any]
    why: str
    mean: float | None
    deviation: float | None
    ratio: float | None
    best: float | None
    worker: str | None
    expires: str | None
    context: dict[str, Any] | None


class Best(Choice):
    """A choice with its mean reward and the number of its pulls."""

    reward: float
    pulls: int


class Asked(BaseModel):
    """Choices."""

    choices: list[Choice]


class Held(BaseModel):
    """How many events the study has now."""

    events: int


class Studies(BaseModel):
    """All studies."""

    studies: list[dict[str, Any]]


class Health(BaseModel):
    """That the service runs."""

    status: Literal["ok"]
    version: str


class Created(_In):
    """A study to be created, for the store of a client."""

    name: Text
    created: dict[str, Any]


class Draft(_In):
    """What is to happen."""

    kind: str
    contents: dict[str, Any]


class Drafts(_In):
    """Events to be appended, for the store of a client."""

    drafts: Annotated[list[Draft], Field(min_length=1, max_length=1000)]
    after: Annotated[int, Field(ge=-1, le=2**53)] | None = None
    worker: Text | None = None
    request: Id | None = None
    holder: Id | None = None


class Appended(BaseModel):
    """Events as they were taken."""

    events: list[dict[str, Any]]


class Lock(_In):
    """Who wants a study to himself, and for how many seconds at most."""

    holder: Id
    seconds: Annotated[FiniteFloat, Field(ge=0, le=60)] = 0.0


class Beliefs(_In):
    """Unit points, for the store of a client."""

    what: Literal["moments", "table"]
    points: Annotated[list[list[FiniteFloat]], Field(max_length=2_000_000)]
    context: list[Any] | None = None


class Columns(BaseModel):
    """Numbers by column; null where one is not finite."""

    columns: dict[str, list[Any]]


class History(BaseModel):
    """What happened, by column."""

    columns: dict[str, list[Any]]


class Page(BaseModel):
    """Which rows of a table."""

    model_config = ConfigDict(extra="forbid")

    offset: Annotated[int, Field(ge=0, le=2**53)] = 0
    limit: Annotated[int, Field(ge=1, le=10_000)] = 100
    sort: str | None = Field(None, description="A column; largest first.")
    ascending: bool = False
    filter: Annotated[str, Field(max_length=200)] | None = Field(
        None, description="Conditions such as dose > 5, with commas; or text of the title."
    )
    beliefs: bool = Field(True, description="With what the model believes.")


class Arms(BaseModel):
    """Rows of the table of arms, by column."""

    total: int
    matching: int
    columns: dict[str, list[Any]]
