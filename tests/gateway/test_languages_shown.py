"""People read the assistant's own sentences in their language, each in their own."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.immutable import replace
from gateway.languages.installed import LanguagePolicy, Languages
from gateway.message import ButtonPressed, CommandInvoked, MessageAuthor
from gateway.pairing.requests import APPROVED
from gateway.policy.access import AccessPolicy, RolePolicy
from gateway.policy.rate_limits import RateLimits
from gateway.ports import Capabilities
from gateway.turn.services import Policies
from tests.support.gateway import Gateway, gateway
from tests.support.messages import direct, place, received

LANGUAGES = Languages(LanguagePolicy(places={"test:W1": "fr"}))
POLICIES = Policies(languages=LANGUAGES)
GERMAN = MessageAuthor("ada", "Ada", language="de-AT")


async def stop(g: Gateway, author: MessageAuthor, where: str = "") -> str:
    at = place() if where else direct(author.id)
    await g.take(CommandInvoked(f"c{len(g.traces)}", at, author, "stop", ""))
    return g.texts[-1]


async def test_a_person_reads_the_language_that_their_platform_tells() -> None:
    async with gateway(policies=POLICIES) as g:
        assert await stop(g, GERMAN) == "Es gibt nichts anzuhalten."
        assert await stop(g, MessageAuthor("bob", language="en")) == "There is nothing to stop."


async def test_a_room_reads_its_own_language_and_a_person_there_alone_theirs() -> None:
    async with gateway(policies=POLICIES) as g:
        assert await stop(g, GERMAN, "room") == "Il n'y a rien à arrêter."
    async with gateway(policies=POLICIES, capabilities=Capabilities(ephemeral=True)) as g:
        assert await stop(g, GERMAN, "room") == "Es gibt nichts anzuhalten."


async def test_a_button_and_its_words_are_in_the_language_and_english_answers_too() -> None:
    async with gateway(policies=POLICIES, capabilities=Capabilities(max_buttons=5)) as g:
        await g.take(CommandInvoked("c1", direct(), GERMAN, "clear", ""))
        labels = [one.label for one in g.adapter.sent[-1].buttons]
        assert labels == ["Verlauf löschen", "Behalten"]
    for word in ("ja", "yes"):
        async with gateway(policies=POLICIES) as g:
            await g.take(CommandInvoked("c1", direct(), GERMAN, "clear", ""))
            said = received(word, message_id="m2")
            await g.take(replace(said, message=replace(said.message, author=GERMAN)))
            assert g.model.requests == []
            assert g.texts[-1].endswith("/forget … löscht es.")


async def test_a_notice_is_in_the_language_of_its_reader_and_not_of_who_decided() -> None:
    policies = replace(
        POLICIES,
        access=AccessPolicy(admission="approved"),
        roles=RolePolicy(owners=frozenset({"olga"})),
        limits=RateLimits(user_per_minute=0, channel_per_minute=0, workspace_per_minute=0),
    )
    async with gateway(policies=policies, capabilities=Capabilities(max_buttons=5)) as g:
        eve = MessageAuthor("eve", "Eve", language="ja")
        said = received("hi", message_id="x", author="eve")
        await g.take(replace(said, message=replace(said.message, author=eve)))
        assert "承認された方だけ" in g.texts[-1]
        await g.services.readers.choose("default", "test:main:eve", "es")
        olga = MessageAuthor("olga", language="fr")
        await g.take(CommandInvoked("c1", direct("olga"), olga, "approve", ""))
        button = g.adapter.sent[-1].buttons[0]
        assert button.label == "Autoriser"
        await g.take(ButtonPressed("p1", direct("olga"), olga, button.value))
        told = [one.part.text for one in g.adapter.sent if one.part and one.place == direct("eve")]
        spanish = LANGUAGES.named("es").shown(APPROVED).replace("`", "")
        assert told[-1] == spanish


@pytest.mark.parametrize("language", ["de", "ja", "ar", "en"])
async def test_the_model_reads_the_same_in_every_language(language: str) -> None:
    async with gateway(policies=POLICIES) as g:
        said = received("hello")
        author = MessageAuthor("ada", "Ada", language=language)
        await g.take(replace(said, message=replace(said.message, author=author)))
        asked = g.model.requests
    async with gateway(policies=POLICIES) as g:
        await g.take(received("hello"))
        assert g.model.requests == asked


STEPS = (
    *("hello", "and then?", "stop", "yes", "help"),
    *("/context", "/task write a letter", "/task", "/task end", "/help", "/help more", "/stop"),
    *("/language", "/language {}", "/language auto", "/clear", "/nothing"),
)


async def asked_in(policies: Policies, language: str, chosen: str, steps: Sequence[str]) -> object:
    """What the model gets when a person whose platform tells `language` takes these steps."""
    author = MessageAuthor("ada", "Ada", language=language)
    async with gateway(policies=policies, capabilities=Capabilities(max_buttons=3)) as g:
        for number, step in enumerate(steps):
            if step.startswith("/"):
                name, _, arguments = step.format(chosen)[1:].partition(" ")
                event = CommandInvoked(f"c{number}", direct(), author, name, arguments)
                await g.take(event)
                continue
            said = received(step, message_id=f"m{number}")
            await g.take(replace(said, message=replace(said.message, author=author)))
        return g.model.requests


@given(
    st.sampled_from(LANGUAGES.offered),
    st.sampled_from(LANGUAGES.offered),
    st.lists(st.sampled_from(STEPS), min_size=1, max_size=6).map(lambda steps: [*steps, "why?"]),
)
async def test_what_a_person_does_in_their_language_leaves_the_prompt_unchanged(
    told: str, chosen: str, steps: list[str]
) -> None:
    policies = replace(
        POLICIES,
        assistant=replace(POLICIES.assistant, disclosure="first_contact"),
        limits=RateLimits(user_per_minute=0, channel_per_minute=0, workspace_per_minute=0),
    )
    asked = await asked_in(policies, told, chosen, steps)
    assert asked
    assert asked == await asked_in(policies, "en", "en", steps)
