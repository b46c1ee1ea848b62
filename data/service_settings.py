"""The part of the operator's settings that names services beside the model.

Invariant: a service that is named is named whole, or the settings are refused.
"""

from typing import Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings

from data.setting_types import EndpointUrl, SearchProvider, Secret, ServiceUrl


class ServiceSettings(BaseSettings):
    """Who searches the web, who draws, who embeds; for the servers that the operator serves."""

    search: SearchProvider = Field(
        default="none",
        description="who searches the web for the servers that you serve: none, searxng, brave or "
        "ddgs",
    )
    search_url: ServiceUrl | None = Field(
        default=None,
        description="the URL of your SearXNG server",
        examples=["http://127.0.0.1:8888"],
    )
    search_key: Secret | None = Field(
        default=None,
        description="the key for Brave's Search API, or for SearXNG if it asks for one",
    )
    image_url: EndpointUrl | None = Field(
        default=None,
        description="the base URL of an endpoint that draws, with OpenAI's images route",
        examples=["http://127.0.0.1:8081/v1"],
    )
    image_model: str | None = Field(
        default=None, description="the model that draws", examples=["flux-schnell"]
    )
    image_key: Secret | None = Field(
        default=None, description="the key for the endpoint that draws, if it asks for one"
    )
    embeddings_url: EndpointUrl | None = Field(
        default=None,
        description="the base URL of an endpoint with OpenAI's embeddings route; knowledge is then "
        "searched by sense too",
        examples=["http://127.0.0.1:8082/v1"],
    )
    embeddings_model: str | None = Field(
        default=None, description="the model that embeds", examples=["nomic-embed-text"]
    )
    embeddings_key: Secret | None = Field(
        default=None, description="the key for the endpoint that embeds, if it asks for one"
    )

    @model_validator(mode="after")
    def _whole_services(self) -> Self:
        if self.search == "searxng" and self.search_url is None:
            raise ValueError("VERBATIM_SEARCH=searxng needs VERBATIM_SEARCH_URL")
        if self.search == "brave" and self.search_key is None:
            raise ValueError("VERBATIM_SEARCH=brave needs VERBATIM_SEARCH_KEY")
        if self.image_url is not None and self.image_model is None:
            raise ValueError("VERBATIM_IMAGE_URL needs VERBATIM_IMAGE_MODEL")
        if self.embeddings_url is not None and self.embeddings_model is None:
            raise ValueError("VERBATIM_EMBEDDINGS_URL needs VERBATIM_EMBEDDINGS_MODEL")
        return self

    @property
    def service_keys(self) -> tuple[SecretStr | None, ...]:
        """The keys among these settings."""
        return self.search_key, self.image_key, self.embeddings_key
