"""What tokens cost, from a table that comes with a package: nothing is looked up on the network."""

from metamem.core.chat import Usage
from metamem.models.spec import ModelSpec, Price

MILLION = 1_000_000


def price_of(usage: Usage, spec: ModelSpec, price: Price | None) -> float | None:
    """Dollars for these tokens; None where nobody knows the price."""
    if price is not None:
        cached = price.input if price.cached is None else price.cached
        fresh = usage.input - usage.cached
        return (fresh * price.input + usage.cached * cached + usage.output * price.output) / MILLION
    if spec.url:
        return None  # whoever serves it there sets the price
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    tokens = Tokens(
        input_tokens=usage.input, output_tokens=usage.output, cache_read_tokens=usage.cached
    )
    try:
        found = calc_price(tokens, model_ref=spec.name, provider_id=spec.provider)
    except LookupError:
        return None
    return float(found.total_price)
