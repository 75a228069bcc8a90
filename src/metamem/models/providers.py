"""The providers that come with metamem. What each needs is loaded when a model is opened."""

from typing import TYPE_CHECKING

from metamem.models.provider import Provider

if TYPE_CHECKING:
    from metamem.models.base import LanguageModel
    from metamem.models.embedding import EmbeddingModel
    from metamem.models.keys import Key
    from metamem.models.spec import ModelOptions, ModelSpec


class OpenAI(Provider):
    about = "OpenAI's models, and any server that speaks its format (@http://HOST/v1)"
    example = "gpt-5-nano/low"
    served = True
    url = "https://api.openai.com/v1"
    key = "OPENAI_API_KEY"
    embeds = True

    def open(self, spec: "ModelSpec", options: "ModelOptions", key: "Key") -> "LanguageModel":
        from metamem.models.openai_format import OpenAIFormat

        # OpenAI renamed the limit, since thoughts count; the other servers kept the old name.
        limit = "max_tokens" if spec.url else "max_completion_tokens"
        return OpenAIFormat(spec, options, key, limit=limit)

    def open_embedding(
        self, spec: "ModelSpec", options: "ModelOptions", key: "Key"
    ) -> "EmbeddingModel":
        from metamem.models.openai_embeddings import OpenAIEmbeddings

        return OpenAIEmbeddings(spec, options, key)


class Anthropic(Provider):
    about = "Anthropic's models"
    example = "claude-haiku-4-5"
    served = True
    url = "https://api.anthropic.com/v1"
    key = "ANTHROPIC_API_KEY"

    def open(self, spec: "ModelSpec", options: "ModelOptions", key: "Key") -> "LanguageModel":
        from metamem.models.anthropic_format import AnthropicFormat

        return AnthropicFormat(spec, options, key)


class Local(Provider):
    about = "a GGUF file, run in this process"
    example = "PATH.gguf"

    def open(self, spec: "ModelSpec", options: "ModelOptions", key: "Key") -> "LanguageModel":
        from metamem.models.gguf import LocalModel

        return LocalModel(spec, options)


class Scripted(Provider):
    about = "no model: a function answers (package.module:function)"
    example = "demo"

    def open(self, spec: "ModelSpec", options: "ModelOptions", key: "Key") -> "LanguageModel":
        from metamem.models.scripted import ScriptedModel

        return ScriptedModel(spec, options)
