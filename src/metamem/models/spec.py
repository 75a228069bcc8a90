"""Models by name: `openai:gpt-5-nano/low`, `anthropic:NAME`, `local:PATH.gguf`, `scripted:NAME`,
any server that speaks OpenAI's format: `openai:NAME@http://127.0.0.1:8000/v1`; and those of plug-ins,
`PROVIDER:NAME` or `package.module:Provider:NAME`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from metamem.core.errors import MetamemError, UsageError
from metamem.models.provider import provider_of, split

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
CONSTRAINTS = ("", "vllm", "llama")
EXAMPLES = (
    "such as openai:gpt-5-nano/low, anthropic:claude-haiku-4-5, local:PATH.gguf, "
    "openai:NAME@http://127.0.0.1:8000/v1"
)


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """Which model: provider, name, how hard it thinks, and where it is served."""

    provider: str
    name: str
    effort: str = ""
    url: str = ""

    def __str__(self) -> str:
        effort = f"/{self.effort}" if self.effort else ""
        url = f"@{self.url}" if self.url else ""
        return f"{self.provider}:{self.name}{effort}{url}"


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens."""

    input: float
    output: float
    cached: float | None = None  # None: as any input

    def __post_init__(self) -> None:
        for name in ("input", "output", "cached"):
            value = getattr(self, name)
            good = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
            if not good and not (name == "cached" and value is None):
                raise UsageError(f"the price of {name} tokens must be a number, not {value!r}")


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How a model is used. Each has a default; the config file may set them per model."""

    window: int = 0  # tokens; 0: what the provider's models have
    at_once: int = 16  # questions at the same time
    seconds: float = 180.0  # for one answer
    constrain: str = ""  # how the server takes a list of allowed answers: vllm, llama
    continues: bool = False  # the server also continues running text (`/completions`)
    structured: str = "schema"  # how it takes a JSON schema: schema, or prompt (in words)
    key: str = ""  # the environment variable, or the line of the key file, that holds the key
    price: Price | None = None  # None: looked up by name
    threads: int = 0  # local models only; 0: half of the cores
    extra: Mapping[str, Any] = field(default_factory=dict)  # sent along as it is

    def __post_init__(self) -> None:
        if self.constrain not in CONSTRAINTS:
            raise UsageError(f"constrain must be vllm or llama, not {self.constrain!r}")
        if self.structured not in ("schema", "prompt"):
            raise UsageError(f"structured must be schema or prompt, not {self.structured!r}")
        for name in ("window", "at_once", "seconds", "threads"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
                raise UsageError(f"{name} must be a number, not {value!r}")
        if not isinstance(self.continues, bool):
            raise UsageError(f"continues must be true or false, not {self.continues!r}")
        if self.at_once < 1 or self.seconds <= 0:
            raise UsageError("at_once and seconds must be above zero")

    @staticmethod
    def from_json(data: Mapping[str, Any], what: str) -> "ModelOptions":
        known = {f.name for f in fields(ModelOptions)}
        if wrong := sorted(set(data) - known):
            raise UsageError(
                f"{what} has no setting {wrong[0]!r}", hint=f"known: {', '.join(sorted(known))}"
            )
        given = dict(data)
        if isinstance(given.get("price"), Mapping):
            try:
                given["price"] = Price(**given["price"])
            except TypeError as error:
                raise UsageError(f"{what}: the price is not understood: {error}") from error
        return ModelOptions(**given)


def parse(text: str) -> ModelSpec:
    """A model's name as people write it."""
    provider, rest = split(text.strip())
    if not rest:
        raise UsageError(f"{text!r} names no model", hint=EXAMPLES)
    try:
        served = provider_of(provider).served
    except MetamemError as error:
        hint = f"{error.hint}; {EXAMPLES}" if error.hint else EXAMPLES
        raise UsageError(f"{text!r} names no model: {error.message}", hint=hint) from error
    if not served:
        return ModelSpec(provider, rest)
    name, at, url = rest.partition("@")
    if at and not url.startswith(("http://", "https://")):
        raise UsageError(f"{url!r} is no address of a model server", hint=EXAMPLES)
    stem, slash, effort = name.rpartition("/")
    if not slash or effort not in EFFORTS:
        stem, effort = name, ""
    if not stem:
        raise UsageError(f"{text!r} names no model", hint=EXAMPLES)
    return ModelSpec(provider, stem, effort, url.rstrip("/"))
