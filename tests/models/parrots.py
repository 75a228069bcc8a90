"""A provider as another package would write one."""

from metamem.core.chat import Question, Usage
from metamem.models.base import Completion, LanguageModel
from metamem.models.embedding import EmbeddingModel
from metamem.models.keys import Key
from metamem.models.model_base import ModelBase
from metamem.models.openai_embeddings import OpenAIEmbeddings
from metamem.models.openai_format import OpenAIFormat
from metamem.models.provider import Provider
from metamem.models.scripted import demo
from metamem.models.spec import ModelOptions, ModelSpec


class Parrot(ModelBase):
    """Answers as the demonstration does, for a dollar a question."""

    def __init__(self, spec: ModelSpec, options: ModelOptions, key: Key) -> None:
        super().__init__(spec, options, window=20_000)
        self.squawk = options.extra.get("squawk", "")
        self.knows = key.reveal()

    def price(self, usage: Usage) -> float | None:
        return 1.0

    async def complete(self, question: Question) -> Completion:
        said = demo(question)
        return Completion(f"{self.squawk}{said}", Usage(1, 1))


class Parrots(Provider):
    about = "parrots that talk"
    example = "polly"
    key = "PARROT_KEY"

    def open(self, spec: ModelSpec, options: ModelOptions, key: Key) -> LanguageModel:
        return Parrot(spec, options, key)


class Compatible(Provider):
    """Somebody else's server that speaks OpenAI's format."""

    about = "models behind a server of one's own"
    served = True
    url = "http://127.0.0.1:9/v1"
    embeds = True

    def open(self, spec: ModelSpec, options: ModelOptions, key: Key) -> LanguageModel:
        return OpenAIFormat(spec, options, key)

    def open_embedding(self, spec: ModelSpec, options: ModelOptions, key: Key) -> EmbeddingModel:
        return OpenAIEmbeddings(spec, options, key)


class Unfinished(Provider):
    about = "opens nothing"
