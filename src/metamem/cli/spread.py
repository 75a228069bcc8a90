"""Options that several commands share, written once: a dataclass whose fields are options."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

Command = Callable[..., None]


def spread(*, without: Sequence[str] = ()) -> Callable[[Command], Command]:
    """Lets a command take one dataclass where the command line has an option for each field.

    Fields named in `without` keep their defaults: this command has no such option.
    """

    def decorate(command: Command) -> Command:
        hints = get_type_hints(command, include_extras=True)
        parameters: list[inspect.Parameter] = []
        group, names = "", []
        for parameter in inspect.signature(command).parameters.values():
            kind = hints[parameter.name]
            if not is_dataclass(kind):
                parameters.append(parameter.replace(annotation=kind))
                continue
            group, options = parameter.name, get_type_hints(kind, include_extras=True)
            for field in fields(kind):
                if field.name not in without:
                    names.append(field.name)
                    parameters.append(
                        inspect.Parameter(
                            field.name,
                            inspect.Parameter.POSITIONAL_OR_KEYWORD,
                            default=field.default,
                            annotation=options[field.name],
                        )
                    )

        @wraps(command)
        def called(**given: Any) -> None:
            taken = {name: given.pop(name) for name in names}
            command(**given, **{group: hints[group](**taken)})

        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {p.name: p.annotation for p in parameters}
        return called

    return decorate
